/// @file
/// GridParameters, GridSimulation: the common part of models with a grid of cells as their world. Plain C++.
#pragma once

#include <cstdint>
#include <vector>

#include <app/simulation.h>

namespace app {

/// The size of the world. @pre width, height >= 1; width * height < 2^31, unless all code for the cells allows more
struct GridParameters : RunParameters {
  int width;
  int height;
  std::uint64_t seed = 42;

  explicit GridParameters(int side = 1024) : width(side), height(side) {}

  std::uint64_t number_of_cells() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }

  /// The same. @pre it is less than 2^31
  std::uint32_t cells() const { return static_cast<std::uint32_t>(width) * static_cast<std::uint32_t>(height); }

  /// The options that a checkpoint must fit, to which models add theirs.
  SavedOptions saved_options() const {
    return SavedOptions().add("--width", width).add("--height", height).add("--seed", seed);
  }
};

/// @tparam Parameters   derived from GridParameters
/// @tparam Census       the numbers that are counted after a step
/// @tparam Cell         the state of a cell
template <class Parameters, class Census, class Cell>
class GridSimulation : public Simulation {
 public:
  using ParametersT = Parameters;
  using CensusT = Census;
  using CellT = Cell;

  /// The censuses since the last call, oldest first.
  virtual std::vector<Census> take_history() = 0;

  /// All cells, row by row. If several ranks share the run, only the first rank gets them.
  virtual std::vector<Cell> cells() = 0;
};

}  // namespace app
