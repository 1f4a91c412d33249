/// @file
/// Variant: a workload of the benchmark "polymorphism", implemented in one of the ways that are compared; and how to
/// make one. Plain C++, so that only the implementations themselves are compiled as CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bodies/simulation.h"
#include "graph.h"
#include "life/simulation.h"
#include "scene.h"
#include "structure/simulation.h"
#include "traffic/simulation.h"

namespace benchmarks::polymorphism {

class Variant {
 public:
  virtual ~Variant() = default;

  /// Submits a step.
  virtual void step() = 0;

  /// Waits for all that was submitted.
  virtual void synchronize() = 0;

  /// Goes back to the start. @return false if that cannot be done: make a new one
  virtual bool restart() { return false; }

  /// What all variants of the workload must agree about. Waits.
  virtual std::vector<double> result() = 0;
};

// With virtual functions of objects that are made with `new` in device code, beside the models in apps/.

/// Life and Generations. The result is the state of each cell of the frame.
std::unique_ptr<Variant> make_virtual_life(const life::Parameters& parameters);
/// The result is what there is to know about each cell; see number_of.
std::unique_ptr<Variant> make_virtual_traffic(const traffic::Parameters& parameters, const traffic::Network& network);
/// The result is the positions of all nodes and, for each spring, whether it exists; see numbers_of.
std::unique_ptr<Variant> make_virtual_structure(const structure::Parameters& parameters,
                                                const structure::Network& network);

/// A cell's state as one number.
inline double number_of(const traffic::CellState& cell) {
  return ((cell.limit * 2 + cell.has_car) * 16 + cell.speed) * 16 + cell.top_speed;
}

/// Positions and existence of what is left.
inline std::vector<double> numbers_of(const structure::Network& network) {
  std::vector<double> numbers;
  for (const structure::NodeState& node : network.nodes) {
    numbers.push_back(static_cast<double>(node.kind));
    numbers.push_back(node.position.x);
    numbers.push_back(node.position.y);
  }
  for (const structure::SpringState& spring : network.springs) numbers.push_back(spring.exists ? 1 : 0);
  return numbers;
}

// Both ways.

/// The result is the positions of all bodies, in the order of their numbers.
std::unique_ptr<Variant> make_object_n_body(const bodies::Parameters& parameters);
std::unique_ptr<Variant> make_virtual_n_body(const bodies::Parameters& parameters);
/// The result is the masses of all bodies, in the order of their numbers; 0 if they have merged into another one.
std::unique_ptr<Variant> make_object_collision(const bodies::Parameters& parameters);
std::unique_ptr<Variant> make_virtual_collision(const bodies::Parameters& parameters);

// The results are those of solve() and, for each pixel, its brightness.
std::unique_ptr<Variant> make_object_graph(Algorithm algorithm, Polymorphic polymorphic, const Graph& graph);
std::unique_ptr<Variant> make_virtual_graph(Algorithm algorithm, Polymorphic polymorphic, const Graph& graph);
std::unique_ptr<Variant> make_object_rays(const Scene& scene);
std::unique_ptr<Variant> make_virtual_rays(const Scene& scene);

}  // namespace benchmarks::polymorphism
