/// @file
/// The hand-written baselines with springs: the algorithm of springs.cpp, for two layouts. In a structure of arrays,
/// there is an array for each value of springs and of nodes, and one for each slot. In an array of structures, the
/// values of a spring are contiguous, and so are those of a node. The number of slots of a node is then a compile-time
/// constant, so there are two versions: one for random networks, and one for all networks.
///
/// There are two loops: springs compute forces, and nodes add up the forces of their springs. Springs and nodes are
/// numbers. A spring that is deleted marks its own entry, which stays unused, and empties its slots at both ends. No
/// other thread reads or writes these slots in that loop.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include <app/layout.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "dense_network.h"
#include "network.h"
#include "rules.h"
#include "search.h"
#include "simulation.h"

namespace structure {
namespace {

/// The content of a node's slot: a spring, and which of its ends is here. With this word, a node knows the direction of
/// the spring's force without reading the spring.
struct SpringEnd {
  static constexpr std::uint32_t kMostSprings = 0x7FFFFFFF;

  std::uint32_t word;

  __device__ static SpringEnd first(std::uint32_t spring) { return {2 * spring}; }
  __device__ static SpringEnd second(std::uint32_t spring) { return {2 * spring + 1}; }

  __device__ bool is_second() const { return word % 2 != 0; }
  __device__ std::uint32_t spring() const { return word / 2; }
};

struct Node {
  Vector position;
  Vector velocity;
  Distance distance;
  Kind kind;
  std::uint8_t slots;  ///< that it uses
};

// Both are aligned so that a GPU reads 16 bytes at a time, and a spring lies in a single sector of 32.

template <std::uint32_t kSlots>
struct alignas(16) NodeWithSlots : Node {
  SpringEnd ends[kSlots];
};

/// A spring. If it is deleted, both ends are the same node.
struct alignas(16) Spring {
  std::uint32_t first;
  std::uint32_t second;
  float factor;
  float rest_length;
  Vector force;  ///< on the first end
  std::uint8_t first_slot;
  std::uint8_t second_slot;
};

/// @tparam Nodes, Springs   views of app::StructureOfArrays or app::ArrayOfStructures
template <class Nodes, class Springs>
struct NodesAndSprings {
  Nodes nodes;
  Springs springs;

  __device__ Kind& kind(std::uint32_t n) const { return nodes.template at<&Node::kind>(n); }
  __device__ std::uint8_t& slots(std::uint32_t n) const { return nodes.template at<&Node::slots>(n); }
  __device__ Vector& position(std::uint32_t n) const { return nodes.template at<&Node::position>(n); }
  __device__ Vector& velocity(std::uint32_t n) const { return nodes.template at<&Node::velocity>(n); }
  __device__ Distance& distance(std::uint32_t n) const { return nodes.template at<&Node::distance>(n); }

  __device__ std::uint32_t& first(std::uint32_t s) const { return springs.template at<&Spring::first>(s); }
  __device__ std::uint32_t& second(std::uint32_t s) const { return springs.template at<&Spring::second>(s); }
  __device__ float& factor(std::uint32_t s) const { return springs.template at<&Spring::factor>(s); }
  __device__ float& rest_length(std::uint32_t s) const { return springs.template at<&Spring::rest_length>(s); }
  __device__ Vector& force(std::uint32_t s) const { return springs.template at<&Spring::force>(s); }
  __device__ std::uint8_t& first_slot(std::uint32_t s) const { return springs.template at<&Spring::first_slot>(s); }
  __device__ std::uint8_t& second_slot(std::uint32_t s) const { return springs.template at<&Spring::second_slot>(s); }
};

class SoaStorage {
 public:
  using Nodes = app::StructureOfArrays<&Node::kind, &Node::slots, &Node::position, &Node::velocity, &Node::distance>;
  using Springs = app::StructureOfArrays<&Spring::first, &Spring::second, &Spring::factor, &Spring::rest_length,
                                         &Spring::force, &Spring::first_slot, &Spring::second_slot>;

  struct Layout : NodesAndSprings<Nodes::View, Springs::View> {
    std::size_t node_count;
    SpringEnd* ends;  // [slots * nodes]
    __device__ SpringEnd& end(std::uint32_t n, std::uint32_t slot) const { return ends[slot * node_count + n]; }
  };

