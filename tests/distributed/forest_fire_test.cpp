/// @file
/// The forest fire on several ranks: the classes and loops of apps/forest_fire, unchanged, compute the forest of the
/// sequential reference. Threads handle blocks of 64 places.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/distributed.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/step_value.h>

#include "forest_fire/placed_trees.h"
#include "forest_fire/simulation.h"
#include "model_runs.h"

namespace {

using namespace dynasoar::test;
using namespace forest_fire;
using namespace forest_fire::placed;

struct WriteState {
  Ground* cells;
  __device__ void operator()(dynasoar::Place place) const {
    const std::uint64_t c = number(place);
    cells[c] = View{}.state(c);
  }
};

class DividedForest {
 public:
  DividedForest(const Parameters& parameters, const dynasoar::DistributedLatticeOptions& options)
      : chance_(Chance::of(parameters)),
        handle_(world(), {.heap_bytes = AllocatorT::least_heap_bytes()}),
        lattice_(handle_, {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)},
                 options),
        now_(handle_.local().executor(), 0) {
    lattice_.parallel_new<Tree>(Settle{chance_});
  }

  void step() {
    now_.add(1);
    if (lattice_.valid() < 1) lattice_.exchange();
    lattice_.parallel_for_blocks({.reads = 1}, GrowAndBurn{chance_, now_.view()});
    CHECK_FALSE(handle_.synchronize());
  }

  std::vector<Ground> cells() {
    const auto cells = blank_cells<Ground>(lattice_.shape());
    lattice_.local().parallel_for(WriteState{cells.data()});
    handle_.synchronize();
    return of_all_ranks(cells);
  }

  dynasoar::DistributedLattice<Tree, BurningTree>& lattice() { return lattice_; }

 private:
  Chance chance_;
  dynasoar::DistributedHandle<AllocatorT> handle_;
  dynasoar::DistributedLattice<Tree, BurningTree> lattice_;
  dynasoar::StepValue<std::uint32_t> now_;
};

/// Whether a cell holds what its number says at the start, or after the first step.
struct ForestIsRight {
  Chance chance;
  std::uint32_t step;
  __device__ bool operator()(dynasoar::Place place, std::uint64_t c) const {
    const bool has_tree = chance.starts_with_tree(c);
    Ground right = has_tree ? Ground::tree : Ground::empty;
    if (step > 0 && has_tree && chance.strikes(c, step)) right = Ground::fire;
    if (step > 0 && !has_tree && chance.grows(c, step)) right = Ground::tree;
    const app::StateOfCell<View> state{View{}, c - 7};
    return state(7) == right && number(place) == c;
  }
};

}  // namespace

TEST_CASE("cells of a forest of more than 2^32 have random numbers of their own") {
  Parameters parameters;
  parameters.growth = 0.3;
  parameters.lightning = 0.3;
  const Chance chance = Chance::of(parameters);
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = AllocatorT::least_heap_bytes()});
  dynasoar::Lattice<Tree, BurningTree> rows(handle, FarRows::shape());
  dynasoar::StepValue<std::uint32_t> now(handle.executor(), 0);
  rows.parallel_new<Tree>(Settle{chance});
  CHECK(right_cells<Tree>(handle, rows, ForestIsRight{chance, 0}) == FarRows::kCells);
  now.add(1);
  rows.parallel_for_blocks(GrowAndBurn{chance, now.view()});
  CHECK(right_cells<Tree>(handle, rows, ForestIsRight{chance, 1}) == FarRows::kCells);
  CHECK(handle.count<BurningTree>() > 30);
}

TEST_CASE("the forest fire is the same forest on any number of ranks") {
  constexpr int kSteps = 16;
  for (const int width : {130, 64}) {
    CAPTURE(width);
    Parameters parameters;
    parameters.width = width;
    parameters.height = 60;
    parameters.trees = 0.7;
    parameters.growth = 0.05;
    parameters.lightning = 0.002;
    const auto reference = make_reference(parameters);
    for (int step = 0; step < kSteps; ++step) reference->step();
    const std::vector<Ground> expected = reference->cells();
    REQUIRE(std::count(expected.begin(), expected.end(), Ground::tree) > 50);
    REQUIRE(std::count(expected.begin(), expected.end(), Ground::fire) > 50);
    check_model<DividedForest>(parameters, {.halo = 1}, kSteps, expected);
    check_model<DividedForest>(parameters, {.halo = 5}, kSteps, expected);
  }
}
