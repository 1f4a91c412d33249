/// @file
/// The model with nodes and springs as objects. README.md defines the model.
///
/// Springs compute forces, and nodes add up the forces of their springs. Each loop reads values that the previous loop
/// has written, and every location has one writer in a loop. A spring stores its slots at both of its ends, so that
/// many springs can remove themselves at the same time: no other spring writes to these slots, and no thread reads
/// slots in that loop.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/census_history.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/step_log.h>

#include "colors.h"
#include "network.h"
#include "rules.h"
#include "search.h"
#include "simulation.h"

namespace structure::springs {
inline namespace DYNASOAR_APP_ALLOCATOR {

class NodeBase;
class Node;
class AnchorNode;
class AnchorPullNode;
class Spring;
using AllocatorT = app::Allocator<Node, AnchorNode, AnchorPullNode, Spring>;

/// The data from which a node is made.
struct NodeSeed {
  std::uint32_t number;
  std::uint32_t second_ends = 0;
  Vector position;
  Vector velocity;
  std::uint8_t slots;
};

/// The data from which a spring is made.
struct SpringSeed {
  std::uint32_t number;
  PlacedSpring placed;
};

class NodeBase : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Springs = std::array<CompressedPointer<Spring>, kSpringSlots>;
  // Nodes of all kinds have a velocity: blocks of one size make compressed pointers to them cheap.
  DYNASOAR_FIELDS(NodeBase, (position_, Vector), (velocity_, Vector),  //
                  (springs_, Springs),            // null: the slot has no spring, or the spring is deleted
                  (slots_, std::uint8_t),         // those in use are 0 ... slots_ - 1
                  (second_ends_, std::uint32_t),  // bit s is set if this node is the second end of the spring in slot s
                  (distance_, Distance),          // from the nearest anchor
                  (number_, std::uint32_t));

  /// Makes a node from its seed, and stores it in the table of nodes by number.
  __device__ NodeBase(const NodeSeed& seed, NodeBase** table, std::uint32_t distance)
      : position_(seed.position),
        velocity_(seed.velocity),
        slots_(seed.slots),
        second_ends_(seed.second_ends),
        number_(seed.number) {
    springs_.fill(nullptr);
    distance_->store(distance, dynasoar::Order::relaxed);
    table[seed.number] = this;
  }

  __device__ Vector position() const { return position_; }
  __device__ bool is_reached() const { return distance_->load(dynasoar::Order::relaxed) != kUnreached; }

  __device__ void attach(std::uint8_t slot, Spring* spring) { springs_[slot] = spring; }
  __device__ void detach(std::uint8_t slot) { springs_[slot] = nullptr; }

  /// A phase of the search: if this node is at `distance`, its neighbours are at most one spring farther away.
  __device__ void reach_neighbors(std::uint32_t distance, Distance* farthest);

  __device__ void die_if_isolated() {
    if (degree() == 0) dynasoar::destroy(this);
  }

  /// Writes the state and the number of springs to this node's entries, for the host.
  __device__ void report(NodeState* states, std::uint32_t* degrees);

 private:
  __device__ std::uint32_t degree() const {
    std::uint32_t springs = 0;
    for (std::uint32_t s = 0; s < slots_; ++s) springs += springs_[s] != nullptr;
    return springs;
  }
};

/// A node that stays where it is.
class AnchorNode : public NodeBase {
 public:
  using BaseClass = NodeBase;
  DYNASOAR_FIELDS(AnchorNode);

  __device__ AnchorNode(std::size_t index, const NodeSeed* seeds, NodeBase** table)
      : NodeBase(seeds[index], table, 0) {}  // at distance 0 for good
};

/// An anchor that moves at its own velocity, whatever its springs do.
class AnchorPullNode : public AnchorNode {
 public:
  using BaseClass = AnchorNode;
  DYNASOAR_FIELDS(AnchorPullNode);
  using AnchorNode::AnchorNode;

  __device__ void pull(Physics physics) { position_ = position() + velocity_ * physics.time_step; }
};

/// A node that moves under the forces of its springs.
class Node : public NodeBase {
 public:
  using BaseClass = NodeBase;
  DYNASOAR_FIELDS(Node);

  __device__ Node(std::size_t index, const NodeSeed* seeds, NodeBase** table)
      : NodeBase(seeds[index], table, kUnreached) {}

