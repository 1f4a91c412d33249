/// @file
/// SubstanceShape: the part of a Substance that does not depend on its types. It checks options, makes messages, and
/// plans a call of Substance::diffuse. Compiled once for all programs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace dynasoar {

struct DiffusionOptions;

namespace detail {

/// The plan of a call of Substance::diffuse.
struct DiffusionPlan {
  int steps = 0;                  ///< an even number; 0 if nothing diffuses
  std::array<double, 3> rates{};  ///< diffusion coefficient * duration of a step / width of a cell squared, by axis
  double remaining = 1;           ///< fraction left after the decay of one step or, if nothing diffuses, of all steps
};

/// The description of a substance, without its types, for checks and messages.
struct SubstanceShape {
  std::string name;  ///< "Cell::pheromone_"
  int axes = 0;      ///< of positions
  std::array<double, 3> lower{}, upper{};
  std::array<std::int32_t, 3> cells{1, 1, 1};
  std::array<bool, 3> periodic{};
  std::optional<double> border;
  double resolution = 0;

  double width(int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return (upper[a] - lower[a]) / cells[a];
  }
  double volume_of_cell() const;

  /// @throws Error if a substance cannot have this shape @param axes_of_lattice   the number of axes of the lattice
  void check(int axes_of_lattice) const;

  /// @throws Error if the options are invalid or the steps unstable
  DiffusionPlan plan(const DiffusionOptions& options) const;
};

/// The message for wrong deposits.
std::string deposit_fault(const SubstanceShape& shape, bool is_not_finite, bool is_too_much);

}  // namespace detail

}  // namespace dynasoar
