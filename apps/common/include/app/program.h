/// @file
/// Program: a program that also draws its runs, in pictures and in a window. ModelProgram: the base of the programs.
/// GridProgram: the base of programs with a grid of cells as their world.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <app/cell_columns.h>
#include <app/chart.h>
#include <app/picture.h>
#include <app/simulation.h>
#include <app/viewport.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>
#include <dynasoar/program/program.h>

namespace app {

/// Files with drawings that every run writes, unless their options are none.
struct Drawings {
  DefaultFile chart;
  DefaultFile picture;
};

class Program : public dynasoar::program::Program {
 public:
  using dynasoar::program::Program::Program;

  virtual Drawings drawings() const = 0;

  /// The world at the start. Called after start().
  virtual World world() const = 0;

  /// A picture of the current state. If several ranks share the run, all call it, and only the first shows its picture.
  virtual Picture picture() = 0;

  /// Whether a run without --picture writes the picture of drawings(). Called after check_options().
  virtual bool has_default_picture() const { return true; }

  virtual Chart chart(const std::vector<Row>& history) const = 0;
};

/// Whether a grid's picture is written by default: the first rank needs memory for all cells.
inline bool is_drawn_by_default(std::int64_t width, std::int64_t height) {
  return width * height <= std::numeric_limits<std::int32_t>::max();
}

/// The main function of a program. @return the exit code, see dynasoar/program/options.h
int run_program(Program& program, int argc, const char* const* argv);

template <class SimulationT, class ParametersT>
using ModelProgram = dynasoar::program::ModelProgram<SimulationT, ParametersT, Program>;

/// A program for a model whose world is a grid of cells.
///
/// @tparam SimulationT   derived from a GridSimulation, for whose cells there is a function `color_of(cell)`
template <class SimulationT, class ParametersT>
class GridProgram : public ModelProgram<SimulationT, ParametersT> {
 public:
  void add_options(CLI::App& cli) override {
    ParametersT& parameters = this->parameters();
    add_grid_size(cli, parameters.width, parameters.height);
    this->add_seed(cli, parameters.seed);
  }

  void check_options(RunOptions& options) override {
    const std::string large = variant_of_large_grids();
    if (!large.empty() && options.variant == large && options.baseline == "none") return;
    check_grid_size(this->parameters().width, this->parameters().height, large);
  }

  /// The variant whose cells have numbers of 64 bits, so that there may be 2^31 and more; empty if there is none.
  virtual std::string variant_of_large_grids() const { return {}; }

  std::string size() const final {
    return std::to_string(this->parameters().width) + " x " + std::to_string(this->parameters().height) + " cells";
  }

  World world() const final {
    return {0, 0, static_cast<double>(this->parameters().width), static_cast<double>(this->parameters().height)};
  }

  void place(dynasoar::Columns& objects) const final { add_places(objects, this->parameters().width); }

  bool has_default_picture() const final {
    return is_drawn_by_default(this->parameters().width, this->parameters().height);
  }

  Picture picture() final {
    const std::vector<typename SimulationT::CellT> cells = this->simulation().cells();
    if (!this->is_first_rank()) return {1, 1};
    return picture_of_grid(this->parameters().width, this->parameters().height,
                           [&](std::size_t c) { return color_of(cells[c]); });
  }

 protected:
  using ModelProgram<SimulationT, ParametersT>::ModelProgram;

  /// "1,024 × 512 cells, seed 42", for the subtitle of the chart.
  std::string size_and_seed() const {
    const auto number = [](int side) { return grouped(static_cast<std::uint64_t>(side)); };
    return number(this->parameters().width) + " × " + number(this->parameters().height) + " cells, seed " +
           std::to_string(this->parameters().seed);
  }
};

}  // namespace app
