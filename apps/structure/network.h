/// @file
/// Makes networks from random numbers or a mesh, and checks networks. Plain C++ on the host: all implementations get
/// the same network.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh.h"
#include "simulation.h"

namespace structure {

/// The most springs at one node of a random network.
inline constexpr std::uint32_t kRandomSprings = 5;

/// A random network. @pre all numbers at least 0; nodes <= 2^27; free + pulled <= 1; springs_per_node <= 2.5
struct RandomNetwork {
  std::uint64_t nodes = 1000;
  double springs_per_node = 1.75;
  double free = 0.65;        ///< fraction of the nodes that are free
  double pulled = 0.25;      ///< fraction that are pulled; the others are anchors
  double pull_speed = 0.05;  ///< largest component of a pulled anchor's velocity
  std::uint64_t seed = 42;
};

/// The options for making a network from a mesh. @pre all numbers at least 0; anchor_left + pull_right <= 1
struct MeshSetup {
  double anchor_left = 0.05;  ///< nodes in this fraction of the mesh's width, from the left, are anchors
  double pull_right = 0.05;   ///< nodes in this fraction, from the right, are pulled to the right
  double pull_speed = 0.05;   ///< at this speed
  std::uint64_t seed = 42;    ///< of the springs' factors
};

Network random_network(const RandomNetwork& options);

/// Nodes are the mesh's nodes, springs its edges, both with the same numbers.
Network mesh_network(const Mesh& mesh, const MeshSetup& setup);

/// A spring and its slots at both ends.
struct PlacedSpring {
  SpringState spring;
  std::uint8_t first_slot;
  std::uint8_t second_slot;
};

/// Where the springs of a network are in the slots of its nodes: at each node in the order of their numbers.
struct Slots {
  std::vector<PlacedSpring> springs;  ///< all of them, by number; those that do not exist have no slots
  std::vector<std::uint8_t> used;     ///< [nodes] slots that a node uses, from the first
  std::uint32_t most = 0;             ///< the most slots that a node uses
};

/// @throws std::invalid_argument if the network is invalid, as check_network()
Slots assign_slots(const Network& network);

/// @throws std::invalid_argument if the network is invalid: a spring whose ends are not two nodes that exist, more than
///         kSpringSlots springs at a node, an anchor with a velocity, numbers that are not finite, factors or rest
///         lengths below 0
void check_network(const Network& network);

}  // namespace structure
