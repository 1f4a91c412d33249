/// @file
/// ObjectBodies: the host part of the simulations with bodies as objects. n-body and collision differ in the class Body
/// and in the loops of a step.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>

#include "colors.h"
#include "simulation.h"

namespace bodies {

/// Adds totals.
struct AddTotals {
  __host__ __device__ Totals operator()(const Totals& a, const Totals& b) const {
    return {a.bodies + b.bodies,
            a.mass + b.mass,
            a.kinetic_energy + b.kinetic_energy,
            a.momentum_x + b.momentum_x,
            a.momentum_y + b.momentum_y,
            a.reach < b.reach ? b.reach : a.reach};
  }
};

/// The contribution of a body to the totals.
struct TotalsOf {
  template <class Body>
  __device__ Totals operator()(Body* body) const {
    const BodyState state = body->state();
    const double mass = state.mass;
    const double squared_speed = double{state.vx} * state.vx + double{state.vy} * state.vy;
    const float reach = std::fmax(std::fabs(state.x), std::fabs(state.y));
    return {1, mass, mass * squared_speed / 2, mass * state.vx, mass * state.vy, reach};
  }
};

/// @tparam Model   `Body`, the class of the objects, with a constructor `Body(i, states)` that takes the i-th state of
///                 an array, and with `state()`; `phases()`; a constructor `Model(handle, parameters)`;
///                 `submit_step(step, handle, clock)`, which submits the same loops for all steps of which
///                 `kind_of(step)` is the same; `kKeepsBodies`, whether no body is created or deleted
template <class Model>
class ObjectBodies final
    : public app::ObjectSimulation<ObjectBodies<Model>, Simulation, typename Model::Body::Allocator> {
 public:
  using Body = typename Model::Body;
  using AllocatorT = typename Body::Allocator;

  explicit ObjectBodies(const Parameters& parameters)
      : Base(parameters, needed_bytes(parameters.initial.size()), "set of bodies", Model::phases()),
        options_(options_of(parameters)),
        count_(parameters.initial.size()),
        model_(handle(), parameters) {
    dynasoar::DeviceArray<BodyState> initial(count_);
    initial.upload(parameters.initial);
    handle().template parallel_new<Body>(count_, static_cast<const BodyState*>(initial.data()));
    synchronize();
  }

  void step() override {
    const std::uint32_t step = begin_step();
    if constexpr (Model::kKeepsBodies) this->template keep_lists<>();
    run_recorded([this, step] { model_.submit_step(step, handle(), clock()); }, Model::kind_of(step));
  }

  std::vector<BodyState> bodies() override {
    dynasoar::DeviceArray<BodyState> states(count_);
    states.fill_bytes(0xFF);
    BodyState* const out = states.data();
    handle().template parallel_do<Body>([=] __device__(Body * body) { out[body->state().number] = body->state(); });
    synchronize();
    std::vector<BodyState> all = states.download();
    std::erase_if(all, [](const BodyState& state) { return state.number == kNobody; });
    return all;
  }

  Totals totals() override { return handle().template reduce<Body>(Totals{}, AddTotals{}, TotalsOf{}); }

  const app::SavedOptions& saved_options() const { return options_; }

  void add_arrays(dynasoar::CheckpointItems&) const {}

  dynasoar::Columns read_columns() { return handle().template columns<Body>(); }

  static constexpr app::Rgb kBackground = kSpace;

  /// Paints discs with areas proportional to the masses. All of them together cover a twentieth of [-1, 1]^2.
  void paint_on(const app::Canvas& canvas) {
    const Totals all = totals();
    const double side = 2 * canvas.viewport.scale;
    const double area_per_mass = all.mass > 0 ? 0.05 * side * side / 3.14159 / all.mass : 0;
    const double high_speed = 2 * std::sqrt(all.mass > 0 ? 2 * all.kinetic_energy / all.mass : 1) + 1e-30;
    const SpeedColors speeds = kSpeeds;
    handle().template parallel_do<Body>([=] __device__(Body * body) {
      const BodyState state = body->state();
      const double speed = std::sqrt(double{state.vx} * state.vx + double{state.vy} * state.vy);
      const double share = speed < high_speed ? speed / high_speed : 1;
      canvas.dot(state.x, state.y, std::sqrt(area_per_mass * state.mass), app::ramp(speeds, share),
                 static_cast<std::uint32_t>(254 * (1 - share)));
    });
  }

 protected:
  std::uint64_t steps_made() const override { return Base::steps(); }

 private:
  using Base = app::ObjectSimulation<ObjectBodies, Simulation, AllocatorT>;
  using Base::begin_step, Base::clock, Base::handle, Base::run_recorded, Base::synchronize;

  static constexpr std::uint32_t kNobody = 0xFFFFFFFF;

  /// Enough memory for the bodies, even though each warp of a large GPU opens a block.
  static std::size_t needed_bytes(std::size_t count) {
    return AllocatorT::template heap_bytes_for<Body>(2 * count + app::kSlotsInFlight);
  }

  static app::SavedOptions options_of(const Parameters& parameters) {
    app::InputSum initial;
    for (const BodyState& body : parameters.initial) initial.add(body.x, body.y, body.vx, body.vy, body.mass);
    return app::SavedOptions()
        .add("--bodies", parameters.initial.size())
        .add("--cut-off", parameters.cut_off)
        .add("--seed, --input", initial);
  }

  app::SavedOptions options_;
  std::size_t count_;
  Model model_;
};

}  // namespace bodies
