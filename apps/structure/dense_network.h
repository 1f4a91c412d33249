/// @file
/// DenseNetwork: the host's side of the hand-written baselines, which keep nodes and springs in arrays and allocate
/// nothing as they go. What differs, memory and algorithm, is in dense_springs.h (with soa_baseline.cpp and
/// aos_baseline.cpp) and in fused_baseline.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <app/phase_clock.h>
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

/// How large arrays must be.
struct DenseSize {
  std::uint32_t nodes;
  std::uint32_t springs;
  std::uint32_t slots;  ///< used by the node that uses most
};

/// A thread's share of counting nodes and ends of springs. The sums are spread over several words, so that neighbouring
/// threads add to different ones.
///
/// @tparam View   as in DenseNetwork
template <class View>
struct CountDense {
  static constexpr std::uint32_t kSums = 32;
  static constexpr std::uint32_t kMostThreads = 1 << 16;
  using Sum = dynasoar::AtomicWord<std::uint64_t>;

  View network;
  Sum* sums;  // [2 * kSums] nodes, then ends of springs
  std::uint32_t nodes;
  std::uint32_t threads;

  __device__ void operator()(std::size_t i) const {
    std::uint64_t alive = 0;
    std::uint64_t ends = 0;
    for (std::size_t n = i; n < nodes; n += threads) {
      if (!network.is_there(index(n))) continue;
      ++alive;
      ends += network.degree(index(n));
    }
    // Relaxed: the sums are read by the host, after it has waited for this loop.
    sums[i % kSums].fetch_add(alive, dynasoar::Order::relaxed);
    sums[kSums + i % kSums].fetch_add(ends, dynasoar::Order::relaxed);
  }
};

/// A simulation in arrays.
///
/// @tparam Loops   owns the arrays and knows the algorithm. Constructible from a DenseSize and Physics.
///                 - `relaxation_phases()`, static: names of the phases of the relaxations.
///                 - `relax(executor, clock)` submits all relaxations of a step, and ends their phases: 1, 2, ...
///                 - `remove_unreached(executor)` submits, after the search, what deletes springs and nodes, and lets
///                   free nodes forget their distances for the next search.
///                 - `view()`: what loops need, passed to the device by value, a Loops::View with device functions for
///                   nodes n and springs s: `init_node(n, state, slots)` with the number of slots it uses; after all
///                   of these `init_spring(s, placed)`; `pull(n)`; `reach_neighbors(n, distance, farthest)`, a phase of
///                   the search; `is_there(n)`; `degree(n)`, 0 if the node is gone; `state(n)`; `exists(s)`.
template <class Loops>
class DenseNetwork final : public Simulation {
 public:
  DenseNetwork(const Parameters& parameters, const Network& network, const Slots& slots)
      : start_(network),
        nodes_(index(network.nodes.size())),
        springs_(index(network.springs.size())),
        executor_(parameters.threads),
        loops_(DenseSize{nodes_, springs_, slots.most}, Physics::of(parameters)),
        sums_(2 * CountDense<View>::kSums),
        clock_(parameters.profile_every, phase_names()) {
    build(slots);
  }

  void step() override {
    const View all = loops_.view();
    const std::size_t search_phase = phase_names().size() - 2;
    clock_.begin_step(executor_);
    executor_.for_each_index(nodes_, [=] __device__(std::size_t n) { all.pull(index(n)); });
    clock_.end_phase(executor_, 0);
    loops_.relax(executor_, clock_);
    search_anchored();
    clock_.end_phase(executor_, search_phase);
    loops_.remove_unreached(executor_);
    clock_.end_phase(executor_, search_phase + 1);
  }

  void record() override {
    const std::uint32_t threads = std::min(nodes_, CountDense<View>::kMostThreads);
    sums_.fill_bytes(0);
    executor_.for_each_index(threads, CountDense<View>{loops_.view(), sums_.data(), nodes_, threads});
    executor_.synchronize();
    Census census;
    std::size_t i = 0;
    for (const Sum& sum : sums_.download()) {
      const std::uint64_t value = sum.load(dynasoar::Order::relaxed);
      (i++ < CountDense<View>::kSums ? census.nodes : census.springs) += value;
    }
    census.springs /= 2;
    history_.push_back(census);
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<Census> take_history() override { return std::exchange(history_, {}); }

  Network network() override {
    const dynasoar::DeviceArray<NodeState> states(nodes_);
    const dynasoar::DeviceArray<std::uint8_t> exists(springs_);
    NodeState* const state = states.data();
    std::uint8_t* const exist = exists.data();
    const View all = loops_.view();
    executor_.for_each_index(nodes_, [=] __device__(std::size_t n) { state[n] = all.state(index(n)); });
    executor_.for_each_index(springs_, [=] __device__(std::size_t s) { exist[s] = all.exists(index(s)); });
    executor_.synchronize();
    Network now = start_;
    now.nodes = states.download();
    const std::vector<std::uint8_t> alive = exists.download();
    for (std::size_t s = 0; s < alive.size(); ++s) now.springs[s].exists = alive[s] != 0;
    return now;
  }

  std::vector<std::uint32_t> degrees() override {
    const dynasoar::DeviceArray<std::uint32_t> degrees(nodes_);
    std::uint32_t* const degree = degrees.data();
    const View all = loops_.view();
    executor_.for_each_index(nodes_, [=] __device__(std::size_t n) { degree[n] = all.degree(index(n)); });
    executor_.synchronize();
    return degrees.download();
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

  // Public, like all that contains a device lambda: nvcc does not take it elsewhere.

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
    executor_.for_each_index(nodes_, [=] __device__(std::size_t n) { all.init_node(index(n), state[n], use[n]); });
    executor_.for_each_index(springs_, [=] __device__(std::size_t s) { all.init_spring(index(s), place[s]); });
    executor_.synchronize();
  }

  void search_anchored() {
    search_.run([this](std::uint32_t distance, Distance* farthest) { submit_phase(distance, farthest); });
  }

  void submit_phase(std::uint32_t distance, Distance* farthest) {
    const View all = loops_.view();
    executor_.for_each_index(nodes_,
                             [=] __device__(std::size_t n) { all.reach_neighbors(index(n), distance, farthest); });
  }

 private:
  using View = typename Loops::View;
  using Sum = typename CountDense<View>::Sum;

  static app::PhaseNames phase_names() {
    app::PhaseNames names = Loops::relaxation_phases();
    names.insert(names.begin(), "anchors move");
    names.insert(names.end(), {"search", "deletion"});
    return names;
  }

  Network start_;
  std::uint32_t nodes_;
  std::uint32_t springs_;
  dynasoar::Executor executor_;
  Loops loops_;
  dynasoar::DeviceArray<Sum> sums_;
  Search search_;
  app::PhaseClock clock_;
  std::vector<Census> history_;
};

}  // namespace structure
