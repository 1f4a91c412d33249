/// @file
/// The interface of all implementations of Wa-Tor, and the functions that create them: the DSL variants, the
/// hand-written baselines and the sequential reference. Used by the program, the tests and the benchmark. It is plain
/// C++, so that only the implementations are compiled as CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <app/grid_simulation.h>

namespace wa_tor {

/// The parameters of the model. @pre fish, sharks >= 0; fish + sharks <= 1; 0 <= compact_above <= 1
struct Parameters : app::GridParameters {
  double fish = 0.25;        ///< fraction of the cells that hold a fish at the start
  double sharks = 0.25;      ///< fraction of the cells that hold a shark at the start
  double compact_above = 1;  ///< agents are compacted after a step if more of their slots are free; 1: never
};

/// Number of agents.
struct Population {
  std::uint64_t fish = 0;
  std::uint64_t sharks = 0;

  bool operator==(const Population&) const = default;
};

/// A cell of the ocean. Free cells have age and energy 0, fish have energy 0.
struct CellState {
  std::uint32_t kind = 0;  ///< 0 free, 1 fish, 2 shark
  std::uint32_t age = 0;
  std::uint32_t energy = 0;

  bool operator==(const CellState&) const = default;
};

/// A running ocean.
class Simulation : public app::GridSimulation<Parameters, Population, CellState> {
 public:
  /// The least number of bytes that a step reads and writes in device memory with this population, without regard to
  /// caches. It is an estimate from the algorithm, for achieved bandwidths; nothing if there is no estimate.
  virtual std::optional<std::uint64_t> bytes_per_step(const Population&) const { return std::nullopt; }
};

/// DSL variant with cells and agents as objects.
std::unique_ptr<Simulation> make_cells(const Parameters& parameters);
/// DSL variant with agents as objects, cells as plain arrays.
std::unique_ptr<Simulation> make_agents(const Parameters& parameters);
/// DSL variant with agents as objects that are placed on a lattice; no cells.
/// It is never compacted, even if the parameters request it.
std::unique_ptr<Simulation> make_placed(const Parameters& parameters);
/// Hand-written structure of arrays, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters);
/// Hand-written array of structures, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters);
#ifdef APP_OPENMP_BASELINE
/// Hand-written OpenMP loops over plain arrays, for CPUs.
std::unique_ptr<Simulation> make_openmp_baseline(const Parameters& parameters);
#endif
/// Sequential, on the host: the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters);

}  // namespace wa_tor
