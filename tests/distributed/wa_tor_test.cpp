/// @file
/// Wa-Tor on several ranks: the classes and loops of apps/wa_tor, unchanged, compute the ocean of the sequential
/// reference.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/distributed.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/step_value.h>

#include "model_runs.h"
#include "wa_tor/placed_agents.h"
#include "wa_tor/simulation.h"

namespace {

using namespace dynasoar::test;
using namespace wa_tor;
using namespace wa_tor::placed;

struct WriteState {
  Ocean ocean;
  CellState* cells;
  __device__ void operator()(dynasoar::Place place) const {
    const std::uint64_t c = Ocean::number(place);
    cells[c] = ocean.state(c);
  }
};

class DividedOcean {
 public:
  DividedOcean(const Parameters& parameters, const dynasoar::DistributedLatticeOptions& options)
      : seed_{parameters.seed},
        handle_(world(), {.heap_bytes = AllocatorT::least_heap_bytes()}),
        lattice_(handle_, {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)},
                 options),
        now_(handle_.local().executor(), 0) {
    lattice_.parallel_for({}, Populate{seed_, Thresholds::of(parameters.fish, parameters.sharks)});
  }

  void step() {
    now_.add(1);
    const Ocean ocean{seed_, now_.view()};
    update(3);
    lattice_.parallel_do<&Fish::ask>({.reads = 1}, ocean);
    lattice_.parallel_for_free_if({.reads = 1, .writes = 1}, dynasoar::AskedFrom<Fish, &Fish::choice_>{},
                                  Take<Fish>{ocean, Decision::fish_accept});
    update(3);
    lattice_.parallel_do<&Shark::ask>({.reads = 1}, ocean);
    lattice_.parallel_for_free_if<Shark>({.reads = 1, .writes = 1}, dynasoar::AskedFrom<Shark, &Shark::choice_>{},
                                         Take<Shark>{ocean, Decision::shark_accept});
    CHECK_FALSE(handle_.synchronize());
  }

  std::vector<CellState> cells() {
    const auto cells = blank_cells<CellState>(lattice_.shape());
    lattice_.local().parallel_for(WriteState{{seed_, now_.view()}, cells.data()});
    handle_.synchronize();
    return of_all_ranks(cells);
  }

  dynasoar::DistributedLattice<Fish, Shark>& lattice() { return lattice_; }

 private:
  /// Before loops that reach so many rows away in all.
  void update(int reach) {
    if (lattice_.valid() < reach) lattice_.exchange();
  }

  Seed seed_;
  dynasoar::DistributedHandle<AllocatorT> handle_;
  dynasoar::DistributedLattice<Fish, Shark> lattice_;
  dynasoar::StepValue<std::uint32_t> now_;
};

/// Whether a cell holds what its number says at the start, and every fish asks for the cell that its number says.
struct StartIsRight {
  Ocean ocean;
  Thresholds thresholds;
  __device__ bool operator()(dynasoar::Place place, std::uint64_t number) const {
    const InitialCell initial = initial_cell(ocean.seed, thresholds, number);
    const CellState state = ocean.state(number);
    return ocean.kind(number) == initial.kind && state.kind == initial.kind &&
           (initial.kind == kFree || state.age == initial.age) && Ocean::number(place) == number;
  }
};

struct ChoiceIsRight {
  Ocean ocean;
  __device__ bool operator()(dynasoar::Place place, std::uint64_t number) const {
    const Fish* const fish = dynasoar::at<Fish>(place);
    if (fish == nullptr) return true;
    const DirectionSet free = Ocean::free_neighbors(place);
    const std::uint32_t right =
        free.empty() ? kStay : choose(free, ocean.seed, Decision::fish_move, number, ocean.step);
    return fish->choice_ == right;
  }
};

}  // namespace

TEST_CASE("cells of an ocean of more than 2^32 have random numbers of their own") {
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = AllocatorT::least_heap_bytes()});
  dynasoar::Lattice<Fish, Shark> rows(handle, FarRows::shape());
  dynasoar::StepValue<std::uint32_t> now(handle.executor(), 0);
  const Ocean ocean{{42}, now.view()};
  const Thresholds thresholds = Thresholds::of(0.25, 0.25);
  rows.parallel_for(Populate{ocean.seed, thresholds});
  CHECK(right_cells<Fish>(handle, rows, StartIsRight{ocean, thresholds}) == FarRows::kCells);
  CHECK(handle.count<Fish>() > 100);
  now.add(1);
  handle.parallel_do<&Fish::ask>(ocean);
  CHECK(right_cells<Fish>(handle, rows, ChoiceIsRight{ocean}) == FarRows::kCells);
}

TEST_CASE("Wa-Tor is the same ocean on any number of ranks") {
  constexpr int kSteps = 24;
  for (const int width : {130, 64}) {
    CAPTURE(width);
    Parameters parameters;
    parameters.width = width;
    parameters.height = 60;
    const auto reference = make_reference(parameters);
    for (int step = 0; step < kSteps; ++step) reference->step();
    const std::vector<CellState> expected = reference->cells();
    std::size_t agents[3] = {};
    for (const CellState& cell : expected) ++agents[cell.kind];
    REQUIRE(agents[kFish] > 50);
    REQUIRE(agents[kShark] > 50);
    check_model<DividedOcean>(parameters, {.halo = 3}, kSteps, expected);  // two exchanges in a step
    check_model<DividedOcean>(parameters, {.halo = 6}, kSteps, expected);  // one
  }
}
