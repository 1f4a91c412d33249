/// @file
/// The interface of all implementations of Sugarscape, and the functions that create them: the DSL variants, the
/// hand-written baselines and the sequential reference. Used by the program and the tests. It is plain C++, so that
/// only the implementations are compiled as CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include <app/grid_simulation.h>

namespace sugarscape {

/// The parameters of the model. @pre males, females >= 0; males + females <= 1
struct Parameters : app::GridParameters {
  double males = 0.12;    ///< fraction of the cells with a male at the start
  double females = 0.15;  ///< fraction of the cells with a female at the start
};

/// The numbers after a step.
struct Census {
  std::uint64_t males = 0;
  std::uint64_t females = 0;
  std::uint64_t sugar = 0;  ///< on all cells; what agents own is not counted

  bool operator==(const Census&) const = default;
};

/// A cell of the landscape and the agent on it. Cells without an agent have zeros from `vision` on, and males have no
/// children.
struct CellState {
  std::uint16_t sugar = 0;
  std::uint8_t growth = 0;  ///< of sugar per step
  std::uint8_t kind = 0;    ///< 0 free, 1 male, 2 female
  std::uint8_t vision = 0;
  std::uint8_t max_age = 0;
  std::uint8_t endowment = 0;
  std::uint8_t metabolism = 0;
  std::uint32_t wealth = 0;  ///< the agent's sugar
  std::uint8_t age = 0;
  std::uint8_t children = 0;
  std::uint16_t max_children =
      0;  // 16 bits, so that there is no padding, which initcheck would report as uninitialized

  bool operator==(const CellState&) const = default;
};

/// A running landscape.
using Simulation = app::GridSimulation<Parameters, Census, CellState>;

/// DSL variant with cells and agents as objects.
std::unique_ptr<Simulation> make_cells(const Parameters& parameters);
/// DSL variant with agents as objects, cells as plain arrays.
std::unique_ptr<Simulation> make_agents(const Parameters& parameters);
/// DSL variant with cells and agents as objects that are placed on a lattice.
std::unique_ptr<Simulation> make_placed(const Parameters& parameters);
/// Hand-written structure of arrays, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// Hand-written array of structures, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
/// Sequential, on the host: the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace sugarscape
