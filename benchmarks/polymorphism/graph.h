/// @file
/// Graphs whose edges are of three kinds, and three algorithms on them: breadth-first search, connected components and
/// PageRank. Plain C++; what is computed for a node is in graph_rules.h.
///
/// Edges pass values between their ends. A one-way edge passes them from its first end to its second one, a two-way
/// edge both ways, and a closed edge not at all. Nodes in turn are of two kinds: a leaf has no edge that leads away.
///
/// All values are integers whose sums and minima do not depend on the order, so all variants have the same results.
#pragma once

#include <cstdint>
#include <vector>

namespace benchmarks::polymorphism {

enum class Algorithm {
  levels,      ///< breadth-first search from node 0: a step visits a level
  components,  ///< connected components, by the least number of a node; in these, one-way edges pass both ways
  page_rank,
};

/// What has virtual functions, or different methods in subclasses: as in GraphChi-vE and GraphChi-vEN of ParaPoly.
enum class Polymorphic { edges, edges_and_nodes };

enum class EdgeKind : std::uint8_t { one_way, two_way, closed };

struct EdgeSeed {
  std::uint32_t first;
  std::uint32_t second;
  EdgeKind kind;
};

struct Graph {
  std::vector<EdgeSeed> edges;          ///< by their first ends
  std::vector<std::uint32_t> ways_out;  ///< [nodes] edges that lead away
};

/// A random graph of 2^bits nodes, of which some have many edges and most have few (R-MAT, Chakrabarti et al. 2004).
Graph random_graph(int bits, std::uint32_t edges_per_node);

/// What an algorithm finds, and the steps that it needs at most.
struct Solution {
  std::vector<double> values;  ///< [nodes]
  int steps;
};

/// The sequential reference.
Solution solve(Algorithm algorithm, const Graph& graph);

}  // namespace benchmarks::polymorphism
