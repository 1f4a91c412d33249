// n-body and collision with virtual functions: the thread of a body asks all others for what it has to know of them, as
// in object_bodies.cpp. The models are described in apps/n_body/README.md and apps/collision/README.md.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/collect.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "bodies/physics.h"
#include "body_numbers.h"
#include "collision/collision.h"
#include "collision/merging.h"
#include "n_body/n_body.h"
#include "variant.h"
#include "virtual_objects.h"

namespace benchmarks::polymorphism {
namespace virtual_bodies {

using bodies::Vector;
using collision::Motion;
constexpr auto kRelaxed = dynasoar::Order::relaxed;

class Body;

/// The bodies that are there.
using Bodies = ListView<Body>;

class Body {
 public:
  __device__ virtual ~Body() {}
  __device__ virtual bodies::Attraction attraction() const = 0;
  __device__ virtual void attract(Bodies others) = 0;
  __device__ virtual void move() = 0;

  // For bodies that merge.
  __device__ virtual std::uint64_t rank() const { return 0; }
  __device__ virtual void seek(Bodies) {}
  __device__ virtual void be_asked(std::uint64_t) {}
  __device__ virtual bool accepts(std::uint64_t) const { return false; }
  __device__ virtual void take(const Motion&) {}
  __device__ virtual void merge() {}
  __device__ virtual bool is_there() const { return true; }
};

/// A body of n-body.
class Planet : public Body {
 public:
  __device__ Planet(const bodies::BodyState& state, float time_step)
      : motion_{{state.x, state.y}, {state.vx, state.vy}, state.mass}, time_step_(time_step) {}

  __device__ bodies::Attraction attraction() const override { return {motion_.position, motion_.mass}; }

  __device__ void attract(Bodies others) override {
    Vector sum;
    const std::uint32_t count = others.size();
    for (std::uint32_t j = 0; j < count; ++j) {
      const bodies::Attraction other = others[j]->attraction();
      sum = sum + bodies::pull(other.position - motion_.position, other.mass);
    }
    acceleration_ = float{bodies::kGravity} * sum;
  }

  __device__ void move() override { bodies::advance(motion_.position, motion_.velocity, acceleration_, time_step_); }

 protected:
  Motion motion_;
  Vector acceleration_;
  float time_step_;
};

/// A body of collision.
class MergingBody : public Planet {
 public:
  __device__ MergingBody(const bodies::BodyState& state, float time_step)
      : Planet(state, time_step), number_(state.number) {}

  __device__ void move() override {
    Planet::move();
    asker_.store(std::uint64_t{collision::kNoAsker}, kRelaxed);
  }

  __device__ std::uint64_t rank() const override { return collision::weight_rank(motion_.mass, number_); }

  /// Asks the heaviest body that is near and heavier than this one.
  __device__ void seek(Bodies others) override {
    std::uint64_t heaviest = rank();
    target_ = nullptr;
    const std::uint32_t count = others.size();
    for (std::uint32_t j = 0; j < count; ++j) {
      Body* const other = others[j];
      const Vector offset = other->attraction().position - motion_.position;
      if (bodies::squared_length(offset) >= collision::kMergeDistance * collision::kMergeDistance) continue;
      const std::uint64_t rank = other->rank();
      if (rank <= heaviest) continue;
      heaviest = rank;
      target_ = other;
    }
    if (target_ != nullptr) target_->be_asked(asking_rank());
  }
  __device__ void be_asked(std::uint64_t asker) override { asker_.fetch_min(asker, kRelaxed); }

  /// A body that asks for another one takes nobody.
  __device__ bool accepts(std::uint64_t asker) const override {
    return target_ == nullptr && asker_.load(kRelaxed) == asker;
  }
  __device__ void take(const Motion& other) override { motion_ = collision::merged(motion_, other); }

  __device__ void merge() override {
    if (target_ == nullptr || !target_->accepts(asking_rank())) return;
    target_->take(motion_);
    is_there_ = false;
  }
  __device__ bool is_there() const override { return is_there_; }

 private:
  __device__ std::uint64_t asking_rank() const { return collision::asker_rank(motion_.mass, number_); }

  std::uint32_t number_;
  bool is_there_ = true;
  Body* target_ = nullptr;
  dynasoar::AtomicWord<std::uint64_t> asker_;
};

/// Makes a body of its state.
struct Make {
  const bodies::BodyState* states;
  float time_step;
  bool merges;
  __device__ Body* operator()(void* place, std::size_t i) const {
    if (merges) return make_at<MergingBody>(place, states[i], time_step);
    return make_at<Planet>(place, states[i], time_step);
  }
};

class Simulation final : public Variant {
 public:
  Simulation(const bodies::Parameters& parameters, bool merges)
      : merges_(merges),
        initial_(uploaded(parameters.initial)),
        objects_(executor_, initial_.size(),
                 Make{initial_.data(), merges ? collision::kTimeStep : n_body::kTimeStep, merges}),
        list_(executor_, initial_.size()) {
    fill_list();
  }

  bool restart() override {
    objects_.restart();
    fill_list();
    return true;
  }

  void step() override {
    recorded_.run(list_.turn(), [this] { submit_step(); });
    if (merges_) list_.take_turns();
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<double> result() override { return numbers_of(seen(), merges_); }

  // Public, like all that contains a device lambda: nvcc does not take it elsewhere.

  void fill_list() {
    const Bodies list = list_.view();
    Body* const* const objects = objects_.data();
    const auto all = static_cast<std::uint32_t>(objects_.size());
    executor_.for_each_index(all, [=] __device__(std::size_t i) {
      list.objects[i] = objects[i];
      if (i == 0) list.counter->store(all, kRelaxed);
    });
  }

  void submit_step() {
    const Bodies all = list_.view();
    list_.for_each([=] __device__(Body * body) { body->attract(all); });
    list_.for_each([] __device__(Body * body) { body->move(); });
    if (!merges_) return;
    list_.for_each([=] __device__(Body * body) { body->seek(all); });
    list_.for_each([] __device__(Body * body) { body->merge(); });
    list_.copy_if([] __device__(const Body* body) { return body->is_there(); });
  }

  /// All bodies by number; those that are gone without mass.
  std::vector<bodies::Attraction> seen() {
    Body* const* const objects = objects_.data();
    return app::collect<bodies::Attraction>(executor_, objects_.size(), [=] __device__(std::uint32_t i) {
      bodies::Attraction body = objects[i]->attraction();
      if (!objects[i]->is_there()) body.mass = 0;
      return body;
    });
  }

 private:
  static dynasoar::DeviceArray<bodies::BodyState> uploaded(const std::vector<bodies::BodyState>& states) {
    dynasoar::DeviceArray<bodies::BodyState> array(states.size());
    array.upload(states);
    return array;
  }

  bool merges_;
  dynasoar::Executor executor_;
  dynasoar::DeviceArray<bodies::BodyState> initial_;
  VirtualObjects<Body> objects_;
  ObjectList<Body> list_;  // the bodies that are there
  RecordedLoops recorded_{executor_};
};

}  // namespace virtual_bodies

std::unique_ptr<Variant> make_virtual_n_body(const bodies::Parameters& parameters) {
  return std::make_unique<virtual_bodies::Simulation>(parameters, false);
}

std::unique_ptr<Variant> make_virtual_collision(const bodies::Parameters& parameters) {
  return std::make_unique<virtual_bodies::Simulation>(parameters, true);
}

}  // namespace benchmarks::polymorphism
