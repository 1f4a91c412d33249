/// @file
/// DenseLife: Life and Generations as one writes them by hand, without objects: one loop over all cells of the frame
/// per step, which reads the present states and writes the next ones. The algorithm of both baselines; they differ in
/// how the two states of a cell lie in memory (soa_baseline.cpp, aos_baseline.cpp).
///
/// The frame has a border one cell wide, so that no cell has to ask whether it is at the edge: it stays dead, or
/// on a torus every cell at the edge also writes its copies on the other side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <app/phase_clock.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "census.h"
#include "dynamics.h"
#include "lattice.h"
#include "simulation.h"
#include "start.h"

namespace life {

/// A thread goes down so many cells of a column: it then reads three new states for each instead of nine.
inline constexpr std::uint32_t kStrip = 8;

/// The two generations of all cells, as the device sees them.
///
/// @tparam Layout   where states lie: `at(generation, cell)` returns a reference; generation is 0 or 1
template <class Layout>
struct DenseCells {
  Layout layout;
  Lattice lattice;
  Rule rule;
  std::uint32_t now;  ///< the present generation

  /// Index of a cell; -1 and the size are the border, as unsigned numbers.
  __device__ std::size_t cell(std::uint32_t x, std::uint32_t y) const {
    return std::size_t{y + 1} * (lattice.width + 2) + (x + 1);
  }

  __device__ std::uint32_t state(std::uint32_t x, std::uint32_t y) const { return layout.at(now, cell(x, y)); }

  /// Writes a state of generation `generation`, and its copies in the border of a torus.
  __device__ void put(std::uint32_t generation, std::uint32_t x, std::uint32_t y, std::uint32_t state) const {
    put_one(generation, x, y, state);
    if (!lattice.torus) return;
    const bool at_side = x == 0 || x == lattice.width - 1;
    const bool at_end = y == 0 || y == lattice.height - 1;
    if (!at_side && !at_end) return;
    put_row(generation, x, y, state);
    if (y == 0) put_row(generation, x, lattice.height, state);
    if (y == lattice.height - 1) put_row(generation, x, ~0u, state);
  }

  /// The alive cells among (x - 1, y), (x, y) and (x + 1, y).
  __device__ std::uint32_t alive_in_row(std::uint32_t x, std::uint32_t y) const {
    return (state(x - 1, y) == kAlive) + (state(x, y) == kAlive) + (state(x + 1, y) == kAlive);
  }

  __host__ __device__ std::size_t strips() const {
    return std::size_t{lattice.width} * ((lattice.height - 1) / kStrip + 1);
  }

  /// Calls `function(x, y, state, alive neighbours)` for the cells of a strip.
  template <class F>
  __device__ void for_each_in_strip(std::size_t strip, F function) const {
    const auto x = static_cast<std::uint32_t>(strip % lattice.width);
    const auto first = static_cast<std::uint32_t>(strip / lattice.width) * kStrip;
    const std::uint32_t end = first + kStrip < lattice.height ? first + kStrip : lattice.height;
    std::uint32_t above = alive_in_row(x, first - 1);
    std::uint32_t here = alive_in_row(x, first);
    for (std::uint32_t y = first; y < end; ++y) {
      const std::uint32_t below = alive_in_row(x, y + 1);
      const std::uint32_t own = state(x, y);
      function(x, y, own, above + here + below - (own == kAlive ? 1 : 0));
      above = here;
      here = below;
    }
  }

  /// Counts the cells of a strip for the census.
  __device__ void count(std::size_t strip, Tally& tally) const {
    for_each_in_strip(strip, [&](std::uint32_t, std::uint32_t, std::uint32_t state, std::uint32_t neighbors) {
      count_cell(tally, state, neighbors > 0);
    });
  }

 private:
  __device__ void put_one(std::uint32_t generation, std::uint32_t x, std::uint32_t y, std::uint32_t state) const {
    layout.at(generation, cell(x, y)) = static_cast<typename Layout::State>(state);
  }

