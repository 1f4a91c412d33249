/// @file
/// The baseline with another algorithm: one loop per relaxation in place of two, in a structure of arrays.
///
/// There are no springs, only nodes. For each of its slots, a node stores the neighbour and the spring's factor and
/// rest length. Both ends compute the force of a spring. Rounding does not depend on the end, so both find the same
/// force, and the same iteration in which the spring breaks, without communication. So one loop replaces two. Positions
/// are stored twice: a loop reads one set and writes the other.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "dense_network.h"
#include "network.h"
#include "rules.h"
#include "search.h"
#include "simulation.h"

namespace structure {
namespace fused {

/// Stands for no node.
inline constexpr std::uint32_t kNobody = 0xFFFFFFFF;

/// The position of a spring at the start.
struct Place {
  std::uint32_t first;  ///< kNobody if the spring did not exist
  std::uint32_t first_slot;
};

/// The data of the loops over nodes, passed to the device by value.
struct View {
  std::size_t nodes;
  std::uint32_t slots;
  Physics physics;
  Kind* kinds;
  Vector* positions;  // [2 * nodes] two buffers
  Vector* velocities;
  Distance* distances;
  std::uint32_t* neighbors;  // [slots * nodes] kNobody in a slot without a spring
  float* factors;            // [slots * nodes]
  float* rest_lengths;       // [slots * nodes]
  Place* places;             // of springs; for results only

  __device__ void init_node(std::uint32_t n, const NodeState& state, std::uint8_t) const {
    kinds[n] = state.kind;
    velocities[n] = state.velocity;
    place(n, state.position);
    distances[n].store(is_anchor(state.kind) ? 0 : kUnreached, dynasoar::Order::relaxed);
    for (std::uint32_t s = 0; s < slots; ++s) neighbors[at(n, s)] = kNobody;
  }

  __device__ void init_spring(std::uint32_t s, const PlacedSpring& placed) const {
    const SpringState& spring = placed.spring;
    places[s] = {spring.exists ? spring.first : kNobody, placed.first_slot};
    if (!spring.exists) return;
    attach(spring.first, placed.first_slot, spring.second, spring);
    attach(spring.second, placed.second_slot, spring.first, spring);
  }

  __device__ void pull(std::uint32_t n) const {
    if (kinds[n] == Kind::pulled) place(n, positions[n] + velocities[n] * physics.time_step);
  }

  /// Springs pull or break, and the node moves if it is free.
  ///
  /// @param now   the buffer with the present positions
  __device__ void move(std::uint32_t n, std::uint32_t now) const {
    const Kind kind = kinds[n];
    if (kind == Kind::gone) return;
    const Vector* const present = positions + now * nodes;
    const Vector here = present[n];
    Vector force;
    for (std::uint32_t s = 0; s < slots; ++s) {
      const std::uint32_t neighbor = neighbors[at(n, s)];
      if (neighbor == kNobody) continue;
      const Pull pull = pull_of(here, present[neighbor], factors[at(n, s)], rest_lengths[at(n, s)], physics.strength);
      if (pull.breaks) {
        neighbors[at(n, s)] = kNobody;
      } else {
        force = force + pull.force;
      }
    }
    if (kind != Kind::free) return;
    const Vector velocity = velocities[n] + force * physics.velocity_per_force;
    velocities[n] = velocity;
    positions[(1 - now) * nodes + n] = here + velocity * physics.time_step;
  }

  __device__ void reach_neighbors(std::uint32_t n, std::uint32_t distance, Distance* farthest) const {
    if (distances[n].load(dynasoar::Order::relaxed) != distance) return;
    for (std::uint32_t s = 0; s < slots; ++s) {
      const std::uint32_t neighbor = neighbors[at(n, s)];
      if (neighbor != kNobody) reach(distances[neighbor], distance + 1, *farthest);
    }
  }

