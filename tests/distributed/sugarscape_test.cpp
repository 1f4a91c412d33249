/// @file
/// Sugarscape on several ranks: the classes and loops of apps/sugarscape, unchanged, compute the landscape of the
/// sequential reference. The lattice has edges, and agents look, move and propose two rows away.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>
#include <dynasoar/distributed.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/step_value.h>

#include "model_runs.h"
#include "sugarscape/placed_agents.h"
#include "sugarscape/simulation.h"

namespace {

using namespace dynasoar::test;
using namespace sugarscape;
using namespace sugarscape::placed;

struct WriteState {
  Landscape land;
  CellState* cells;
  __device__ void operator()(dynasoar::Place place) const {
    const std::uint32_t c = Landscape::number(place);
    cells[c] = land.state(c);
  }
};

class DividedLandscape {
 public:
  DividedLandscape(const Parameters& parameters, const dynasoar::DistributedLatticeOptions& options)
      : exchanges_once_(options.halo >= 22),
        seed_{parameters.seed},
        handle_(world(), {.heap_bytes = AllocatorT::least_heap_bytes()}),
        lattice_(handle_, {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)},
                 options),
        now_(handle_.local().executor(), 0) {
    lattice_.parallel_for({}, Populate{seed_, Thresholds::of(parameters.males, parameters.females)});
  }

  void step() {
    now_.add(1);
    const Landscape land{seed_, now_.view()};
    update(exchanges_once_ ? 22 : 0);
    lattice_.parallel_do<&Cell::grow>({});
    update(2);
    lattice_.parallel_do<&Cell::receive>({.reads = 2});
    lattice_.parallel_do<Agent, &Agent::live>({});
    update(4);
    lattice_.parallel_do<Agent, &Agent::ask>({.reads = 2, .writes = 2}, land);
    update(4);
    lattice_.parallel_do<Agent>({.reads = 2, .writes = 2}, Move{}, land);
    update(4);
    lattice_.parallel_do<&Male::propose>({.reads = 2, .writes = 2});
    update(4);
    lattice_.parallel_do<&Male::ask_for_cradle>({.reads = 2, .writes = 2}, land);
    update(4);
    lattice_.parallel_do<&Male::have_child>({.reads = 2, .writes = 2}, land);
    CHECK_FALSE(handle_.synchronize());
  }

  std::vector<CellState> cells() {
    const auto cells = blank_cells<CellState>(lattice_.shape());
    lattice_.local().parallel_for(WriteState{{seed_, now_.view()}, cells.data()});
    handle_.synchronize();
    return of_all_ranks(cells);
  }

  dynasoar::DistributedLattice<Cell, Male, Female>& lattice() { return lattice_; }

 private:
  /// Before loops that reach so many rows away in all.
  void update(int reach) {
    if (lattice_.valid() < reach) lattice_.exchange();
  }

  bool exchanges_once_;  // in a step
  Seed seed_;
  dynasoar::DistributedHandle<AllocatorT> handle_;
  dynasoar::DistributedLattice<Cell, Male, Female> lattice_;
  dynasoar::StepValue<std::uint32_t> now_;
};

}  // namespace

TEST_CASE("Sugarscape is the same landscape on any number of ranks") {
  constexpr int kSteps = 30;
  Parameters parameters;
  parameters.width = 66;
  parameters.height = 180;
  const auto reference = make_reference(parameters);
  for (int step = 0; step < kSteps; ++step) reference->step();
  const std::vector<CellState> expected = reference->cells();
  std::size_t agents[3] = {}, children = 0;
  for (const CellState& cell : expected) {
    ++agents[cell.kind];
    if (cell.kind != kFree && cell.age < kSteps) ++children;
  }
  REQUIRE(agents[kMale] > 50);
  REQUIRE(agents[kFemale] > 50);
  REQUIRE(children > 50);
  constexpr std::size_t kSpare = dynasoar::kChecked ? 2 : 0;  // rows that exchanges compare with those of their owners
  const bool may_be_peers = !dynasoar::kCudaBackend && world().local_size() == world().size();
  const auto check = [&](std::size_t halo, dynasoar::Transport transport) {
    check_model<DividedLandscape>(
        parameters, {.periodic = {false, false}, .halo = halo + kSpare, .transport = transport}, kSteps, expected);
  };
  check(4, dynasoar::Transport::automatic);  // exchanges before almost every loop
  check(22, may_be_peers ? dynasoar::Transport::peer : dynasoar::Transport::automatic);  // one exchange in a step
}
