/// @file
/// The interface of all implementations of the tumour, and the functions that create them: the DSL variant, the
/// hand-written baselines and the sequential reference. Used by the program, the tests and the benchmark. It is plain
/// C++, so that only the implementations are compiled as CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/simulation.h>

namespace tumour {

enum class State : std::uint8_t { proliferating, hypoxic, necrotic };

/// The radius of a cell that can divide, that of a new daughter, and that below which a dead cell disappears.
inline constexpr float kFullRadius = 0.5f;
inline constexpr float kDaughterRadius = 0.39685026f;  // two such cells have the volume of a full one
inline constexpr float kLeastRadius = 0.1f;

/// The width of a place of the oxygen's lattice.
inline constexpr float kSpacing = 2;

/// A cell as the host sees it.
struct CellState {
  std::uint64_t number = 0;    ///< a dynasoar::Identity
  float x = 0, y = 0, z = 0;   ///< position of the centre
  float radius = kFullRadius;  ///< at most kFullRadius
  State state = State::proliferating;

  bool operator==(const CellState&) const = default;
};

/// The parameters of the model, which README.md defines. Rates are per step.
///
/// @pre probabilities and shares are from 0 to 1
struct Parameters : app::RunParameters {
  std::vector<CellState> initial;  ///< with different numbers other than 0
  int world = 32;                  ///< places along each side of the oxygen's lattice, whose centre is the origin
  double mobility = 0.2;           ///< how far a cell moves for each unit of overlap
  double growth = 0.0025;          ///< by how much the radius of a proliferating cell grows
  double division = 0.02;          ///< probability that a cell of full size divides
  double hypoxia = 0.3;            ///< oxygen below which cells do not grow and vessels collapse
  double necrosis = 0.15;          ///< oxygen below which cells may die
  double death = 0.01;             ///< probability that such a cell dies
  double shrinking = 0.0005;       ///< by how much the radius of a dead cell shrinks
  double diffusion = 1;            ///< of oxygen; at most kMostDiffusion
  double supply = 0.01;            ///< share of the missing oxygen that vessels replace
  double uptake = 0.03;            ///< volume that a living cell empties of oxygen
  std::uint64_t room = 0;          ///< the greatest number of cells; 0: room_for(cells at the start)
  std::uint64_t seed = 42;
};

/// The greatest diffusion coefficient for which two explicit steps are stable.
inline constexpr double kMostDiffusion = 2 * double{kSpacing} * double{kSpacing} / 6;

/// The default of the greatest number of cells, for the number of cells at the start.
constexpr std::uint64_t room_for(std::uint64_t cells) {
  return 2 * cells + (std::uint64_t{1} << 19);
}
std::uint64_t room_of(const Parameters& parameters);

/// Cells of different sizes in a ball around the origin. README.md defines the random numbers.
std::vector<CellState> random_spheroid(std::uint32_t cells, std::uint64_t seed);

/// The numbers of cells, the size of the tumour, and the lowest concentration of oxygen.
struct Census {
  std::uint64_t proliferating = 0;
  std::uint64_t hypoxic = 0;
  std::uint64_t necrotic = 0;
  float radius = 0;  ///< how far the cells reach from the origin; 0 if there are none
  float oxygen = 0;  ///< the lowest concentration

  std::uint64_t cells() const { return proliferating + hypoxic + necrotic; }
  bool operator==(const Census&) const = default;
};

/// The expected radius of the tumour at the start and after every step, if only its rim grows: see README.md.
///
/// @param cells   number of cells at the start
std::vector<double> expected_radius(const Parameters& parameters, double cells, std::size_t steps);

/// The rate at which the volume of a tumour grows exponentially while all cells have enough oxygen.
double growth_rate(const Parameters& parameters);

/// The thickness of the rim that has enough oxygen for growth in a tumour of this radius; at least 0.
double rim_thickness(const Parameters& parameters, double radius);

/// A running simulation of a tumour.
class Simulation : public app::Simulation {
 public:
  /// The numbers noted since the last call, oldest first.
  ///
  /// @throws std::runtime_error if there were more cells than there is room for
  virtual std::vector<Census> take_history() = 0;

  /// All cells, ordered by number. Waits. @throws std::runtime_error as take_history()
  virtual std::vector<CellState> cells() = 0;

  /// The oxygen at all places, ordered by z, then y, then x. Waits.
  virtual std::vector<float> oxygen() = 0;
};

/// @throws std::runtime_error if there are more cells than `room`
void check_room(std::uint64_t cells, std::uint64_t room);

/// With the DSL: cells are objects.
std::unique_ptr<Simulation> make_cells(const Parameters& parameters);
/// Hand-written: cells are in slots, with a list of free slots and an array for every member of a cell.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// The same with a single array of cells.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
/// Sequential, on the host: every cell looks at all others. This is the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace tumour
