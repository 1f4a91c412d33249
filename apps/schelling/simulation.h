/// @file
/// The interface of all implementations of Schelling's model, and the functions that create them: the DSL variant, the
/// hand-written baselines and the sequential reference. Used by the program, the tests and the benchmark. It is plain
/// C++, so that only the implementations are compiled as CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include <app/grid_simulation.h>

namespace schelling {

/// The parameters of the model. @pre red, blue >= 0; red + blue <= 1; 0 <= similar, newcomers <= 1
struct Parameters : app::GridParameters {
  double red = 0.45;           ///< fraction of the cells with an agent of the red group at the start
  double blue = 0.45;          ///< likewise, of the blue group
  double similar = 0.5;        ///< share of its neighbours that an agent wants to be of its group
  std::uint32_t patience = 0;  ///< an agent that is unhappy for this number of steps leaves the city; 0: none does
  double newcomers = 0;        ///< probability that an agent moves into a vacant cell, in a step

  Parameters() : GridParameters(512) {}
};

/// Numbers that describe a city.
struct Census {
  std::uint64_t red = 0;
  std::uint64_t blue = 0;
  std::uint64_t unhappy = 0;     ///< agents with too few neighbours of their group
  std::uint64_t own = 0;         ///< neighbours of the same group, over all agents
  std::uint64_t neighbours = 0;  ///< all neighbours, likewise

  /// Share of the neighbours that are of the same group.
  double similar() const { return neighbours == 0 ? 0 : static_cast<double>(own) / static_cast<double>(neighbours); }

  bool operator==(const Census&) const = default;
};

/// A cell of the city.
struct CellState {
  std::uint32_t group = 0;    ///< 0 vacant, 1 red, 2 blue
  std::uint32_t unhappy = 0;  ///< for how many consecutive steps its agent has been unhappy; 0 in vacant cells

  bool operator==(const CellState&) const = default;
};

/// A running city.
using Simulation = app::GridSimulation<Parameters, Census, CellState>;

/// DSL variant: agents are objects that are placed on a lattice.
std::unique_ptr<Simulation> make_placed(const Parameters& parameters);
/// Hand-written structure of arrays, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// Hand-written array of structures, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
/// Sequential, on the host: the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace schelling
