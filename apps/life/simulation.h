/// @file
/// The interface of all implementations of Life and Generations, and the functions that create them: the DSL variants,
/// the hand-written baselines and the sequential reference. It is plain C++, so that only the implementations are
/// compiled as CUDA.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <app/simulation.h>

#include "rule.h"

namespace life {

/// The space beyond the frame.
enum class Edge {
  dead,   ///< cells that stay dead
  torus,  ///< the opposite side
  grow    ///< the unbounded plane: the frame follows the cells that are not dead, see make_growing
};

/// The parameters of a run: a start of width x height cells with a margin of dead cells around it. Together they are
/// the frame.
///
/// @pre width, height >= 1; margin >= 0; the frame has fewer than 2^31 cells or, for make_placed, fewer than 2^31 rows
///      and columns; start is empty or has width * height states, all below rule.states; 0 <= density <= 1
struct Parameters : app::RunParameters {
  int width = 1024;
  int height = 1024;
  int margin = 0;
  int left = 0;                      ///< where the start's upper left corner lies on the plane
  int top = 0;                       ///< y grows downwards
  std::vector<std::uint16_t> start;  ///< states, row by row; empty: at random
  double density = 0.3;              ///< fraction of the cells that are alive in a random start
  std::uint64_t seed = 42;
  Rule rule;
  Edge edge = Edge::dead;
  app::SavedOptions options;  ///< that a checkpoint must fit; empty: the options above
};

/// Numbers of cells.
struct Population {
  std::uint64_t alive = 0;
  std::uint64_t dying = 0;
  std::uint64_t candidates = 0;  ///< dead cells with an alive neighbour

  bool operator==(const Population&) const = default;
};

/// The states of all cells, and where they are.
struct Frame {
  int left = 0;
  int top = 0;
  int width = 0;
  int height = 0;
  std::vector<std::uint16_t> states;  ///< row by row

  bool operator==(const Frame&) const = default;
};

using app::PhaseTime;
using app::Usage;

/// A running cellular automaton.
class Simulation : public app::Simulation {
 public:
  /// The populations noted since the last call, oldest first.
  virtual std::vector<Population> take_history() = 0;

  /// The present frame. In a run on several ranks, only the first rank has the states.
  virtual Frame frame() = 0;

  /// Numbers in a checkpoint for the code that has made this simulation.
  std::vector<std::int64_t> notes;
};

/// The notes in a checkpoint. They are not checked: the file may be forged.
///
/// @param options   that the checkpoint must fit
/// @throws dynasoar::Error if the file cannot be read or has no notes; app::UsageError if another program wrote it, or
///         if it has other options
std::vector<std::int64_t> saved_notes(const app::SavedOptions& options, const std::string& path);

/// The parameters that determine a run, for checkpoints.
app::SavedOptions options_of(const Parameters& parameters);

// The implementations. @pre parameters.edge is dead or torus

/// DSL variant with cells, alive cells and candidates as objects.
std::unique_ptr<Simulation> make_cells(const Parameters& parameters);
/// DSL variant with cells that are not dead as objects on a lattice, of which a thread handles 64 places at once.
std::unique_ptr<Simulation> make_placed(const Parameters& parameters);
/// With an object for every cell, dead or not, on a lattice: for benchmarks.
std::unique_ptr<Simulation> make_dense_cells(const Parameters& parameters);
/// Hand-written: alive cells and candidates in lists in plain arrays, a structure of arrays with room for an agent per
/// cell of the frame; no dynamic allocation.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// The same with lists that are arrays of structures.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
/// Hand-written: a loop over all cells of the frame, two arrays of states.
std::unique_ptr<Simulation> make_dense_baseline(const Parameters& parameters);
/// Hand-written for speed, 64 cells in a word. @pre parameters.rule.states == 2
std::unique_ptr<Simulation> make_stencil_baseline(const Parameters& parameters);
#ifdef APP_OPENMP_BASELINE
/// Hand-written OpenMP loops over plain arrays, a byte per cell, for CPUs. @pre parameters.rule.states == 2
std::unique_ptr<Simulation> make_openmp_baseline(const Parameters& parameters);
#endif
/// Sequential, on the host: the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

/// One of the functions above.
using Make = std::function<std::unique_ptr<Simulation>(const Parameters&)>;

/// The unbounded plane, with an implementation for bounded frames. Before a cell that is not dead can reach the edge of
/// the frame, a new frame is made around all such cells. `parameters.edge` is ignored.
///
/// @throws std::runtime_error, also from step(), if the frame would get 2^31 cells or more
std::unique_ptr<Simulation> make_growing(const Parameters& parameters, Make make);

}  // namespace life
