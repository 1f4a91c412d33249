/// @file
/// DenseNetwork: the model as one writes it by hand for speed, without dynamic allocation. The algorithm of both
/// baselines; they differ in how a node lies in memory (soa_baseline.cpp, aos_baseline.cpp).
///
/// There are no springs, only nodes, which know for each of their slots the neighbour and the spring's numbers. Both
/// ends compute a spring's force: rounding does not depend on the side from which one looks, so they agree on it and on
/// when the spring breaks, without asking each other. One loop then does what takes two with springs. Positions are
/// kept twice: a loop reads one set and writes the other.
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

/// The neighbour in a slot without a spring.
inline constexpr std::uint32_t kNobody = 0xFFFFFFFF;

/// Everything that a loop over the nodes needs, passed to the device by value.
///
/// @tparam Layout   where a node's state lies: `kind(n)`, `position(n, buffer)` with buffer 0 or 1, `velocity(n)`,
///                  `distance(n)`, and for slots s < `slots()` `neighbor(n, s)`, `factor(n, s)` and `rest_length(n, s)`
///                  return references
template <class Layout>
struct DenseStep {
  Layout nodes;
  Physics physics;

  __device__ void init(std::uint32_t n, const NodeState& state) const {
    nodes.kind(n) = state.kind;
    nodes.velocity(n) = state.velocity;
    place(n, state.position);
    nodes.distance(n).store(is_anchor(state.kind) ? 0 : kUnreached, dynasoar::Order::relaxed);
    for (std::uint32_t s = 0; s < nodes.slots(); ++s) nodes.neighbor(n, s) = kNobody;
  }

  __device__ void attach(const PlacedSpring& placed) const {
    const SpringState& spring = placed.spring;
    if (!spring.exists) return;
    attach(spring.first, placed.first_slot, spring.second, spring);
    attach(spring.second, placed.second_slot, spring.first, spring);
  }

  __device__ void pull(std::uint32_t n) const {
    if (nodes.kind(n) == Kind::pulled) place(n, nodes.position(n, 0) + nodes.velocity(n) * physics.time_step);
  }

  /// Springs pull or break, and the node moves if it is free.
  ///
  /// @param now   the buffer with the present positions
  __device__ void move(std::uint32_t n, std::uint32_t now) const {
    const Kind kind = nodes.kind(n);
    if (kind == Kind::gone) return;
    const Vector here = nodes.position(n, now);
    Vector force;
    for (std::uint32_t s = 0; s < nodes.slots(); ++s) {
      const std::uint32_t neighbor = nodes.neighbor(n, s);
      if (neighbor == kNobody) continue;
      const Pull pull =
          pull_of(here, nodes.position(neighbor, now), nodes.factor(n, s), nodes.rest_length(n, s), physics.strength);
      if (pull.breaks) {
        nodes.neighbor(n, s) = kNobody;
      } else {
        force = force + pull.force;
      }
    }
    if (kind != Kind::free) return;
    const Vector velocity = nodes.velocity(n) + force * physics.velocity_per_force;
    nodes.velocity(n) = velocity;
    nodes.position(n, 1 - now) = here + velocity * physics.time_step;
  }

  __device__ void reach_neighbors(std::uint32_t n, std::uint32_t distance, Distance* farthest) const {
    if (nodes.distance(n).load(dynasoar::Order::relaxed) != distance) return;
    for (std::uint32_t s = 0; s < nodes.slots(); ++s) {
      const std::uint32_t neighbor = nodes.neighbor(n, s);
      if (neighbor != kNobody) reach(nodes.distance(neighbor), distance + 1, *farthest);
    }
  }

  /// After the search: drops springs that no anchor holds, and the node if it has none left. Free nodes forget their
  /// distances, for the next search.
  __device__ void clean_up(std::uint32_t n) const {
    const Kind kind = nodes.kind(n);
    if (kind == Kind::gone) return;
    if (nodes.distance(n).load(dynasoar::Order::relaxed) == kUnreached) {
      for (std::uint32_t s = 0; s < nodes.slots(); ++s) nodes.neighbor(n, s) = kNobody;
    }
    if (degree(n) == 0) nodes.kind(n) = Kind::gone;
    if (!is_anchor(kind)) nodes.distance(n).store(kUnreached, dynasoar::Order::relaxed);
  }

