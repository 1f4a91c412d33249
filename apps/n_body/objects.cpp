/// @file
/// n-body with bodies as objects. README.md defines the model.
///
/// A step is two loops. In the first loop, every body reads all others, with the help of several threads, and stores
/// its acceleration. In the second loop, it moves. The first loop writes only accelerations, which it does not read.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <app/allocator.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/uniform_grid.h>

#include "bodies/object_bodies.h"
#include "bodies/physics.h"
#include "n_body.h"

namespace n_body::objects {
inline namespace DYNASOAR_APP_ALLOCATOR {

using bodies::Attraction;
using bodies::Vector;

class Body;
using AllocatorT = app::Allocator<Body>;

using Neighbours = dynasoar::GridView<Body, Attraction>;

class Body : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Body, (number_, std::uint32_t), (position_, Vector), (velocity_, Vector), (acceleration_, Vector),
                  (mass_, float));

  __device__ Body(std::size_t i, const bodies::BodyState* states)
      : number_(states[i].number),
        position_({states[i].x, states[i].y}),
        velocity_({states[i].vx, states[i].vy}),
        mass_(states[i].mass) {}

  __device__ auto attract() {
    return dynasoar::device_reduce<Body>(
               Vector{}, dynasoar::Plus{}, [](Body* other) { return other->attraction(); },
               [here = position_.get()](const Attraction& other) {
                 return bodies::pull(other.position - here, other.mass);
               })
        .then([this](Vector sum) { acceleration_ = float{bodies::kGravity} * sum; });
  }

  __device__ void attract_near(Neighbours bodies, float cut_off) {
    Vector sum;
    bodies.for_each_neighbour(position_, cut_off, [&](const Neighbours::Neighbour& other) {
      sum = sum + bodies::pull(other.offset, other.seen.mass);
    });
    acceleration_ = float{bodies::kGravity} * sum;
  }

  __device__ void move() { bodies::advance(position_, velocity_, acceleration_, kTimeStep); }

  __device__ Attraction attraction() { return {position_, mass_}; }

  __device__ bodies::BodyState state() const {
    return {number_, position_->x, position_->y, velocity_->x, velocity_->y, mass_};
  }
};

/// The loops of a step.
class Model {
 public:
  using Body = objects::Body;
  static constexpr bool kKeepsBodies = true;
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;

  static app::PhaseNames phases() { return {"attract", "move"}; }

  Model(Handle& handle, const Parameters& parameters) : cut_off_(parameters.cut_off) {
    if (cut_off_ == 0) return;
    // The square at whose borders bodies turn round; few bodies are outside. At most a million cells.
    grid_.emplace(handle, dynasoar::GridOptions<Vector>{.lower = {-1, -1},
                                                        .upper = {1, 1},
                                                        .cell = std::max(cut_off_, 0.002f),
                                                        .capacity = 2 * parameters.initial.size()});
  }

  static std::size_t kind_of(std::uint32_t) { return 0; }

  void submit_step(std::uint32_t, Handle& handle, app::PhaseClock& clock) {
    if (grid_) {
      grid_->rebuild<&Body::attraction, &Body::number_>();
      grid_->parallel_do<&Body::attract_near>(cut_off_);
    } else {
      handle.parallel_do<&Body::attract>();
    }
    clock.end_phase(handle.executor(), 0);
    handle.parallel_do<&Body::move>();
    clock.end_phase(handle.executor(), 1);
  }

 private:
  float cut_off_;
  std::optional<dynasoar::UniformGrid<Body, Attraction>> grid_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<bodies::ObjectBodies<Model>>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace n_body::objects
