/// @file
/// The interface of all implementations of the forest fire, and the functions that create them: the DSL variant, the
/// hand-written baselines and the sequential reference. Used by the program, the tests and the benchmark. It is plain
/// C++, so that only the implementations are compiled as CUDA.
#pragma once

#include <cstdint>
#include <memory>

#include <app/grid_simulation.h>

namespace forest_fire {

/// The parameters of the model. @pre the fractions are from 0 to 1
struct Parameters : app::GridParameters {
  double trees = 0.4;          ///< fraction of the cells that hold a tree at the start
  double growth = 0.01;        ///< probability that a tree grows on empty ground in a step
  double lightning = 0.00001;  ///< probability that a tree is struck in a step
};

/// The contents of a cell.
enum class Ground : std::uint8_t { empty, tree, fire };

/// Numbers of trees.
struct Census {
  std::uint64_t trees = 0;  ///< trees that do not burn
  std::uint64_t fires = 0;  ///< burning trees

  bool operator==(const Census&) const = default;
};

/// A running simulation of a forest.
using Simulation = app::GridSimulation<Parameters, Census, Ground>;

/// DSL variant: trees are objects that are placed on a lattice.
std::unique_ptr<Simulation> make_placed(const Parameters& parameters);
/// Hand-written structure of arrays, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// Hand-written array of structures, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
#ifdef APP_OPENMP_BASELINE
/// Hand-written OpenMP loops over plain arrays, a byte per cell, for CPUs.
std::unique_ptr<Simulation> make_openmp_baseline(const Parameters& parameters);
#endif
/// Sequential, on the host: the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace forest_fire
