/// @file
/// The models of the benchmark "flame_gpu": FLAME GPU 2's examples of boids and circles in space and of Sugarscape,
/// with their rules and parameters, as models of DynaSOAr; and for each of them a sequential reference, which has code
/// of its own. Plain C++, so that only the models themselves are compiled as CUDA. Used by flame_gpu.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <dynasoar/program/simulation.h>

#include "vector3.h"

namespace benchmarks::flame_gpu {

/// A running model.
/// @tparam State   an agent or, on a lattice, a place
template <class State>
class Model : public dynasoar::program::Simulation {
 public:
  /// All agents by number, or all places row by row. Waits.
  virtual std::vector<State> states() = 0;
};

// Boids. Each sees others that are near, and steers towards their centre and their mean velocity, away from those that
// are too close, and away from the walls of a cube around the origin.

struct BoidState {
  Vector3 position, velocity;
};

struct Flock {
  std::vector<BoidState> boids;
  float side;  ///< of the cube
};

/// Boids at random; as many in a unit of space as in the example, where 4000 boids have a cube with a side of 1.
Flock random_flock(std::uint32_t count, std::uint64_t seed);

std::unique_ptr<Model<BoidState>> make_boids(const Flock& start);
std::vector<BoidState> boids_after(const Flock& start, int steps);

// Circles. Each is repelled by others that are near, and attracted by those a bit farther away.

struct CircleState {
  Vector3 position;
  float drift = 0;  ///< how far it moved in the last step
};

struct Circles {
  std::vector<Vector3> positions;
  float side;  ///< of the cube in which they begin, with one corner at the origin; they may leave it
};

/// Circles at random, about one in a unit of space.
Circles random_circles(std::uint32_t count, std::uint64_t seed);

std::unique_ptr<Model<CircleState>> make_circles(const Circles& start);
std::vector<CircleState> circles_after(const Circles& start, int steps);

// Sugarscape, on a torus. At the beginning of a step, agents eat what is in their cells, and sugar grows in cells
// without agents. Then all agents move to a neighbouring free cell with the most sugar, in rounds: each asks for a
// cell, and each cell that is asked for chooses one of the askers. Those that were not chosen take part in the next
// round.
//
// These are the rules as the example's code has them. An agent that arrives in a cell has that cell's sugar less one,
// and from then on consumes -1 in a step. It dies if it has exactly no sugar, so those that arrive where there is none
// die in the next step.

inline constexpr std::int32_t kNoAgent = -1;

struct CellState {
  std::int32_t sugar = 0;     ///< in the cell; -1 if an agent has eaten it
  std::int32_t capacity = 0;  ///< up to which sugar grows
  std::int32_t agent = kNoAgent;
  std::int32_t wealth = 0;  ///< the agent's sugar
  std::int32_t metabolism = 0;

  bool operator==(const CellState&) const = default;
};

struct Landscape {
  std::uint32_t width;           ///< at least 3
  std::vector<CellState> cells;  ///< row by row
  std::uint64_t seed;            ///< of the choices
};

/// Cells around random peaks, which have up to kMostSugar, and in one of ten an agent.
Landscape random_landscape(std::uint32_t width, std::uint32_t height, std::uint64_t seed);

std::unique_ptr<Model<CellState>> make_sugarscape(const Landscape& start);
std::vector<CellState> sugarscape_after(const Landscape& start, int steps);

}  // namespace benchmarks::flame_gpu
