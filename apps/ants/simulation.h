/// @file
/// The interface of all implementations of the ants, and the functions that create them: the DSL variant, the
/// hand-written baselines and the sequential reference. Used by the program, the tests and the benchmark. It is plain
/// C++, so that only the implementations are compiled as CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/simulation.h>

namespace ants {

/// An ant as the host sees it.
struct AntState {
  std::uint64_t number = 0;              ///< a dynasoar::Identity
  float x = 0, y = 0;                    ///< position
  float heading_x = 1, heading_y = 0;    ///< the direction of its walk; length 1
  float scent = 1;                       ///< how much pheromone it deposits in a step
  std::uint32_t last_step = 0xFFFFFFFF;  ///< the step in which it dies
  bool carries = false;                  ///< whether it carries a portion of food

  bool operator==(const AntState&) const = default;
};

/// A cell of the ground, a square of width 1.
struct CellState {
  float home = 0;            ///< concentration of the pheromone that leads to the nest
  float trail = 0;           ///< and of the one that leads to food
  std::uint32_t food = 0;    ///< portions that ants may take
  std::uint32_t stored = 0;  ///< portions that ants have brought here

  bool operator==(const CellState&) const = default;
};

/// All ants and cells.
struct State {
  std::vector<AntState> ants;    ///< by number
  std::vector<CellState> cells;  ///< row by row

  bool operator==(const State&) const = default;
};

struct Disc {
  float x = 0, y = 0, radius = 0;
};

/// The y axis points downwards, as in pictures.
struct Box {
  float left = 0, top = 0, right = 0, bottom = 0;  ///< top <= bottom
};

/// A square with a nest and solid walls.
struct World {
  std::uint32_t side = 0;  ///< the number of cells along a side, and its length
  Disc nest;
  std::vector<std::uint32_t> food;  ///< [side * side] portions in the cells at the start; none in the nest
  std::vector<Box> walls;           ///< within the square
  std::array<Box, 2> gates;         ///< on two ways: the ants in each gate are counted
};

/// The parameters of the model, which README.md defines.
///
/// @pre the start positions are in the square, and neither in nor on a wall
struct Parameters : app::RunParameters {
  World world;
  std::vector<AntState> initial;  ///< with different numbers other than 0
  float sight = 6;                ///< how far ahead an ant senses
  float turn = 0.5f;              ///< the tangent of the angle by which it turns towards a scent
  float wobble = 0.5f;            ///< the tangent of the greatest angle by which it turns at random
  float threshold = 0.05f;        ///< the lowest concentration that an ant senses
  float fading = 0.01f;           ///< the part of its scent that an ant loses in a step
  double diffusion = 0.02;        ///< of both pheromones, in cells^2 per step; at most 1/2
  double evaporation = 0.01;      ///< of both pheromones, per step
  double births = 0.5;            ///< probability that a portion of food that arrives feeds a new ant
  std::uint32_t lifetime = 5000;  ///< of an ant that is born, in steps; at least 1
  std::uint64_t room = 0;         ///< the greatest number of ants; 0: room_for(ants at the start)
  std::uint64_t seed = 42;
};

/// The default of the greatest number of ants, for the number of ants at the start.
constexpr std::uint64_t room_for(std::uint64_t ants) {
  return 2 * ants + 4096;
}
std::uint64_t room_of(const Parameters& parameters);

/// Ants at random positions in the nest, or anywhere in the square. README.md defines the random numbers.
std::vector<AntState> ants_in_nest(std::uint32_t ants, const World& world, std::uint32_t lifetime, std::uint64_t seed);
std::vector<AntState> ants_anywhere(std::uint32_t ants, const World& world, std::uint32_t lifetime, std::uint64_t seed);

/// The least side of the worlds below, whose measures grow with their side.
inline constexpr std::uint32_t kLeastSide = 64;
/// A nest and three sources of food, one of them behind a wall. The gates are beside the ends of the wall.
World garden(std::uint32_t side, std::uint32_t portions);
/// Two chambers, one with the nest and one with food. The bridge between them has a short and a long branch. The gates
/// are at the beginnings of the branches.
World double_bridge(std::uint32_t side, std::uint32_t portions);

/// The numbers of ants and of portions of food.
struct Census {
  std::uint64_t foragers = 0;  ///< ants that carry nothing
  std::uint64_t carriers = 0;
  std::uint64_t first_gate = 0;
  std::uint64_t second_gate = 0;
  std::uint64_t food = 0;
  std::uint64_t stored = 0;

  std::uint64_t ants() const { return foragers + carriers; }
  bool operator==(const Census&) const = default;
};

/// A running simulation of ants.
class Simulation : public app::Simulation {
 public:
  /// The numbers noted since the last call, oldest first.
  ///
  /// @throws std::runtime_error if there were more ants than there is room for
  virtual std::vector<Census> take_history() = 0;

  /// All ants and cells. Waits. @throws std::runtime_error as take_history()
  virtual State state() = 0;
};

/// @throws std::runtime_error if there are more ants than `room`
void check_room(std::uint64_t ants, std::uint64_t room);

/// With the DSL: ants are objects, and the cells of the ground are objects on a lattice.
std::unique_ptr<Simulation> make_colony(const Parameters& parameters);
/// Hand-written: ants are in slots, with a list of free slots and an array for every member of an ant and of a cell.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// The same with a single array of ants and a single array of cells.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
/// Sequential, on the host. This is the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace ants
