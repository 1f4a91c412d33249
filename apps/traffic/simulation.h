/// @file
/// The interface of all implementations of the model "traffic", and the functions that create them: the DSL variants,
/// the hand-written baselines and the sequential reference. Used by the program, the tests and the benchmark. It is
/// plain C++, so that only the implementations are compiled as CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <app/simulation.h>

#include "network.h"

namespace traffic {

/// The parameters of the model, without the network. @pre all fractions from 0 to 1
struct Parameters : app::RunParameters {
  std::uint64_t seed = 42;
  double density = 0;        ///< fraction of the cells with a car at the start
  double production = 0.02;  ///< probability that a free producer makes a car in a step
  double dawdling = 0.2;     ///< probability that a car's path loses its last cell
};

/// The traffic after a step, in numbers.
struct Census {
  std::uint64_t cars = 0;
  std::uint64_t moving = 0;  ///< of them, those with a speed over 0
  std::uint64_t speeds = 0;  ///< sum of all: cells that these cars have gone in the step

  bool operator==(const Census&) const = default;
};

/// A cell and the car on it. Cells without a car have speed and top speed 0.
struct CellState {
  std::uint8_t limit = 0;  ///< at which it may be entered now: 0 if its light is red
  std::uint8_t has_car = 0;
  std::uint8_t speed = 0;      ///< cells that the car went in the last step
  std::uint8_t top_speed = 0;  ///< of the car

  bool operator==(const CellState&) const = default;
};

/// Traffic on a network.
class Simulation : public app::Simulation {
 public:
  /// The censuses noted since the last call, oldest first.
  virtual std::vector<Census> take_history() = 0;

  /// Sets the position of each cell on the map, for `paint`.
  virtual void set_places(const std::vector<Point>&) {}

  /// All cells, street by street.
  virtual std::vector<CellState> cells() = 0;
};

// All of these functions: @throws std::invalid_argument if the network is invalid (check_network)

/// DSL variant with cells, streets, lights and cars as objects.
std::unique_ptr<Simulation> make_cells(const Parameters& parameters, const Network& network);
/// DSL variant with cars as objects and the network in plain arrays.
std::unique_ptr<Simulation> make_cars(const Parameters& parameters, const Network& network);
/// DSL variant with cells and cars as objects that are placed on a lattice.
std::unique_ptr<Simulation> make_placed(const Parameters& parameters, const Network& network);
/// Hand-written structure of arrays, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters, const Network& network);
/// Hand-written array of structures, a cell each; no dynamic allocation.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters, const Network& network);
/// Sequential, on the host: the definition of the model in code.
std::unique_ptr<Simulation> make_reference(const Parameters& parameters, const Network& network);

}  // namespace traffic
