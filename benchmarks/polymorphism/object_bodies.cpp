// n-body and collision with bodies as objects of DynaSOAr: the thread of a body asks all others, as in
// virtual_bodies.cpp. The models in apps/ are faster, because several threads share the work of a body (device_reduce);
// but then virtual functions would not be what makes the difference.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "bodies/physics.h"
#include "body_numbers.h"
#include "collision/collision.h"
#include "collision/merging.h"
#include "measure.h"
#include "n_body/n_body.h"
#include "variant.h"

namespace benchmarks::polymorphism {
namespace object_bodies {

using bodies::Attraction;
using bodies::Vector;
using collision::Motion;
constexpr auto kRelaxed = dynasoar::Order::relaxed;

class Planet;
class MergingBody;
using AllocatorT = dynasoar::SoaAllocator<Planet, MergingBody>;

DYNASOAR_METHOD(Move, move);

/// A body of n-body.
class Planet : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Planet, (number_, std::uint32_t), (position_, Vector), (velocity_, Vector), (acceleration_, Vector),
                  (mass_, float), (time_step_, float));

  __device__ Planet(std::size_t i, const bodies::BodyState* states, float time_step)
      : number_(states[i].number),
        position_({states[i].x, states[i].y}),
        velocity_({states[i].vx, states[i].vy}),
        mass_(states[i].mass),
        time_step_(time_step) {}

  __device__ Attraction attraction() const { return {position_, mass_}; }

  __device__ void attract() {
    Vector sum;
    const Vector here = position_;
    dynasoar::device_do<Planet>([&](const Planet* body) {
      const Attraction other = body->attraction();
      sum = sum + bodies::pull(other.position - here, other.mass);
    });
    acceleration_ = float{bodies::kGravity} * sum;
  }

  __device__ void move() { bodies::advance(position_, velocity_, acceleration_, time_step_); }
};

/// A body of collision.
class MergingBody : public Planet {
 public:
  using BaseClass = Planet;
  DYNASOAR_FIELDS(MergingBody, (target_, MergingBody*), (asker_, dynasoar::AtomicWord<std::uint64_t>), (merged_, bool));

  __device__ MergingBody(std::size_t i, const bodies::BodyState* states, float time_step)
      : Planet(i, states, time_step), merged_(false) {}

  __device__ void move() {
    Planet::move();
    asker_->store(std::uint64_t{collision::kNoAsker}, kRelaxed);
  }

  /// Asks the heaviest body that is near and heavier than this one.
  __device__ void seek() {
    std::uint64_t heaviest = rank();
    MergingBody* target = nullptr;
    const Vector here = position_;
    dynasoar::device_do<MergingBody>([&](MergingBody* other) {
      const Vector offset = other->attraction().position - here;
      if (bodies::squared_length(offset) >= collision::kMergeDistance * collision::kMergeDistance) return;
      const std::uint64_t rank = other->rank();
      if (rank <= heaviest) return;
      heaviest = rank;
      target = other;
    });
    target_ = target;
    if (target != nullptr) target->asker_->fetch_min(asking_rank(), kRelaxed);
  }

  __device__ void merge() {
    if (target_ == nullptr || !target_->accepts(asking_rank())) return;
    target_->take({position_, velocity_, mass_});
    merged_ = true;
  }

  __device__ void leave() {
    if (merged_) dynasoar::destroy(this);
  }

 private:
  __device__ std::uint64_t rank() const { return collision::weight_rank(mass_, number_); }
  __device__ std::uint64_t asking_rank() const { return collision::asker_rank(mass_, number_); }

  /// A body that asks for another one takes nobody.
  __device__ bool accepts(std::uint64_t asker) const { return target_ == nullptr && asker_->load(kRelaxed) == asker; }

  __device__ void take(const Motion& other) {
    const Motion both = collision::merged({position_, velocity_, mass_}, other);
    position_ = both.position;
    velocity_ = both.velocity;
    mass_ = both.mass;
  }
};

struct WriteAttraction {
  Attraction* seen;
  __device__ void operator()(const Planet* body) const { seen[body->number_] = body->attraction(); }
};

/// Submits the loops of a step.
struct Submit {
  dynasoar::AllocatorHandle<AllocatorT>& handle;
  bool merges;

  void operator()() const {
    const auto kept = handle.keep_lists();  // no body is destroyed before the last loop
    handle.parallel_do<Planet, &Planet::attract>();
    handle.parallel_do<Planet>(Move{});
    if (!merges) return;
    handle.parallel_do<&MergingBody::seek>();
    handle.parallel_do<&MergingBody::merge>();
    handle.parallel_do<&MergingBody::leave>();
  }
};

class Simulation final : public Variant {
 public:
  Simulation(const bodies::Parameters& parameters, bool merges)
      : merges_(merges),
        count_(parameters.initial.size()),
        handle_({.heap_bytes = heap_bytes_with_room<Planet>(count_) + heap_bytes_with_room<MergingBody>(count_)}),
        step_(handle_.record(Submit{handle_, merges})) {
    dynasoar::DeviceArray<bodies::BodyState> initial(count_);
    initial.upload(parameters.initial);
    const bodies::BodyState* const states = initial.data();
    if (merges) {
      handle_.parallel_new<MergingBody>(count_, states, float{collision::kTimeStep});
    } else {
      handle_.parallel_new<Planet>(count_, states, float{n_body::kTimeStep});
    }
    synchronize();
  }

  void step() override { step_(); }

  void synchronize() override { handle_.synchronize(); }

  std::vector<double> result() override {
    dynasoar::DeviceArray<Attraction> seen = zeros<Attraction>(count_);
    handle_.parallel_do<Planet>(WriteAttraction{seen.data()});
    synchronize();
    return numbers_of(seen.download(), merges_);
  }

 private:
  using Handle = dynasoar::AllocatorHandle<AllocatorT>;

  bool merges_;
  std::size_t count_;
  Handle handle_;
  decltype(std::declval<Handle&>().record(std::declval<Submit>())) step_;
};

}  // namespace object_bodies

std::unique_ptr<Variant> make_object_n_body(const bodies::Parameters& parameters) {
  return std::make_unique<object_bodies::Simulation>(parameters, false);
}

std::unique_ptr<Variant> make_object_collision(const bodies::Parameters& parameters) {
  return std::make_unique<object_bodies::Simulation>(parameters, true);
}

}  // namespace benchmarks::polymorphism