  __device__ std::uint32_t degree(std::uint32_t n) const {
    std::uint32_t springs = 0;
    for (std::uint32_t s = 0; s < nodes.slots(); ++s) springs += nodes.neighbor(n, s) != kNobody;
    return springs;
  }

  __device__ NodeState state(std::uint32_t n) const {
    const Kind kind = nodes.kind(n);
    if (kind == Kind::gone) return {};
    return {kind, nodes.position(n, 0), nodes.velocity(n)};
  }

  __device__ bool exists(const PlacedSpring& placed) const {
    return placed.spring.exists && nodes.neighbor(placed.spring.first, placed.first_slot) != kNobody;
  }

 private:
  __device__ static bool is_anchor(Kind kind) { return kind == Kind::anchor || kind == Kind::pulled; }

  /// To both buffers: anchors are not written in move().
  __device__ void place(std::uint32_t n, Vector position) const {
    nodes.position(n, 0) = position;
    nodes.position(n, 1) = position;
  }

  __device__ void attach(std::uint32_t n, std::uint32_t slot, std::uint32_t neighbor, const SpringState& spring) const {
    nodes.neighbor(n, slot) = neighbor;
    nodes.factor(n, slot) = spring.factor;
    nodes.rest_length(n, slot) = spring.rest_length;
  }
};

/// A thread's share of counting nodes and ends of springs. The sums are spread over several words, so that neighbouring
/// threads add to different ones.
template <class Layout>
struct CountDense {
  static constexpr std::uint32_t kSums = 32;
  static constexpr std::uint32_t kMostThreads = 1 << 16;
  using Sum = dynasoar::AtomicWord<std::uint64_t>;

  DenseStep<Layout> network;
  Sum* sums;  // [2 * kSums] nodes, then ends of springs
  std::uint32_t nodes;
  std::uint32_t threads;

  __device__ void operator()(std::size_t i) const {
    std::uint64_t alive = 0;
    std::uint64_t ends = 0;
    for (std::size_t n = i; n < nodes; n += threads) {
      if (network.nodes.kind(static_cast<std::uint32_t>(n)) == Kind::gone) continue;
      ++alive;
      ends += network.degree(static_cast<std::uint32_t>(n));
    }
    // Relaxed: the sums are read by the host, after it has waited for this loop.
    sums[i % kSums].fetch_add(alive, dynasoar::Order::relaxed);
    sums[kSums + i % kSums].fetch_add(ends, dynasoar::Order::relaxed);
  }
};

/// A simulation whose nodes lie in `Storage`.
///
/// @tparam Storage   owns the nodes: constructible from their number and that of their slots; `layout()` is the
/// device's
///                   view, a Layout as in DenseStep
template <class Storage>
class DenseNetwork final : public Simulation {
  static_assert(kRelaxations % 2 == 0, "a step must end with the present positions in buffer 0");
  using Layout = typename Storage::Layout;

 public:
  DenseNetwork(const Parameters& parameters, const Network& network, const Slots& slots)
      : start_(network),
        count_(static_cast<std::uint32_t>(network.nodes.size())),
        executor_(parameters.threads),
        nodes_(count_, slots.most),
        springs_(slots.springs.size()),
        sums_(2 * CountDense<Layout>::kSums),
        physics_(Physics::of(parameters)),
        clock_(parameters.profile_every, {"anchors move", "forces, breaking, moving", "search", "deletion"}) {
    springs_.upload(slots.springs);
    build();
  }