  explicit SoaStorage(DenseSize size)
      : node_count_(size.nodes),
        nodes_(size.nodes),
        springs_(size.springs + std::size_t{1}),
        ends_(std::size_t{size.slots} * size.nodes) {
    springs_.fill_bytes(0);
  }

  Layout layout() const { return {{nodes_.view(), springs_.view()}, node_count_, ends_.data()}; }

 private:
  std::size_t node_count_;
  Nodes nodes_;
  Springs springs_;
  dynasoar::DeviceArray<SpringEnd> ends_;
};

template <std::uint32_t kSlots>
class AosStorage {
 public:
  using Nodes = app::ArrayOfStructures<NodeWithSlots<kSlots>>;
  using Springs = app::ArrayOfStructures<Spring>;

  struct Layout : NodesAndSprings<typename Nodes::View, Springs::View> {
    __device__ SpringEnd& end(std::uint32_t n, std::uint32_t slot) const { return this->nodes.records[n].ends[slot]; }
  };

  explicit AosStorage(DenseSize size) : nodes_(size.nodes), springs_(size.springs + std::size_t{1}) {
    springs_.fill_bytes(0);
  }

  Layout layout() const { return {{nodes_.view(), springs_.view()}}; }

 private:
  Nodes nodes_;
  Springs springs_;
};

/// The data of the loops over springs and nodes, passed to the device by value.
///
/// @tparam Layout   NodesAndSprings with `end(n, s)`, a reference to slot s of node n
template <class Layout>
struct DenseSprings {
  Layout layout;
  Physics physics;
  std::uint32_t springs;  ///< also the number of an additional spring, which never pulls and is in empty slots

  __device__ void init_node(std::uint32_t n, const NodeState& state, std::uint8_t slots) const {
    layout.kind(n) = state.kind;
    layout.position(n) = state.position;
    layout.velocity(n) = state.velocity;
    layout.distance(n).store(is_anchor(state.kind) ? 0 : kUnreached, dynasoar::Order::relaxed);
    layout.slots(n) = slots;  // springs fill all of them
  }

  __device__ void init_spring(std::uint32_t s, const PlacedSpring& placed) const {
    const SpringState& spring = placed.spring;
    layout.first(s) = spring.first;
    layout.second(s) = spring.exists ? spring.second : spring.first;
    if (!spring.exists) return;
    layout.factor(s) = spring.factor;
    layout.rest_length(s) = spring.rest_length;
    layout.first_slot(s) = placed.first_slot;
    layout.second_slot(s) = placed.second_slot;
    layout.end(spring.first, placed.first_slot) = SpringEnd::first(s);
    layout.end(spring.second, placed.second_slot) = SpringEnd::second(s);
  }

  __device__ void pull(std::uint32_t n) const {
    if (layout.kind(n) != Kind::pulled) return;
    layout.position(n) = layout.position(n) + layout.velocity(n) * physics.time_step;
  }

  /// The first loop of an iteration: a spring pulls or breaks.
  __device__ void compute_force(std::uint32_t s) const {
    // A deleted spring is marked in both ends, so a GPU reads both of them before it waits for one.
    const std::uint32_t first = layout.first(s);
    const std::uint32_t second = layout.second(s);
    if (first == second) return;
    const Pull pull = pull_of(layout.position(first), layout.position(second), layout.factor(s), layout.rest_length(s),
                              physics.strength);
    if (pull.breaks) {
      remove(s);
    } else {
      layout.force(s) = pull.force;
    }
  }

  /// The second loop of an iteration: a free node moves under the forces of its springs.
  __device__ void move(std::uint32_t n) const {
    if (layout.kind(n) != Kind::free) return;
    Vector force;
    const std::uint32_t slots = layout.slots(n);
    for (std::uint32_t s = 0; s < slots; ++s) {
      // There are no branches, so that a GPU reads several slots at a time. Adding the 0 of an empty slot changes
      // nothing, because the sum is never -0. A product with 1 or -1 is exact.
      const SpringEnd end = layout.end(n, s);
      force = force + layout.force(end.spring()) * (end.is_second() ? -1.0f : 1.0f);
    }
    const Vector velocity = layout.velocity(n) + force * physics.velocity_per_force;
    layout.velocity(n) = velocity;
    layout.position(n) = layout.position(n) + velocity * physics.time_step;
  }