  __device__ void move(Physics physics) {
    const Vector new_velocity = velocity_ + total_force() * physics.velocity_per_force;
    velocity_ = new_velocity;
    position_ = position() + new_velocity * physics.time_step;
  }

  /// After a search: resets the distance for the next one.
  __device__ void clean_up() {
    distance_->store(kUnreached, dynasoar::Order::relaxed);
    die_if_isolated();
  }

 private:
  __device__ Vector total_force() const;
};

/// A spring's parameters. A GPU reads both numbers at once.
struct alignas(8) Elasticity {
  float factor;
  float rest_length;
};

class Spring : public dynasoar::SoaBase<AllocatorT> {
 public:
  using End = CompressedPointer<NodeBase>;
  DYNASOAR_FIELDS(Spring, (first_, End), (second_, End),  // its ends
                  (elasticity_, Elasticity),              //
                  (force_, Vector),                       // on the first end; the opposite on the second
                  (first_slot_, std::uint8_t), (second_slot_, std::uint8_t), (number_, std::uint32_t));

  /// Makes a spring from its seed, between existing nodes.
  __device__ Spring(std::size_t index, const SpringSeed* seeds, NodeBase* const* table)
      : Spring(seeds[index].number, seeds[index].placed, table) {}

  __device__ Spring(std::uint32_t number, const PlacedSpring& seed, NodeBase* const* table)
      : first_(table[seed.spring.first]),
        second_(table[seed.spring.second]),
        elasticity_({seed.spring.factor, seed.spring.rest_length}),
        force_(Vector{}),
        first_slot_(seed.first_slot),
        second_slot_(seed.second_slot),
        number_(number) {
    first()->attach(seed.first_slot, this);
    second()->attach(seed.second_slot, this);
  }

  __device__ NodeBase* first() const { return first_; }
  __device__ NodeBase* second() const { return second_; }
  __device__ Vector force() const { return force_; }

  __device__ void compute_force(Physics physics) {
    const NodeBase *const first = first_, *const second = second_;
    const Elasticity own = elasticity_;
    const Pull pull = pull_of(first->position(), second->position(), own.factor, own.rest_length, physics.strength);
    if (pull.breaks) {
      disappear();
    } else {
      force_ = pull.force;
    }
  }

  /// Either both ends are reached, or neither.
  __device__ void disappear_if_unreached() {
    if (!first()->is_reached()) disappear();
  }

  __device__ void report(std::uint8_t* exists) { exists[number_] = 1; }

 private:
  __device__ void disappear() {
    first()->detach(first_slot_);
    second()->detach(second_slot_);
    dynasoar::destroy(this);
  }
};

__device__ inline void NodeBase::reach_neighbors(std::uint32_t distance, Distance* farthest) {
  if (distance_->load(dynasoar::Order::relaxed) != distance) return;
  const std::uint32_t second_ends = second_ends_;
  for (std::uint32_t s = 0; s < slots_; ++s) {
    const Spring* const spring = springs_[s];
    if (spring == nullptr) continue;
    NodeBase* const neighbor = (second_ends >> s & 1) != 0 ? spring->first() : spring->second();
    reach(neighbor->distance_, distance + 1, *farthest);
  }
}

__device__ inline Vector Node::total_force() const {
  constexpr std::uint32_t kAtOnce = 4;  // so that a GPU reads several springs before it waits for one
  static_assert(kSpringSlots % kAtOnce == 0);
  const std::uint32_t second_ends = second_ends_;
  Vector total;
  for (std::uint32_t s = 0; s < slots_; s += kAtOnce) {
    const Spring* springs[kAtOnce];
    Vector forces[kAtOnce];
    for (std::uint32_t i = 0; i < kAtOnce; ++i) springs[i] = springs_[s + i];
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      if (springs[i] != nullptr) forces[i] = springs[i]->force();
    }
    // Adding the 0 of an empty slot changes nothing, because the sum is never -0.
    for (std::uint32_t i = 0; i < kAtOnce; ++i) {
      total = (second_ends >> (s + i) & 1) != 0 ? total - forces[i] : total + forces[i];
    }
  }
  return total;
}

