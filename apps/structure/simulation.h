/// @file
/// The interface of all implementations of the model "structure", and the functions that create them: the DSL variant,
/// the hand-written baselines and the sequential reference. Used by the program, the tests and the benchmark. It is
/// plain C++, so that only the implementations are compiled as CUDA.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <app/simulation.h>

namespace structure {

/// A position, velocity or force in the plane.
struct alignas(8) Vector {
  float x = 0;
  float y = 0;

  bool operator==(const Vector&) const = default;
};

enum class Kind : std::uint8_t {
  gone,    ///< deleted, or never existed
  free,    ///< moves under the forces of its springs
  pulled,  ///< an anchor that moves at its own velocity
  anchor   ///< stays where it is
};

struct NodeState {
  Kind kind = Kind::gone;
  Vector position;
  Vector velocity;  ///< of free and pulled nodes

  bool operator==(const NodeState&) const = default;
};

/// A spring between two nodes, which it pulls together when it is longer than its rest length.
struct SpringState {
  std::uint32_t first = 0;  ///< number of the node at one end
  std::uint32_t second = 0;
  float factor = 0;  ///< force per length beyond the rest length
  float rest_length = 0;
  bool exists = true;

  bool operator==(const SpringState&) const = default;
};

/// A structure: the start of a simulation, or its state after some steps. Nodes and springs keep their numbers, which
/// are their places in the vectors.
struct Network {
  std::vector<NodeState> nodes;
  std::vector<SpringState> springs;

  bool operator==(const Network&) const = default;
};

/// The most springs that can be at one node.
inline constexpr std::uint32_t kSpringSlots = 32;

/// The parameters of the model, without the network.
struct Parameters : app::RunParameters {
  double strength = 0.5;  ///< a spring breaks at a greater force
  double mass = 500;      ///< of a free node
};

/// The numbers of remaining nodes and springs.
struct Census {
  std::uint64_t springs = 0;
  std::uint64_t nodes = 0;

  bool operator==(const Census&) const = default;
};

/// A running simulation. step() waits for the device at least once, because only the device knows how many phases the
/// search from the anchors takes.
class Simulation : public app::Simulation {
 public:
  /// The censuses since the last call, oldest first.
  virtual std::vector<Census> take_history() = 0;

  /// The present state. Deleted nodes and springs have default values, but springs keep their ends, factor and rest
  /// length.
  virtual Network network() = 0;

  /// For each node, the number of springs in its slots; 0 if the node is deleted. For consistency checks.
  virtual std::vector<std::uint32_t> degrees() = 0;
};

/// The sequential reference, which also reports the forces that it computed.
class ReferenceSimulation : public Simulation {
 public:
  /// The largest force of each spring in the last step, also of those that broke; 0 for springs deleted before.
  virtual const std::vector<double>& peak_forces() const = 0;
};

// All of these functions: @throws std::invalid_argument if the network is invalid (network.h, check_network)

/// DSL variant with nodes and springs as objects.
std::unique_ptr<Simulation> make_springs(const Parameters& parameters, const Network& network);
/// Hand-written: the same algorithm with a structure of arrays; no dynamic allocation.
std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters, const Network& network);
/// The same in an array of structures.
std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters, const Network& network);
/// Hand-written: another algorithm, without springs and with one loop instead of two, with a structure of arrays.
std::unique_ptr<Simulation> make_fused_baseline(const Parameters& parameters, const Network& network);
/// Sequential, on the host, in double precision: the definition of the model in code.
std::unique_ptr<ReferenceSimulation> make_reference(const Parameters& parameters, const Network& network);

}  // namespace structure