  void step() override {
    const auto all = view();
    clock_.begin_step(executor_);
    executor_.for_each_index(count_, [=] __device__(std::size_t n) { all.pull(index(n)); });
    clock_.end_phase(executor_, 0);
    for (std::uint32_t i = 0; i < kRelaxations; ++i) {
      executor_.for_each_index(count_, [=] __device__(std::size_t n) { all.move(index(n), i % 2); });
    }
    clock_.end_phase(executor_, 1);
    search_anchored();
    clock_.end_phase(executor_, 2);
    executor_.for_each_index(count_, [=] __device__(std::size_t n) { all.clean_up(index(n)); });
    clock_.end_phase(executor_, 3);
  }

  void record() override {
    const std::uint32_t threads = std::min(count_, CountDense<Layout>::kMostThreads);
    sums_.fill_bytes(0);
    executor_.for_each_index(threads, CountDense<Layout>{view(), sums_.data(), count_, threads});
    executor_.synchronize();
    Census census;
    std::size_t i = 0;
    for (const Sum& sum : sums_.download()) {
      const std::uint64_t value = sum.load(dynasoar::Order::relaxed);
      (i++ < CountDense<Layout>::kSums ? census.nodes : census.springs) += value;
    }
    census.springs /= 2;
    history_.push_back(census);
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<Census> take_history() override { return std::exchange(history_, {}); }

  Network network() override {
    const dynasoar::DeviceArray<NodeState> states(count_);
    const dynasoar::DeviceArray<std::uint8_t> exists(springs_.size());
    NodeState* const state = states.data();
    std::uint8_t* const exist = exists.data();
    const PlacedSpring* const springs = springs_.data();
    const auto all = view();
    executor_.for_each_index(count_, [=] __device__(std::size_t n) { state[n] = all.state(index(n)); });
    executor_.for_each_index(springs_.size(), [=] __device__(std::size_t s) { exist[s] = all.exists(springs[s]); });
    executor_.synchronize();
    Network now = start_;
    now.nodes = states.download();
    const std::vector<std::uint8_t> alive = exists.download();
    for (std::size_t s = 0; s < alive.size(); ++s) now.springs[s].exists = alive[s] != 0;
    return now;
  }

  std::vector<std::uint32_t> degrees() override {
    const dynasoar::DeviceArray<std::uint32_t> degrees(count_);
    std::uint32_t* const degree = degrees.data();
    const auto all = view();
    executor_.for_each_index(count_, [=] __device__(std::size_t n) { degree[n] = all.degree(index(n)); });
    executor_.synchronize();
    return degrees.download();
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

  /// Public, like all that contains a device lambda: nvcc does not take it elsewhere.
  void build() {
    dynasoar::DeviceArray<NodeState> states(count_);
    states.upload(start_.nodes);
    const NodeState* const state = states.data();
    const PlacedSpring* const springs = springs_.data();
    const auto all = view();
    executor_.for_each_index(count_, [=] __device__(std::size_t n) { all.init(index(n), state[n]); });
    executor_.for_each_index(springs_.size(), [=] __device__(std::size_t s) { all.attach(springs[s]); });
    executor_.synchronize();
  }

  void search_anchored() {
    const auto all = view();
    search_.run([this, all](std::uint32_t distance, Distance* farthest) { submit_phase(all, distance, farthest); });
  }

  void submit_phase(DenseStep<Layout> all, std::uint32_t distance, Distance* farthest) {
    executor_.for_each_index(count_,
                             [=] __device__(std::size_t n) { all.reach_neighbors(index(n), distance, farthest); });
  }

  /// Node numbers have 32 bits, loop indices 64.
  __host__ __device__ static std::uint32_t index(std::size_t n) { return static_cast<std::uint32_t>(n); }

 private:
  using Sum = typename CountDense<Layout>::Sum;

  DenseStep<Layout> view() const { return {nodes_.layout(), physics_}; }

  Network start_;
  std::uint32_t count_;
  dynasoar::Executor executor_;
  Storage nodes_;
  dynasoar::DeviceArray<PlacedSpring> springs_;
  dynasoar::DeviceArray<Sum> sums_;
  Physics physics_;
  Search search_;
  app::PhaseClock clock_;
  std::vector<Census> history_;
};

}  // namespace structure
