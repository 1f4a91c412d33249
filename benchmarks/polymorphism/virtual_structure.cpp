// Structure with virtual functions: nodes of three classes that move as they please, and springs. Nodes and springs
// that are gone keep their places, and do nothing. The model is described in apps/structure/README.md.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/collect.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "structure/network.h"
#include "structure/rules.h"
#include "structure/search.h"
#include "variant.h"
#include "virtual_objects.h"

namespace benchmarks::polymorphism {
namespace virtual_structure {

using structure::Distance;
using structure::Kind;
using structure::kUnreached;
using structure::Physics;
using structure::Vector;
constexpr auto kRelaxed = dynasoar::Order::relaxed;

class Node;

/// What is between two nodes.
class Link {
 public:
  __device__ virtual ~Link() {}
  __device__ virtual void compute_force(Physics physics) = 0;
  __device__ virtual void disappear_if_unreached() = 0;
  /// The force on one of its ends.
  __device__ virtual Vector force_on(const Node* end) const = 0;
  __device__ virtual Node* other_end(const Node* end) const = 0;
  __device__ virtual bool exists() const = 0;
};

/// Does nothing: an anchor.
class Node {
 public:
  __device__ Node(const structure::NodeState& state, std::uint8_t slots)
      : position_(state.position), velocity_(state.velocity), slots_(slots) {
    for (Link*& link : links_) link = nullptr;
    distance_.store(state.kind == Kind::free ? kUnreached : 0, kRelaxed);
  }
  __device__ virtual ~Node() {}
  __device__ virtual void pull(Physics) {}
  __device__ virtual void move(Physics) {}
  /// After a search: is gone if it has no spring, and forgets its distance.
  __device__ virtual void clean_up() { is_there_ = is_there_ && has_springs(); }
  __device__ virtual Kind kind() const { return Kind::anchor; }

  /// A phase of the search: if this node is at `distance`, its neighbours are a spring farther at most.
  __device__ void reach_neighbors(std::uint32_t distance, Distance* farthest) {
    if (!is_there_ || distance_.load(kRelaxed) != distance) return;
    for (std::uint32_t s = 0; s < slots_; ++s) {
      if (links_[s] != nullptr) structure::reach(links_[s]->other_end(this)->distance_, distance + 1, *farthest);
    }
  }

  __device__ void attach(std::uint8_t slot, Link* link) { links_[slot] = link; }
  __device__ Vector position() const { return position_; }
  __device__ bool is_reached() const { return distance_.load(kRelaxed) != kUnreached; }
  __device__ structure::NodeState state() const {
    return is_there_ ? structure::NodeState{kind(), position_, velocity_} : structure::NodeState{};
  }

 protected:
  __device__ bool has_springs() const {
    for (std::uint32_t s = 0; s < slots_; ++s) {
      if (links_[s] != nullptr) return true;
    }
    return false;
  }

  Vector position_;
  Vector velocity_;
  Link* links_[structure::kSpringSlots];
  Distance distance_;
  std::uint8_t slots_;
  bool is_there_ = true;
};

/// An anchor that moves at its own velocity, whatever its springs do.
class PulledNode : public Node {
 public:
  using Node::Node;
  __device__ void pull(Physics physics) override {
    if (is_there_) position_ = position_ + velocity_ * physics.time_step;
  }
  __device__ Kind kind() const override { return Kind::pulled; }
};

/// A node that moves as its springs pull.
class FreeNode : public Node {
 public:
  using Node::Node;
  __device__ void move(Physics physics) override {
    if (!is_there_) return;
    Vector force;
    for (std::uint32_t s = 0; s < slots_; ++s) {
      if (links_[s] != nullptr) force = force + links_[s]->force_on(this);
    }
    velocity_ = velocity_ + force * physics.velocity_per_force;
    position_ = position_ + velocity_ * physics.time_step;
  }
  __device__ void clean_up() override {
    distance_.store(kUnreached, kRelaxed);
    Node::clean_up();
  }
  __device__ Kind kind() const override { return Kind::free; }
};

class Spring : public Link {
 public:
  __device__ Spring(const structure::PlacedSpring& placed, Node* const* nodes)
      : placed_(placed), first_(nodes[placed.spring.first]), second_(nodes[placed.spring.second]) {
    if (!placed.spring.exists) return;
    first_->attach(placed.first_slot, this);
    second_->attach(placed.second_slot, this);
  }
  __device__ void compute_force(Physics physics) override {
    if (!placed_.spring.exists) return;
    const structure::Pull pull = structure::pull_of(first_->position(), second_->position(), placed_.spring.factor,
                                                    placed_.spring.rest_length, physics.strength);
    if (pull.breaks) {
      disappear();
    } else {
      force_ = pull.force;
    }
  }
  __device__ void disappear_if_unreached() override {
    if (placed_.spring.exists && !first_->is_reached()) disappear();  // both ends are reached, or none
  }
  __device__ Vector force_on(const Node* end) const override {
    return end == first_ ? force_ : Vector{-force_.x, -force_.y};
  }
  __device__ Node* other_end(const Node* end) const override { return end == first_ ? second_ : first_; }
  __device__ bool exists() const override { return placed_.spring.exists; }