  __device__ void reach_neighbors(std::uint32_t n, std::uint32_t distance, Distance* farthest) const {
    if (layout.distance(n).load(dynasoar::Order::relaxed) != distance) return;
    const std::uint32_t slots = layout.slots(n);
    for (std::uint32_t s = 0; s < slots; ++s) {
      const SpringEnd end = layout.end(n, s);
      if (is_empty(end)) continue;
      const std::uint32_t neighbor = end.is_second() ? layout.first(end.spring()) : layout.second(end.spring());
      reach(layout.distance(neighbor), distance + 1, *farthest);
    }
  }

  /// Either both ends are reached, or neither.
  __device__ void remove_if_unreached(std::uint32_t s) const {
    if (exists(s) && layout.distance(layout.first(s)).load(dynasoar::Order::relaxed) == kUnreached) remove(s);
  }

  /// Deletes the node if it has no springs. Resets the distances of free nodes for the next search.
  __device__ void clean_up(std::uint32_t n) const {
    const Kind kind = layout.kind(n);
    if (kind == Kind::free) layout.distance(n).store(kUnreached, dynasoar::Order::relaxed);
    if (kind != Kind::gone && degree(n) == 0) layout.kind(n) = Kind::gone;
  }

  __device__ bool is_there(std::uint32_t n) const { return layout.kind(n) != Kind::gone; }

  __device__ std::uint32_t degree(std::uint32_t n) const {
    std::uint32_t count = 0;
    const std::uint32_t slots = layout.slots(n);
    for (std::uint32_t s = 0; s < slots; ++s) count += !is_empty(layout.end(n, s));
    return count;
  }

  __device__ NodeState state(std::uint32_t n) const {
    if (!is_there(n)) return {};
    return {layout.kind(n), layout.position(n), layout.velocity(n)};
  }

  __device__ bool exists(std::uint32_t s) const { return layout.first(s) != layout.second(s); }

 private:
  __device__ bool is_empty(SpringEnd end) const { return end.spring() == springs; }

  __device__ void remove(std::uint32_t s) const {
    const std::uint32_t first = layout.first(s);
    layout.end(first, layout.first_slot(s)) = SpringEnd::first(springs);
    layout.end(layout.second(s), layout.second_slot(s)) = SpringEnd::first(springs);
    layout.second(s) = first;
  }
};

/// Loops of a DenseNetwork over springs and nodes that lie in `Storage`.
///
/// @tparam Storage   owns them: constructible from a DenseSize; has the force of an additional spring, which is 0;
///                   `layout()` is the device's view, a Layout as in DenseSprings
template <class Storage>
class SpringLoops {
 public:
  using View = DenseSprings<typename Storage::Layout>;

  SpringLoops(DenseSize size, Physics physics) : size_(size), storage_(size), physics_(physics) {
    if (size.springs > SpringEnd::kMostSprings) throw std::invalid_argument("more than 2^31 - 1 springs");
  }

  View view() const { return {storage_.layout(), physics_, size_.springs}; }

  static app::PhaseNames relaxation_phases() { return {"forces and breaking", "nodes move"}; }

  void relax(dynasoar::Executor& executor, app::PhaseClock& clock) const {
    const View all = view();
    for (int i = 0; i < kRelaxations; ++i) {
      executor.for_each_index(size_.springs, [=] __device__(std::size_t s) { all.compute_force(index(s)); });
      clock.end_phase(executor, 1);
      executor.for_each_index(size_.nodes, [=] __device__(std::size_t n) { all.move(index(n)); });
      clock.end_phase(executor, 2);
    }
  }

  void remove_unreached(dynasoar::Executor& executor) const {
    const View all = view();
    executor.for_each_index(size_.springs, [=] __device__(std::size_t s) { all.remove_if_unreached(index(s)); });
    executor.for_each_index(size_.nodes, [=] __device__(std::size_t n) { all.clean_up(index(n)); });
  }

 private:
  DenseSize size_;
  Storage storage_;
  Physics physics_;
};

template <class Storage>
std::unique_ptr<Simulation> make_baseline(const Parameters& parameters, const Network& network, const Slots& slots) {
  return std::make_unique<DenseNetwork<SpringLoops<Storage>>>(parameters, network, slots);
}

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters, const Network& network) {
  return make_baseline<SoaStorage>(parameters, network, assign_slots(network));
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters, const Network& network) {
  const Slots slots = assign_slots(network);
  if (slots.most <= kRandomSprings) return make_baseline<AosStorage<kRandomSprings>>(parameters, network, slots);
  return make_baseline<AosStorage<kSpringSlots>>(parameters, network, slots);
}

}  // namespace structure