__device__ inline void NodeBase::report(NodeState* states, std::uint32_t* degrees) {
  Kind kind = Kind::free;
  if (dynasoar::is_a<AnchorNode>(this)) kind = dynasoar::is_a<AnchorPullNode>(this) ? Kind::pulled : Kind::anchor;
  states[number_] = {kind, position_, velocity_};
  degrees[number_] = degree();
}

/// A sufficient heap for a network, and hardly larger. Objects may be anywhere in a heap, and a GPU takes longer to
/// read objects that are far apart.
std::size_t heap_bytes_for(const Network& network) {
  const auto nodes = [&](Kind kind) {
    return static_cast<std::size_t>(std::count_if(network.nodes.begin(), network.nodes.end(),
                                                  [kind](const NodeState& node) { return node.kind == kind; }));
  };
  // All objects are created by parallel_new, which fills blocks. Only its last warps leave some of them half empty.
  const auto room = [](std::size_t objects) { return objects + std::min(64 * objects, std::size_t{1} << 16); };
  return AllocatorT::heap_bytes_for<Node>(room(nodes(Kind::free))) +
         AllocatorT::heap_bytes_for<AnchorNode>(room(nodes(Kind::anchor))) +
         AllocatorT::heap_bytes_for<AnchorPullNode>(room(nodes(Kind::pulled))) +
         AllocatorT::heap_bytes_for<Spring>(room(network.springs.size())) + AllocatorT::least_heap_bytes();
}

class Simulation final : public app::ObjectSimulation<Simulation, structure::Simulation, AllocatorT> {
 public:
  Simulation(const Parameters& parameters, const Network& network)
      : ObjectSimulation(parameters, heap_bytes_for(network), "network",
                         {"anchors move", "forces and breaking", "nodes move", "search", "deletion"}),
        options_(options_of(parameters, network)),
        start_(network),
        physics_(Physics::of(parameters)) {
    log().add<Spring>(dynasoar::totals::count("springs"));
    log().add<NodeBase>(dynasoar::totals::count("nodes"));
    build(assign_slots(network));
  }

  /// The host decides when the search ends, so only the loops before and after it are recorded.
  void step() override {
    begin_step();
    run_recorded([this] { relax(); }, 0);
    search_anchored();
    end_phase(3);
    run_recorded([this] { remove_unreached(); }, 1);
  }

  std::vector<Census> take_history() override { return app::censuses_of<Census>(take_rows()); }

  Network network() override {
    Network now = start_;
    now.nodes = report().states.download();
    dynasoar::DeviceArray<std::uint8_t> exists(now.springs.size());
    exists.fill_bytes(0);
    handle().parallel_do<&Spring::report>(exists.data());
    synchronize();
    const std::vector<std::uint8_t> alive = exists.download();
    for (std::size_t s = 0; s < alive.size(); ++s) now.springs[s].exists = alive[s] != 0;
    return now;
  }

  std::vector<std::uint32_t> degrees() override { return report().degrees.download(); }

  const app::SavedOptions& saved_options() const { return options_; }

  void add_arrays(dynasoar::CheckpointItems&) const {}

  dynasoar::Columns read_columns() { return handle().all_columns<NodeBase>(); }

  static constexpr app::Rgb kBackground = kPaper;

  void paint_on(const app::Canvas& canvas) {
    const TensionColors tensions = kTensions;
    const float strength = physics_.strength;
    handle().parallel_do<Spring>([=] __device__(Spring * spring) {
      const Vector from = spring->first()->position();
      const Vector to = spring->second()->position();
      const double share = strength > 0 ? length(spring->force()) / strength : 0;
      canvas.line(from.x, from.y, to.x, to.y, app::ramp(tensions, share),
                  1 + static_cast<std::uint32_t>(253 * (1 - (share < 1 ? share : 1))));
    });
    const app::Rgb pulled = kPulled;
    const app::Rgb anchor = kAnchor;
    handle().parallel_do<AnchorNode>([=] __device__(AnchorNode * node) {
      const Vector at = node->position();
      canvas.dot(at.x, at.y, 2, dynasoar::is_a<AnchorPullNode>(node) ? pulled : anchor, 0);
    });
  }

 private:
  /// The states of the nodes, by number.
  struct Reports {
    dynasoar::DeviceArray<NodeState> states;
    dynasoar::DeviceArray<std::uint32_t> degrees;
  };

