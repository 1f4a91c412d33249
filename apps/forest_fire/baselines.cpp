/// @file
/// The hand-written baselines, without dynamic allocation. A step is one loop over all cells, which reads the states
/// before the step and writes those after it. The two baselines differ only in where the two states of a cell are: in
/// an array for even steps and one for odd steps, or next to each other.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/dense_simulation.h>
#include <app/on_grid.h>
#include <app/torus.h>
#include <dynasoar/platform/memory.h>

#include "rules.h"
#include "simulation.h"

namespace forest_fire {
namespace {

/// The data of the loops over cells, passed to the device by value.
///
/// @tparam Layout   where states are: `ground(c, 0)` is a reference to the state of cell c after even steps, and
///                  `ground(c, 1)` to that after odd steps
template <class Layout>
struct DenseStep {
  Layout cells;
  app::Torus torus;
  Chance chance;
  app::StepNumber step;
  std::uint32_t odd;  ///< step % 2

  __device__ void settle(std::uint32_t c) const {
    cells.ground(c, odd) = chance.starts_with_tree(c) ? Ground::tree : Ground::empty;
  }

  __device__ void advance(std::uint32_t c) const {
    const Ground ground = before(c);
    Ground next = Ground::empty;
    if (ground != Ground::fire) {
      const bool has_tree = ground == Ground::tree;
      const bool happens = chance.strikes_or_grows(has_tree, c, step);
      if (has_tree) {
        next = happens || has_burning_neighbour(c) ? Ground::fire : Ground::tree;
      } else if (happens) {
        next = Ground::tree;
      }
    }
    cells.ground(c, odd) = next;
  }

 private:
  __device__ Ground before(std::uint32_t c) const { return cells.ground(c, 1 - odd); }

  __device__ bool has_burning_neighbour(std::uint32_t c) const {
    return before(torus.left(c)) == Ground::fire || before(torus.up(c)) == Ground::fire ||
           before(torus.right(c)) == Ground::fire || before(torus.down(c)) == Ground::fire;
  }
};

/// The states of cells after a step.
template <class Layout>
struct DenseGround {
  Layout cells;
  std::uint32_t odd;
  __device__ Ground state(std::uint32_t c) const { return cells.ground(c, odd); }
};

/// @tparam Storage   owns the cells: constructible from their number; `layout()` is the device's view, a Layout as in
///                   DenseStep
template <class Storage>
class DenseForest final : public app::OnGrid<app::DenseSimulation<Simulation>> {
 public:
  explicit DenseForest(const Parameters& parameters)
      : OnGrid(parameters, app::PhaseNames{"grow and burn"}),
        torus_(app::Torus::of(parameters)),
        chance_(Chance::of(parameters)),
        cells_(torus_.cells) {
    settle();
  }

  void step() override {
    begin_step();
    run_recorded([this] { submit_step(); }, odd());
  }

  void submit_step() override {
    count_step();
    run_phase(0, torus_.cells, [now = present()] __device__(std::uint32_t c) { now.advance(c); });
  }

  void record() override { count_cells(CountTrees{ground()}); }

  std::vector<Ground> cells() override { return states_of(ground()); }

  /// Makes the first trees. Public, because nvcc requires this of functions that contain a device lambda.
  void settle() {
    for_each(torus_.cells, [now = present()] __device__(std::uint32_t c) { now.settle(c); });
  }

 private:
  using Layout = typename Storage::Layout;

  std::uint32_t odd() const { return steps() % 2; }
  DenseStep<Layout> present() const { return {cells_.layout(), torus_, chance_, now(), odd()}; }
  DenseGround<Layout> ground() const { return {cells_.layout(), odd()}; }

  app::Torus torus_;
  Chance chance_;
  Storage cells_;
};

class SoaStorage {
 public:
  struct Layout {
    Ground* even;
    Ground* odd;
    __device__ Ground& ground(std::uint32_t c, std::uint32_t is_odd) const { return (is_odd == 0 ? even : odd)[c]; }
  };

  explicit SoaStorage(std::size_t cells) : even_(cells), odd_(cells) {}

  Layout layout() const { return {even_.data(), odd_.data()}; }

 private:
  dynasoar::DeviceArray<Ground> even_, odd_;
};

class AosStorage {
 public:
  struct Cell {
    Ground after[2];
  };
  struct Layout {
    Cell* cells;
    __device__ Ground& ground(std::uint32_t c, std::uint32_t is_odd) const { return cells[c].after[is_odd]; }
  };

  explicit AosStorage(std::size_t cells) : cells_(cells) {}

  Layout layout() const { return {cells_.data()}; }

 private:
  dynasoar::DeviceArray<Cell> cells_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<DenseForest<SoaStorage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<DenseForest<AosStorage>>(parameters);
}

}  // namespace forest_fire