 private:
  __device__ void disappear() {
    first_->attach(placed_.first_slot, nullptr);
    second_->attach(placed_.second_slot, nullptr);
    placed_.spring.exists = false;
  }

  structure::PlacedSpring placed_;
  Node *first_, *second_;
  Vector force_;
};

struct MakeNode {
  const structure::NodeState* states;
  const std::uint8_t* slots;
  __device__ Node* operator()(void* place, std::size_t i) const {
    const Kind kind = states[i].kind;
    if (kind == Kind::free) return make_at<FreeNode>(place, states[i], slots[i]);
    if (kind == Kind::pulled) return make_at<PulledNode>(place, states[i], slots[i]);
    return make_at<Node>(place, states[i], slots[i]);
  }
};

struct MakeSpring {
  const structure::PlacedSpring* springs;
  Node* const* nodes;
  __device__ Link* operator()(void* place, std::size_t i) const { return make_at<Spring>(place, springs[i], nodes); }
};

template <class T>
dynasoar::DeviceArray<T> uploaded(const std::vector<T>& values) {
  dynasoar::DeviceArray<T> array(values.size());
  array.upload(values);
  return array;
}

class Structure final : public Variant {
 public:
  Structure(const structure::Parameters& parameters, const structure::Network& network, const structure::Slots& slots)
      : network_(network),
        physics_(Physics::of(parameters)),
        states_(uploaded(network.nodes)),
        used_(uploaded(slots.used)),
        placed_(uploaded(slots.springs)),
        nodes_(executor_, states_.size(), MakeNode{states_.data(), used_.data()}),
        springs_(executor_, placed_.size(), MakeSpring{placed_.data(), nodes_.data()}) {}

  bool restart() override {
    nodes_.restart();
    springs_.restart();
    return true;
  }

  /// The host waits within the search; so what comes before and after it is recorded, as in the model.
  void step() override {
    recorded_.run(0, [this] { relax(); });
    search_.run([this](std::uint32_t distance, Distance* farthest) { submit_phase(distance, farthest); });
    recorded_.run(1, [this] { remove_unreached(); });
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<double> result() override {
    structure::Network now = network_;
    Node* const* const nodes = nodes_.data();
    Link* const* const springs = springs_.data();
    now.nodes = app::collect<structure::NodeState>(executor_, nodes_.size(),
                                                   [=] __device__(std::uint32_t n) { return nodes[n]->state(); });
    const auto exists = app::collect<std::uint8_t>(executor_, springs_.size(), [=] __device__(std::uint32_t s) {
      return static_cast<std::uint8_t>(springs[s]->exists());
    });
    for (std::size_t s = 0; s < exists.size(); ++s) now.springs[s].exists = exists[s] != 0;
    return numbers_of(now);
  }

  // Public, like all that contains a device lambda: nvcc does not take it elsewhere.

  void relax() {
    const Physics physics = physics_;
    nodes_.for_each([=] __device__(Node * node) { node->pull(physics); });
    for (int i = 0; i < structure::kRelaxations; ++i) {
      springs_.for_each([=] __device__(Link * spring) { spring->compute_force(physics); });
      nodes_.for_each([=] __device__(Node * node) { node->move(physics); });
    }
  }

  void remove_unreached() {
    springs_.for_each([] __device__(Link * spring) { spring->disappear_if_unreached(); });
    nodes_.for_each([] __device__(Node * node) { node->clean_up(); });
  }

  void submit_phase(std::uint32_t distance, Distance* farthest) {
    nodes_.for_each([=] __device__(Node * node) { node->reach_neighbors(distance, farthest); });
  }

 private:
  structure::Network network_;
  Physics physics_;
  dynasoar::Executor executor_;
  dynasoar::DeviceArray<structure::NodeState> states_;
  dynasoar::DeviceArray<std::uint8_t> used_;
  dynasoar::DeviceArray<structure::PlacedSpring> placed_;
  VirtualObjects<Node> nodes_;
  VirtualObjects<Link> springs_;
  structure::Search search_;
  RecordedLoops recorded_{executor_};
};

}  // namespace virtual_structure

std::unique_ptr<Variant> make_virtual_structure(const structure::Parameters& parameters,
                                                const structure::Network& network) {
  return std::make_unique<virtual_structure::Structure>(parameters, network, structure::assign_slots(network));
}

}  // namespace benchmarks::polymorphism