  void build(const Slots& slots) {
    std::vector<std::uint32_t> second_ends(start_.nodes.size());
    std::vector<SpringSeed> springs;
    for (std::size_t s = 0; s < slots.springs.size(); ++s) {
      const PlacedSpring& placed = slots.springs[s];
      if (!placed.spring.exists) continue;
      second_ends[placed.spring.second] |= std::uint32_t{1} << placed.second_slot;
      springs.push_back({static_cast<std::uint32_t>(s), placed});
    }
    const auto seeds_of = [&](Kind kind) {
      std::vector<NodeSeed> seeds;
      for (std::size_t n = 0; n < start_.nodes.size(); ++n) {
        const NodeState& node = start_.nodes[n];
        if (node.kind != kind) continue;
        seeds.push_back({static_cast<std::uint32_t>(n), second_ends[n], node.position, node.velocity, slots.used[n]});
      }
      return seeds;
    };
    const dynasoar::DeviceArray<NodeBase*> table(start_.nodes.size());
    create<Node>(seeds_of(Kind::free), table.data());
    create<AnchorNode>(seeds_of(Kind::anchor), table.data());
    create<AnchorPullNode>(seeds_of(Kind::pulled), table.data());
    create<Spring>(springs, static_cast<NodeBase* const*>(table.data()));
  }

  /// Makes an object from each seed. All exist when this returns.
  template <class T, class Seed, class Table>
  void create(const std::vector<Seed>& seeds, Table table) {
    if (seeds.empty()) return;
    dynasoar::DeviceArray<Seed> on_device(seeds.size());
    on_device.upload(seeds);
    handle().parallel_new<T>(seeds.size(), static_cast<const Seed*>(on_device.data()), table);
    synchronize();
  }

  void relax() {
    dynasoar::Executor& executor = handle().executor();
    handle().parallel_do<&AnchorPullNode::pull>(physics_);
    clock().end_phase(executor, 0);
    for (int i = 0; i < kRelaxations; ++i) {
      handle().parallel_do<&Spring::compute_force>(physics_);
      clock().end_phase(executor, 1);
      handle().parallel_do<&Node::move>(physics_);
      clock().end_phase(executor, 2);
    }
  }

  void remove_unreached() {
    handle().parallel_do<&Spring::disappear_if_unreached>();
    handle().parallel_do<&Node::clean_up>();
    handle().parallel_do<AnchorNode, &NodeBase::die_if_isolated>();
    end_phase(4);
  }

  /// Gives every free node its distance from the nearest anchor, if springs connect them. @pre no free node has one
  void search_anchored() {
    const auto kept = handle().keep_lists();  // nothing is destroyed meanwhile
    search_.run([this](std::uint32_t distance, Distance* farthest) {
      if (distance == 0) {
        handle().parallel_do<AnchorNode, &NodeBase::reach_neighbors>(distance, farthest);
      } else {
        handle().parallel_do<Node, &NodeBase::reach_neighbors>(distance, farthest);
      }
    });
  }

  Reports report() {
    Reports reports{dynasoar::DeviceArray<NodeState>(start_.nodes.size()),
                    dynasoar::DeviceArray<std::uint32_t>(start_.nodes.size())};
    reports.states.upload(std::vector<NodeState>(start_.nodes.size()));
    reports.degrees.fill_bytes(0);
    handle().parallel_do<NodeBase, &NodeBase::report>(reports.states.data(), reports.degrees.data());
    synchronize();
    return reports;
  }

  static app::SavedOptions options_of(const Parameters& parameters, const Network& network) {
    app::InputSum sum;
    for (const NodeState& node : network.nodes) {
      sum.add(node.kind, node.position.x, node.position.y, node.velocity.x, node.velocity.y);
    }
    for (const SpringState& spring : network.springs) {
      sum.add(spring.first, spring.second, spring.factor, spring.rest_length);
    }
    return app::SavedOptions()
        .add("--strength", parameters.strength)
        .add("--mass", parameters.mass)
        .add("--seed, --mesh, and what a network is made with", sum);
  }

  app::SavedOptions options_;
  Network start_;
  Physics physics_;
  Search search_;
};

std::unique_ptr<structure::Simulation> make(const Parameters& parameters, const Network& network) {
  return std::make_unique<Simulation>(parameters, network);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace structure::springs
