/// @file
/// Flocking with boids as objects. README.md defines the model.
///
/// A step sorts the boids into a grid, which copies the data that others see. In the one loop that follows, every boid
/// reads the copies, with the help of several threads, turns and moves. A boid changes only itself.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/uniform_grid.h>

#include "colors.h"
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

  __device__ auto fly(Flock flock) {
    return flock
        .reduce(position_, kSight, Impression{}, dynasoar::Plus{},
                [this](const Flock::Neighbour& other) {
                  return other.object == this
                             ? Impression{}
                             : impression_of(other.offset, other.squared_distance, other.seen.velocity);
                })
        .then([this, space = flock.space()](const Impression& impression) {
          velocity_ = impression.steered(velocity_);
          position_ = space.wrapped(position_ + velocity_.get());
        });
  }

  __device__ BoidState state() const { return {number_, position_->x, position_->y, velocity_->x, velocity_->y}; }
};

class Objects final : public app::ObjectSimulation<Objects, Simulation, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectSimulation(parameters, needed_bytes(parameters.initial.size()), "flock", {"sort", "fly"}),
        options_(options_of(parameters)),
        count_(parameters.initial.size()),
        sort_every_(static_cast<std::uint32_t>(parameters.sort_every)),
        // Cells are slightly wider than the distance that a boid sees, so that it searches at most nine.
        grid_(handle(), {.lower = {0, 0},
                         .upper = {parameters.side, parameters.side},
                         .cell = 1.01f * kSight,
                         .periodic = {true, true},
                         .capacity = std::max<std::size_t>(1, count_ + count_ / 2)}) {
    dynasoar::DeviceArray<BoidState> initial(count_);
    initial.upload(parameters.initial);
    handle().parallel_new<Boid>(count_, static_cast<const BoidState*>(initial.data()));
    synchronize();
  }

  /// The sort is not recorded, because a recorded sort would sort as many keys as the heap has room for.
  void step() override {
    keep_lists<>();
    const std::uint32_t before = begin_step() - 1;
    if (sort_every_ > 0 && before % sort_every_ == 0) grid_.sort_objects<&Boid::seen>();
    run_recorded([this] { submit_step(); });
  }

  void submit_step() override {
    grid_.rebuild<&Boid::seen, &Boid::number_>();
    end_phase(0);
    grid_.parallel_do<&Boid::fly>();
    end_phase(1);
  }

  std::vector<BoidState> boids() override {
    dynasoar::DeviceArray<BoidState> states(count_);
    BoidState* const out = states.data();
    handle().parallel_do<Boid>([=] __device__(Boid * boid) { out[boid->number_] = boid->state(); });
    synchronize();
    return states.download();
  }

  const app::SavedOptions& saved_options() const { return options_; }

  void add_arrays(dynasoar::CheckpointItems&) const {}

  dynasoar::Columns read_columns() { return handle().columns<Boid>(); }

  static constexpr app::Rgb kBackground = kSky;

  void paint_on(const app::Canvas& canvas) {
    const double radius = std::clamp(0.3 * kSight * canvas.viewport.scale, 1.0, 6.0);
    const DirectionColors directions = kDirections;
    handle().parallel_do<Boid>([=] __device__(Boid * boid) {
      const Vector at = boid->position_;
      const Vector velocity = boid->velocity_;
      canvas.dot(at.x, at.y, radius, color_of(std::atan2(velocity.y, velocity.x), directions), 0);
    });
  }

 protected:
  std::uint64_t steps_made() const override { return steps(); }

 private:
  /// Enough for the boids, even though each warp of a large GPU opens a block.
  static std::size_t needed_bytes(std::size_t count) {
    return AllocatorT::heap_bytes_for<Boid>(2 * count + app::kSlotsInFlight);
  }

  static app::SavedOptions options_of(const Parameters& parameters) {
    app::InputSum side;
    side.add(parameters.side);
    app::InputSum initial;
    for (const BoidState& boid : parameters.initial) initial.add(boid.x, boid.y, boid.vx, boid.vy);
    return app::SavedOptions()
        .add("--boids", parameters.initial.size())
        .add("--neighbours", side)
        .add("--seed", initial);
  }

  app::SavedOptions options_;
  std::size_t count_;
  std::uint32_t sort_every_;
  dynasoar::UniformGrid<Boid, Bird> grid_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace flocking::boids