  /// After the search: deletes springs that are not connected to an anchor, and the node if it has no springs left.
  /// Resets the distances of free nodes for the next search.
  __device__ void clean_up(std::uint32_t n) const {
    const Kind kind = kinds[n];
    if (kind == Kind::gone) return;
    if (distances[n].load(dynasoar::Order::relaxed) == kUnreached) {
      for (std::uint32_t s = 0; s < slots; ++s) neighbors[at(n, s)] = kNobody;
    }
    if (degree(n) == 0) kinds[n] = Kind::gone;
    if (kind == Kind::free) distances[n].store(kUnreached, dynasoar::Order::relaxed);
  }

  __device__ bool is_there(std::uint32_t n) const { return kinds[n] != Kind::gone; }

  __device__ std::uint32_t degree(std::uint32_t n) const {
    std::uint32_t springs = 0;
    for (std::uint32_t s = 0; s < slots; ++s) springs += neighbors[at(n, s)] != kNobody;
    return springs;
  }

  __device__ NodeState state(std::uint32_t n) const {
    if (!is_there(n)) return {};
    return {kinds[n], positions[n], velocities[n]};
  }

  __device__ bool exists(std::uint32_t s) const {
    const Place place = places[s];
    return place.first != kNobody && neighbors[at(place.first, place.first_slot)] != kNobody;
  }

 private:
  __device__ std::size_t at(std::uint32_t n, std::uint32_t slot) const { return slot * nodes + n; }

  /// To both buffers: anchors are not written in move().
  __device__ void place(std::uint32_t n, Vector position) const {
    positions[n] = position;
    positions[nodes + n] = position;
  }

  __device__ void attach(std::uint32_t n, std::uint32_t slot, std::uint32_t neighbor, const SpringState& spring) const {
    neighbors[at(n, slot)] = neighbor;
    factors[at(n, slot)] = spring.factor;
    rest_lengths[at(n, slot)] = spring.rest_length;
  }
};

/// The loops of a DenseNetwork.
class Loops {
  static_assert(kRelaxations % 2 == 0, "a step must end with the present positions in buffer 0");

 public:
  using View = fused::View;

  Loops(DenseSize size, Physics physics)
      : size_(size),
        physics_(physics),
        kinds_(size.nodes),
        positions_(2 * std::size_t{size.nodes}),
        velocities_(size.nodes),
        distances_(size.nodes),
        neighbors_(std::size_t{size.slots} * size.nodes),
        factors_(std::size_t{size.slots} * size.nodes),
        rest_lengths_(std::size_t{size.slots} * size.nodes),
        places_(size.springs) {}

  View view() const {
    return {size_.nodes,       size_.slots,          physics_,          kinds_.data(),
            positions_.data(), velocities_.data(),   distances_.data(), neighbors_.data(),
            factors_.data(),   rest_lengths_.data(), places_.data()};
  }

  static app::PhaseNames relaxation_phases() { return {"forces, breaking, moving"}; }

  void relax(dynasoar::Executor& executor, app::PhaseClock& clock) const {
    const View all = view();
    for (std::uint32_t i = 0; i < kRelaxations; ++i) {
      executor.for_each_index(size_.nodes, [=] __device__(std::size_t n) { all.move(index(n), i % 2); });
    }
    clock.end_phase(executor, 1);
  }

  void remove_unreached(dynasoar::Executor& executor) const {
    const View all = view();
    executor.for_each_index(size_.nodes, [=] __device__(std::size_t n) { all.clean_up(index(n)); });
  }

 private:
  DenseSize size_;
  Physics physics_;
  dynasoar::DeviceArray<Kind> kinds_;
  dynasoar::DeviceArray<Vector> positions_;
  dynasoar::DeviceArray<Vector> velocities_;
  dynasoar::DeviceArray<Distance> distances_;
  dynasoar::DeviceArray<std::uint32_t> neighbors_;
  dynasoar::DeviceArray<float> factors_;
  dynasoar::DeviceArray<float> rest_lengths_;
  dynasoar::DeviceArray<Place> places_;
};

}  // namespace fused

std::unique_ptr<Simulation> make_fused_baseline(const Parameters& parameters, const Network& network) {
  return std::make_unique<DenseNetwork<fused::Loops>>(parameters, network, assign_slots(network));
}

}  // namespace structure