  __device__ void put_row(std::uint32_t generation, std::uint32_t x, std::uint32_t y, std::uint32_t state) const {
    put_one(generation, x, y, state);
    if (x == 0) put_one(generation, lattice.width, y, state);
    if (x == lattice.width - 1) put_one(generation, ~0u, y, state);
  }
};

/// Sets a cell to its first state.
template <class Layout>
struct DenseStart {
  DenseCells<Layout> cells;
  StartView start;

  __device__ void operator()(std::size_t c) const {
    const auto index = static_cast<std::uint32_t>(c);
    cells.put(cells.now, index % cells.lattice.width, index / cells.lattice.width, start.state(index));
  }
};

/// Computes the next generation of one strip.
template <class Layout>
struct DenseStep {
  DenseCells<Layout> cells;

  __device__ void operator()(std::size_t strip) const {
    const DenseCells<Layout>& present = cells;
    cells.for_each_in_strip(strip, [&](std::uint32_t x, std::uint32_t y, std::uint32_t state, std::uint32_t neighbors) {
      present.put(1 - present.now, x, y, next_state(present.rule, state, neighbors));
    });
  }
};

/// Copies a state out of the frame.
template <class Layout>
struct DenseCopy {
  DenseCells<Layout> cells;
  std::uint16_t* out;

  __device__ void operator()(std::size_t c) const {
    const auto index = static_cast<std::uint32_t>(c);
    out[c] = static_cast<std::uint16_t>(cells.state(index % cells.lattice.width, index / cells.lattice.width));
  }
};

/// A simulation whose cells lie in `Storage`.
///
/// @tparam Storage   owns the cells: constructible from their number, all dead at first; `layout()` is the device's
///                   view, a Layout as in DenseCells
template <class Storage>
class DenseLife final : public Simulation {
 public:
  explicit DenseLife(const Parameters& parameters)
      : left_(parameters.left - parameters.margin),
        top_(parameters.top - parameters.margin),
        lattice_(Lattice::of(parameters)),
        rule_(parameters.rule),
        executor_(parameters.threads),
        storage_(std::size_t{lattice_.width + 2} * (lattice_.height + 2)),
        clock_(parameters.profile_every, {"all cells"}) {
    const Start start(parameters);
    executor_.for_each_index(lattice_.cells(), DenseStart<Layout>{cells(), start.view()});
    executor_.synchronize();
  }

  void step() override {
    clock_.begin_step(executor_);
    executor_.for_each_index(cells().strips(), DenseStep<Layout>{cells()});
    clock_.end_phase(executor_, 0);
    now_ = 1 - now_;
  }

  void record() override { census_.record(executor_, cells().strips(), cells()); }

  void synchronize() override { executor_.synchronize(); }

  std::vector<Population> take_history() override { return census_.take(executor_); }

  Frame frame() override {
    const dynasoar::DeviceArray<std::uint16_t> states(lattice_.cells());
    executor_.for_each_index(lattice_.cells(), DenseCopy<Layout>{cells(), states.data()});
    executor_.synchronize();
    return {left_, top_, static_cast<int>(lattice_.width), static_cast<int>(lattice_.height), states.download()};
  }

  std::vector<PhaseTime> phases() override { return clock_.times(); }

 private:
  using Layout = typename Storage::Layout;

  DenseCells<Layout> cells() const { return {storage_.layout(), lattice_, rule_, now_}; }

  int left_;
  int top_;
  Lattice lattice_;
  Rule rule_;
  std::uint32_t now_ = 0;
  dynasoar::Executor executor_;
  Storage storage_;
  Census census_;
  app::PhaseClock clock_;
};

/// States that fit in a byte are kept in bytes.
inline bool fits_in_byte(const Parameters& parameters) {
  return parameters.rule.states <= 256;
}

}  // namespace life
