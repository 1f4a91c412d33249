/// @file
/// The dense baseline: hand-written Life and Generations without objects and without lists. A step is one loop over all
/// cells of the frame, which reads the present states from one array and writes the next ones to another.
///
/// The frame has a border one cell wide, so that no thread has to check whether a cell is at the edge. The border stays
/// dead. On a torus, every cell at the edge also writes its copies to the border on the other side.

#include <cstddef>
#include <cstdint>
#include <memory>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "census.h"
#include "dynamics.h"
#include "frame_baseline.h"
#include "lattice.h"
#include "simulation.h"
#include "start.h"

namespace life {
namespace dense {

/// The cells of a column that a thread processes. It reads three new states for each of them instead of nine.
inline constexpr std::uint32_t kStrip = 8;

/// The two generations of all cells, as the device sees them.
///
/// @tparam State   an unsigned integer that all states fit in
template <class State>
struct Cells {
  State* present;  ///< [(width + 2) * (height + 2)]
  State* next;     ///< as many
  Lattice lattice;
  Rule rule;

  /// Index of a cell. The coordinates -1 (as an unsigned number), width and height are the border.
  __device__ std::size_t cell(std::uint32_t x, std::uint32_t y) const {
    return std::size_t{y + 1} * (lattice.width + 2) + (x + 1);
  }

  __device__ std::uint32_t state(std::uint32_t x, std::uint32_t y) const { return present[cell(x, y)]; }

  /// Writes a state of one of the generations, and its copies in the border of a torus.
  __device__ void put(State* generation, std::uint32_t x, std::uint32_t y, std::uint32_t state) const {
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
  __device__ void put_one(State* generation, std::uint32_t x, std::uint32_t y, std::uint32_t state) const {
    generation[cell(x, y)] = static_cast<State>(state);
  }

  __device__ void put_row(State* generation, std::uint32_t x, std::uint32_t y, std::uint32_t state) const {
    put_one(generation, x, y, state);
    if (x == 0) put_one(generation, lattice.width, y, state);
    if (x == lattice.width - 1) put_one(generation, ~0u, y, state);
  }
};

/// Sets a cell to its first state.
template <class State>
struct Populate {
  Cells<State> cells;
  StartView start;

  __device__ void operator()(std::size_t c) const {
    const auto index = static_cast<std::uint32_t>(c);
    cells.put(cells.present, index % cells.lattice.width, index / cells.lattice.width, start.state(index));
  }
};

/// Computes the next generation of one strip.
template <class State>
struct Step {
  Cells<State> cells;

  __device__ void operator()(std::size_t strip) const {
    cells.for_each_in_strip(strip, [&](std::uint32_t x, std::uint32_t y, std::uint32_t state, std::uint32_t neighbors) {
      cells.put(cells.next, x, y, next_state(cells.rule, state, neighbors));
    });
  }
};

/// Copies a state out of the frame.
template <class State>
struct Copy {
  Cells<State> cells;
  std::uint16_t* out;

  __device__ void operator()(std::size_t c) const {
    const auto index = static_cast<std::uint32_t>(c);
    out[c] = static_cast<std::uint16_t>(cells.state(index % cells.lattice.width, index / cells.lattice.width));
  }
};

template <class State>
class Dense final : public FrameBaseline {
 public:
  explicit Dense(const Parameters& parameters) : FrameBaseline(parameters, {"all cells"}) {
    for (dynasoar::DeviceArray<State>& generation : generations_) {
      generation = dynasoar::DeviceArray<State>(std::size_t{lattice().width + 2} * (lattice().height + 2));
      generation.fill_bytes(0);
    }
    const Start start(parameters);
    executor().for_each_index(lattice().cells(), Populate<State>{cells(now_in()), start.view()});
    synchronize();
  }

  void step() override {
    begin_step();
    submit_step();  // not recorded, because a step is only one loop
  }

  void submit_step() override {
    const Cells<State> before = cells(1 - now_in());
    executor().for_each_index(before.strips(), Step<State>{before});
    end_phase(0);
  }

  void record() override { count(cells(now_in()).strips(), cells(now_in())); }

 private:
  void write_states(std::uint16_t* frame) override {
    executor().for_each_index(lattice().cells(), Copy<State>{cells(now_in()), frame});
  }

  /// Index of the array that has the generation after this step.
  std::size_t now_in() const { return steps() % 2; }

  Cells<State> cells(std::size_t present) const {
    return {generations_[present].data(), generations_[1 - present].data(), lattice(), rule()};
  }

  dynasoar::DeviceArray<State> generations_[2];
};

}  // namespace dense

std::unique_ptr<Simulation> make_dense_baseline(const Parameters& parameters) {
  // States that fit in a byte are kept in bytes.
  if (parameters.rule.states <= 256) return std::make_unique<dense::Dense<std::uint8_t>>(parameters);
  return std::make_unique<dense::Dense<std::uint16_t>>(parameters);
}

}  // namespace life
