/// @file
/// DenseNetwork: the host part of the hand-written baselines, which keep nodes and springs in arrays and do not
/// allocate memory during a run. Their memory and algorithms differ, see baselines.cpp and fused_baseline.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/census_history.h>
#include <app/dense_simulation.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "network.h"
#include "rules.h"
#include "search.h"
#include "simulation.h"

namespace structure {

__host__ __device__ constexpr bool is_anchor(Kind kind) {
  return kind == Kind::anchor || kind == Kind::pulled;
}

/// Node and spring numbers have 32 bits, loop indices 64.
__host__ __device__ constexpr std::uint32_t index(std::size_t i) {
  return static_cast<std::uint32_t>(i);
}

/// The sizes of arrays.
struct DenseSize {
  std::uint32_t nodes;
  std::uint32_t springs;
  std::uint32_t slots;  ///< the most slots that a node uses
};

/// Counts a node and its spring ends. @tparam View   as in DenseNetwork
template <class View>
struct CountDense {
  View network;

  __device__ void operator()(std::size_t n, app::Tally<Census>& tally) const {
    if (!network.is_there(index(n))) return;
    tally.of[0] += network.degree(index(n));
    ++tally.of[1];
  }
};

/// A simulation in arrays.
///
/// @tparam Loops   owns the arrays and contains the algorithm. Constructible from a DenseSize and Physics.
///                 - `relaxation_phases()`, static: names of the phases of the relaxations.
///                 - `relax(executor, clock)` submits all relaxations of a step, and ends their phases: 1, 2, ...
///                 - `remove_unreached(executor)` is called after the search. It submits the loops that delete springs
///                   and nodes, and reset the distances of free nodes for the next search.
///                 - `view()`: the data of the loops, passed to the device by value, a Loops::View with device
///                   functions for nodes n and springs s: `init_node(n, state, slots)` with the number of slots that
///                   the node uses; after all of these `init_spring(s, placed)`; `pull(n)`;
///                   `reach_neighbors(n, distance, farthest)`, a phase of the search; `is_there(n)`; `degree(n)`, 0 if
///                   the node is deleted; `state(n)`; `exists(s)`.
template <class Loops>
class DenseNetwork final : public app::DenseSimulation<Simulation> {
 public:
  DenseNetwork(const Parameters& parameters, const Network& network, const Slots& slots)
      : DenseSimulation(parameters, phase_names()),
        start_(network),
        nodes_(index(network.nodes.size())),
        springs_(index(network.springs.size())),
        loops_(DenseSize{nodes_, springs_, slots.most}, Physics::of(parameters)) {
    build(slots);
  }

  /// The host decides when the search ends, so only the loops before and after it are recorded.
  void step() override {
    begin_step();
    const std::size_t search_phase = phase_names().size() - 2;
    run_recorded([this] { relax(); }, 0);
    search_anchored();
    end_phase(search_phase);
    run_recorded([this] { loops_.remove_unreached(executor()); }, 1);
    end_phase(search_phase + 1);
  }

  void record() override { history_.record(executor(), nodes_, CountDense<View>{loops_.view()}); }

  std::vector<Census> take_history() override {
    std::vector<Census> history = history_.take(executor());
    for (Census& census : history) census.springs /= 2;  // their ends were counted
    return history;
  }

  Network network() override {
    const View all = loops_.view();
    Network now = start_;
    now.nodes = app::collect<NodeState>(executor(), nodes_, [=] __device__(std::uint32_t n) { return all.state(n); });
    const std::vector<std::uint8_t> alive = app::collect<std::uint8_t>(
        executor(), springs_, [=] __device__(std::uint32_t s) { return static_cast<std::uint8_t>(all.exists(s)); });
    for (std::size_t s = 0; s < alive.size(); ++s) now.springs[s].exists = alive[s] != 0;
    return now;
  }

  std::vector<std::uint32_t> degrees() override {
    const View all = loops_.view();
    return app::collect<std::uint32_t>(executor(), nodes_, [=] __device__(std::uint32_t n) { return all.degree(n); });
  }

  // Public, because nvcc requires this of functions that contain a device lambda.

  void build(const Slots& slots) {
    dynasoar::DeviceArray<NodeState> states(nodes_);
    dynasoar::DeviceArray<std::uint8_t> used(nodes_);
    dynasoar::DeviceArray<PlacedSpring> placed(springs_);
    states.upload(start_.nodes);
    used.upload(slots.used);
    placed.upload(slots.springs);
    const NodeState* const state = states.data();
    const std::uint8_t* const use = used.data();
    const PlacedSpring* const place = placed.data();
    const View all = loops_.view();
    for_each(nodes_, [=] __device__(std::uint32_t n) { all.init_node(n, state[n], use[n]); });
    for_each(springs_, [=] __device__(std::uint32_t s) { all.init_spring(s, place[s]); });
    synchronize();
  }

  void relax() {
    const View all = loops_.view();
    run_phase(0, nodes_, [=] __device__(std::uint32_t n) { all.pull(n); });
    loops_.relax(executor(), clock());
  }

  void search_anchored() {
    search_.run([this](std::uint32_t distance, Distance* farthest) { submit_phase(distance, farthest); });
  }

  void submit_phase(std::uint32_t distance, Distance* farthest) {
    const View all = loops_.view();
    for_each(nodes_, [=] __device__(std::uint32_t n) { all.reach_neighbors(n, distance, farthest); });
  }

 private:
  using View = typename Loops::View;

  static app::PhaseNames phase_names() {
    app::PhaseNames names = Loops::relaxation_phases();
    names.insert(names.begin(), "anchors move");
    names.insert(names.end(), {"search", "deletion"});
    return names;
  }

  Network start_;
  std::uint32_t nodes_;
  std::uint32_t springs_;
  Loops loops_;
  Search search_;
  app::CensusHistory<Census> history_;
};

}  // namespace structure
