/// @file
/// Life and Generations on several ranks: the classes and loops of apps/life, unchanged, compute the frame of the
/// sequential reference. Threads handle blocks of 64 places.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/distributed.h>
#include <dynasoar/dynasoar.h>

#include "life/placed_cells.h"
#include "life/simulation.h"
#include "life/start.h"
#include "model_runs.h"

namespace {

using namespace dynasoar::test;
using namespace life;
using namespace life::placed;

struct WriteState {
  std::uint16_t* frame;
  template <class T>
  __device__ void operator()(const T* cell) const {
    frame[cell->index()] = static_cast<std::uint16_t>(cell->state());
  }
};

/// @tparam Ts   Alive, and Dying if the rule has more than two states
template <class... Ts>
class DividedFrame {
 public:
  DividedFrame(const Parameters& parameters, dynasoar::DistributedLatticeOptions options)
      : rule_(parameters.rule),
        start_(parameters),
        handle_(world(), {.heap_bytes = AllocatorT::least_heap_bytes()}),
        lattice_(handle_, {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)},
                 options) {
    lattice_.parallel_for({}, Populate{start_.view()});
  }

  void step() {
    if (lattice_.valid() < 1) lattice_.exchange();
    if constexpr (sizeof...(Ts) > 1) {
      lattice_.parallel_for_blocks({.reads = 1}, LiveAndBeginToDie{rule_});
      lattice_.template parallel_do<&Dying::grow_older>({}, rule_);
    } else {
      lattice_.parallel_for_blocks({.reads = 1}, Live{rule_});
    }
    CHECK_FALSE(handle_.synchronize());
  }

  std::vector<std::uint16_t> cells() {
    const auto cells = blank_cells<std::uint16_t>(lattice_.shape());
    (handle_.local().template parallel_do<Ts>(WriteState{cells.data()}), ...);
    handle_.synchronize();
    return of_all_ranks(cells);
  }

  dynasoar::DistributedLattice<Ts...>& lattice() { return lattice_; }

 private:
  Rule rule_;
  Start start_;
  dynasoar::DistributedHandle<AllocatorT> handle_;
  dynasoar::DistributedLattice<Ts...> lattice_;
};

/// Whether a cell is alive at the start if its number says so.
struct StartIsRight {
  dynasoar::random::Seed seed;
  std::uint64_t alive;
  __device__ bool operator()(dynasoar::Place place, std::uint64_t number) const {
    const bool is_alive = dynasoar::random::words(seed, Decision::initial, number, 0)[0] < alive;
    const Alive* const cell = dynasoar::at<Alive>(place);
    return is_alive == (cell != nullptr) && (cell == nullptr || cell->index() == number);
  }
};

template <class... Ts>
void check_rule(const Rule& rule) {
  constexpr int kSteps = 16;
  for (const Edge edge : {Edge::torus, Edge::dead}) {
    CAPTURE(edge == Edge::torus);
    Parameters parameters;
    parameters.width = 130;
    parameters.height = 60;
    parameters.rule = rule;
    parameters.edge = edge;
    const auto reference = make_reference(parameters);
    for (int step = 0; step < kSteps; ++step) reference->step();
    const std::vector<std::uint16_t> expected = reference->frame().states;
    REQUIRE(std::count(expected.begin(), expected.end(), 1) > 50);
    const bool is_torus = edge == Edge::torus;
    for (const std::size_t halo : {std::size_t{1}, std::size_t{5}}) {
      check_model<DividedFrame<Ts...>>(parameters, {.periodic = {is_torus, is_torus, false}, .halo = halo}, kSteps,
                                       expected);
    }
  }
}

}  // namespace

TEST_CASE("cells of a frame of more than 2^32 have random numbers of their own") {
  constexpr auto kWidth = static_cast<std::uint32_t>(FarRows::kWidth),
                 kHeight = static_cast<std::uint32_t>(FarRows::kHeight);
  const StartView start{nullptr, kWidth, kHeight, 0, kWidth, {42}, std::uint64_t{1} << 31};
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = AllocatorT::least_heap_bytes()});
  dynasoar::Lattice<Alive> rows(handle, FarRows::shape());
  rows.parallel_for(Populate{start});
  CHECK(right_cells<Alive>(handle, rows, StartIsRight{start.seed, start.alive}) == FarRows::kCells);
  CHECK(handle.count<Alive>() > 200);
}

TEST_CASE("Life is the same frame on any number of ranks") {
  check_rule<Alive>({});
}

TEST_CASE("Generations is the same frame on any number of ranks") {
  check_rule<Alive, Dying>({.birth = 1u << 2, .survival = 1u << 3 | 1u << 4 | 1u << 5, .states = 4});
}
