/// @file
/// ModelProgram: what the programs derive from. GridProgram: for those whose world is a grid of cells.
#pragma once

#include <string>

#include <app/cell_columns.h>
#include <app/program.h>
#include <dynasoar/program/options.h>
#include <dynasoar/program/program.h>

namespace app {

template <class SimulationT, class ParametersT>
using ModelProgram = dynasoar::program::ModelProgram<SimulationT, ParametersT, Program>;

/// @tparam ParametersT   has `width`, `height` and `seed`
template <class SimulationT, class ParametersT>
class GridProgram : public ModelProgram<SimulationT, ParametersT> {
 public:
  void add_options(CLI::App& cli) override {
    ParametersT& parameters = this->parameters();
    add_grid_size(cli, parameters.width, parameters.height);
    this->add_seed(cli, parameters.seed);
  }

  void check_options(RunOptions&) override { check_grid_size(this->parameters().width, this->parameters().height); }

  std::string size() const final {
    return std::to_string(this->parameters().width) + " x " + std::to_string(this->parameters().height) + " cells";
  }

  World world() const final {
    return {0, 0, static_cast<double>(this->parameters().width), static_cast<double>(this->parameters().height)};
  }

  void place(dynasoar::Columns& objects) const final { add_places(objects, this->parameters().width); }

 protected:
  using ModelProgram<SimulationT, ParametersT>::ModelProgram;
};

}  // namespace app
