/// @file
/// What every implementation of the tumour offers, and how to make one: the DSL variant, the hand-written baselines
/// and the sequential reference. Used by the program, the tests and the benchmark; plain C++, so that only the
/// implementations themselves are compiled as CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/simulation.h>

namespace tumour {

enum class State : std::uint8_t { proliferating, hypoxic, necrotic };

/// The radius of a cell that can divide, of its daughters, and of a dead cell when it disappears.
inline constexpr float kFullRadius = 0.5f;
inline constexpr float kDaughterRadius = 0.39685026f;  // two of them have the volume of their mother
inline constexpr float kLeastRadius = 0.1f;

/// The width of a place of the oxygen's lattice.
inline constexpr float kSpacing = 2;

/// A cell as the host sees it.
struct CellState {
  std::uint64_t number = 0;    ///< for life, a dynasoar::Identity
  float x = 0, y = 0, z = 0;   ///< position of the centre
  float radius = kFullRadius;  ///< at most kFullRadius
  State state = State::proliferating;

  bool operator==(const CellState&) const = default;
};

/// What is simulated. Rates are those of a step. README.md defines the model.
///
/// @pre probabilities and shares are from 0 to 1
struct Parameters : app::RunParameters {
  std::vector<CellState> initial;  ///< numbers differ, and are not 0
  int world = 32;                  ///< places along each side of the oxygen's lattice, whose centre is the origin
  double mobility = 0.2;           ///< how far a cell moves for each unit of overlap
  double growth = 0.0025;          ///< by how much the radius of a living cell grows
  double division = 0.02;          ///< probability that a cell of full size divides
  double hypoxia = 0.3;            ///< oxygen below which cells do not grow and vessels collapse
  double necrosis = 0.15;          ///< oxygen below which cells may die
  double death = 0.01;             ///< probability that such a cell dies
  double shrinking = 0.0005;       ///< by how much the radius of a dead cell shrinks
  double diffusion = 1;            ///< of oxygen; at most kMostDiffusion
  double supply = 0.01;            ///< share of the missing oxygen that vessels replace
  double uptake = 0.03;            ///< volume that a cell empties of oxygen
  std::uint64_t room = 0;          ///< the most cells that there may be; 0: room_for(cells at the start)
  std::uint64_t seed = 42;
};

/// The greatest diffusion coefficient for which two explicit steps are stable.
inline constexpr double kMostDiffusion = 2 * double{kSpacing} * double{kSpacing} / 6;

/// The most cells that there may be, unless the parameters say otherwise.
constexpr std::uint64_t room_for(std::uint64_t cells) {
  return 2 * cells + (std::uint64_t{1} << 19);
}
std::uint64_t room_of(const Parameters& parameters);

/// Cells in a ball round the origin, of different sizes. Which random numbers: README.md.
std::vector<CellState> random_spheroid(std::uint32_t cells, std::uint64_t seed);

/// Numbers of cells, how large the tumour is, and how little oxygen there is.
struct Census {
  std::uint64_t proliferating = 0;
  std::uint64_t hypoxic = 0;
  std::uint64_t necrotic = 0;
  float radius = 0;  ///< how far the cells reach from the origin; 0 if there are none
  float oxygen = 0;  ///< the least

  std::uint64_t cells() const { return proliferating + hypoxic + necrotic; }
  bool operator==(const Census&) const = default;
};

/// The radius of the tumour at the start and after every step, if its rim grows: see README.md.
///
/// @param cells   how many there are at the start
std::vector<double> expected_radius(const Parameters& parameters, double cells, std::size_t steps);

/// The rate at which the volume of a tumour grows exponentially, whose cells all have enough oxygen.
double growth_rate(const Parameters& parameters);

/// The thickness of the rim of a tumour of this radius in which there is enough oxygen for growth; at least 0.
double rim_thickness(const Parameters& parameters, double radius);

/// A running simulation of a tumour.
class Simulation : public app::Simulation {
 public:
  /// What was noted since the last call, oldest first.
  ///
  /// @throws std::runtime_error if there were more cells than there is room for
  virtual std::vector<Census> take_history() = 0;

  /// All cells, by number. Waits. @throws std::runtime_error as take_history()
  virtual std::vector<CellState> cells() = 0;

  /// The oxygen at all places, by z, y and x. Waits.
  virtual std::vector<float> oxygen() = 0;
};

/// @throws std::runtime_error if there are more cells than `room`
void check_room(std::uint64_t cells, std::uint64_t room);

/// With the DSL: cells are objects.
std::unique_ptr<Simulation> make_cells(const Parameters& parameters);
/// Hand-written, cells in slots, with a list of free ones; an array for every part of a cell.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// Likewise, an array of cells.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
/// Sequential, on the host, every cell looks at all others: the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace tumour
