/// @file
/// Flocking with boids as objects. The model itself is in README.md.
///
/// A step sorts the boids into a grid, which copies what others see of them, and is then one loop: every boid looks at
/// the copies, turns and moves. It changes itself alone, so nobody waits for anybody.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <app/allocator.h>
#include <app/object_heap.h>
#include <app/phase_clock.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/uniform_grid.h>

#include "rules.h"
#include "simulation.h"

namespace flocking::boids {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Boid;
using AllocatorT = app::Allocator<Boid>;
using Handle = dynasoar::AllocatorHandle<AllocatorT>;
using Flock = dynasoar::GridView<Boid, Bird>;

class Boid : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Boid, (number_, std::uint32_t), (position_, Vector), (velocity_, Vector));

  __device__ Boid(std::size_t i, const BoidState* states)
      : number_(states[i].number), position_({states[i].x, states[i].y}), velocity_({states[i].vx, states[i].vy}) {}

  __device__ Bird seen() { return {position_, velocity_}; }

  __device__ void fly(Flock flock) {
    Impression impression;
    flock.for_each_neighbour(position_, kSight, [&](const Flock::Neighbour& other) {
      if (other.object != this) impression.add(other.offset, other.squared_distance, other.seen.velocity);
    });
    velocity_ = impression.steered(velocity_);
    position_ = flock.space().wrapped(position_ + velocity_.get());
  }

  __device__ BoidState state() const { return {number_, position_->x, position_->y, velocity_->x, velocity_->y}; }
};

class Objects final : public Simulation {
 public:
  explicit Objects(const Parameters& parameters)
      : count_(parameters.initial.size()),
        handle_({.heap_bytes = app::heap_bytes<AllocatorT>(parameters.heap_bytes, needed_bytes(count_)),
                 .threads = parameters.threads}),
        // Cells a bit wider than what a boid sees, so that it never looks into more than nine.
        grid_(handle_, {.lower = {0, 0},
                        .upper = {parameters.side, parameters.side},
                        .cell = 1.01f * kSight,
                        .periodic = {true, true},
                        .capacity = std::max<std::size_t>(1, count_ + count_ / 2)}),
        clock_(parameters.profile_every, {"sort", "fly"}),
        is_timed_(parameters.profile_every > 0) {
    dynasoar::DeviceArray<BoidState> initial(count_);
    initial.upload(parameters.initial);
    handle_.parallel_new<Boid>(count_, static_cast<const BoidState*>(initial.data()));
    synchronize();
    if (!is_timed_) step_.reset(new RecordedStep(handle_.record(Submit{this})));
  }

  void step() override {
    if (is_timed_) {
      submit();
    } else {
      (*step_)();
    }
  }

  void synchronize() override { app::synchronize(handle_, needed_bytes(count_), "flock"); }

  std::vector<BoidState> boids() override {
    dynasoar::DeviceArray<BoidState> states(count_);
    BoidState* const out = states.data();
    handle_.parallel_do<Boid>([=] __device__(Boid * boid) { out[boid->number_] = boid->state(); });
    synchronize();
    return states.download();
  }

  std::vector<app::PhaseTime> phases() override { return clock_.times(); }

  std::optional<app::Usage> usage() override { return app::usage_of(handle_); }

  /// The loops of a step.
  void submit() {
    if (is_timed_) clock_.begin_step(handle_.executor());
    const auto kept = handle_.keep_lists();
    grid_.rebuild<&Boid::seen, &Boid::number_>();
    if (is_timed_) clock_.end_phase(handle_.executor(), 0);
    grid_.parallel_do<&Boid::fly>();
    if (is_timed_) clock_.end_phase(handle_.executor(), 1);
  }

 private:
  struct Submit {
    Objects* flock;
    void operator()() const { flock->submit(); }
  };
  using RecordedStep = decltype(std::declval<Handle&>().record(std::declval<Submit>()));

  /// Enough for the boids, though the warps of a large GPU open a block each.
  static std::size_t needed_bytes(std::size_t count) {
    return AllocatorT::heap_bytes_for<Boid>(2 * count + app::kSlotsInFlight);
  }

  std::size_t count_;
  Handle handle_;
  dynasoar::UniformGrid<Boid, Bird> grid_;
  std::unique_ptr<RecordedStep> step_;
  app::PhaseClock clock_;
  bool is_timed_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace flocking::boids
