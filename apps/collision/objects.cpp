/// @file
/// collision with bodies as objects. README.md defines the model.
///
/// A step is five loops. Bodies *attract* each other, *move*, *seek* a heavier body nearby and ask it to merge, *merge*
/// if it accepts them, and *leave* if they have merged. A loop reads values that earlier loops have written. Every body
/// writes only its own data, with two exceptions. Asking is an atomic minimum. A body that merges writes the motion of
/// the body that accepted it, which accepts no other body and does not merge itself.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <app/allocator.h>
#include <dynasoar/dynasoar.h>

#include "bodies/object_bodies.h"
#include "bodies/physics.h"
#include "collision.h"
#include "merging.h"

namespace collision::objects {
inline namespace DYNASOAR_APP_ALLOCATOR {

using bodies::Attraction;
using bodies::Vector;

class Body;
using AllocatorT = app::Allocator<Body>;

/// The data that a body shows to bodies that seek a heavier one.
struct alignas(16) Candidate {
  Vector position;
  std::uint64_t rank;
  Body* body;
};

/// The heaviest body found so far.
struct Target {
  std::uint64_t rank = 0;
  Body* body = nullptr;
};
struct Heavier {
  __host__ __device__ Target operator()(const Target& a, const Target& b) const { return a.rank < b.rank ? b : a; }
};

class Body : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Body, (number_, std::uint32_t), (position_, Vector), (velocity_, Vector), (acceleration_, Vector),
                  (mass_, float), (target_, Body*), (asker_, dynasoar::AtomicWord<std::uint64_t>), (merged_, bool));

  __device__ Body(std::size_t i, const bodies::BodyState* states)
      : number_(states[i].number),
        position_({states[i].x, states[i].y}),
        velocity_({states[i].vx, states[i].vy}),
        mass_(states[i].mass),
        merged_(false) {}

  __device__ auto attract() {
    return dynasoar::device_reduce<Body>(
               Vector{}, dynasoar::Plus{},
               [](Body* other) {
                 return Attraction{other->position_, other->mass_};
               },
               [here = position_.get()](const Attraction& other) {
                 return bodies::pull(other.position - here, other.mass);
               })
        .then([this](Vector sum) { acceleration_ = float{bodies::kGravity} * sum; });
  }

  __device__ void move() {
    bodies::advance(position_, velocity_, acceleration_, kTimeStep);
    asker_->store(std::uint64_t{kNoAsker}, dynasoar::Order::relaxed);
  }

  __device__ auto seek() {
    return dynasoar::device_reduce<Body>(
               Target{}, Heavier{}, [](Body* other) { return other->candidate(); },
               [here = position_.get(), rank = weight_rank(mass_, number_)](const Candidate& other) {
                 const bool wanted = other.rank > rank &&
                                     bodies::squared_length(other.position - here) < kMergeDistance * kMergeDistance;
                 return wanted ? Target{other.rank, other.body} : Target{};
               })
        .then([this](Target found) { ask(found.body); });
  }

  __device__ void merge() {
    if (target_ == nullptr || !target_->accepts(this)) return;
    target_->set_motion(merged(target_->motion(), motion()));
    merged_ = true;
  }

  __device__ void leave() {
    if (merged_) dynasoar::destroy(this);
  }

  __device__ bodies::BodyState state() const {
    return {number_, position_->x, position_->y, velocity_->x, velocity_->y, mass_};
  }

 private:
  __device__ Candidate candidate() { return {position_, weight_rank(mass_, number_), this}; }

  __device__ std::uint64_t rank_as_asker() const { return asker_rank(mass_, number_); }

  /// Asks a heavier body; null: none.
  __device__ void ask(Body* heavier) {
    target_ = heavier;
    // relaxed: only later loops read the result.
    if (heavier != nullptr) heavier->asker_->fetch_min(rank_as_asker(), dynasoar::Order::relaxed);
  }

  /// A body that asks another one accepts none. Otherwise it accepts the lightest of the bodies that ask it.
  __device__ bool accepts(const Body* asker) const {
    return target_ == nullptr && asker_->load(dynasoar::Order::relaxed) == asker->rank_as_asker();
  }

  __device__ Motion motion() const { return {position_, velocity_, mass_}; }
  __device__ void set_motion(const Motion& motion) {
    position_ = motion.position;
    velocity_ = motion.velocity;
    mass_ = motion.mass;
  }
};

/// The loops of a step.
struct Model {
  using Body = objects::Body;
  static constexpr bool kKeepsBodies = false;
  static constexpr std::uint32_t kStepsPerCompaction = 8;

  static app::PhaseNames phases() { return {"attract", "move", "seek", "merge", "leave"}; }

  Model(const dynasoar::AllocatorHandle<AllocatorT>&, const Parameters&) {}

  /// Bodies are compacted before some steps.
  static std::size_t kind_of(std::uint32_t step) { return step % kStepsPerCompaction == 0 ? 1 : 0; }

  static void submit_step(std::uint32_t step, dynasoar::AllocatorHandle<AllocatorT>& handle, app::PhaseClock& clock) {
    // Bodies that have merged leave gaps in blocks, and loops over pairs load whole blocks.
    if (kind_of(step) == 1) handle.compact<Body>({.above = 0.1});
    const auto kept = handle.keep_lists();  // no body is destroyed before the last loop
    handle.parallel_do<&Body::attract>();
    clock.end_phase(handle.executor(), 0);
    handle.parallel_do<&Body::move>();
    clock.end_phase(handle.executor(), 1);
    handle.parallel_do<&Body::seek>();
    clock.end_phase(handle.executor(), 2);
    handle.parallel_do<&Body::merge>();
    clock.end_phase(handle.executor(), 3);
    handle.parallel_do<&Body::leave>();
    clock.end_phase(handle.executor(), 4);
  }
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<bodies::ObjectBodies<Model>>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace collision::objects
