#include "graph.h"

#include <algorithm>
#include <cstddef>

#include "graph_rules.h"
#include "random_numbers.h"

namespace benchmarks::polymorphism {
namespace {

/// What each end of an edge passes to the other one, as pairs of nodes.
template <class F>
void for_each_way(Algorithm algorithm, const Graph& graph, const F& pass) {
  for (const EdgeSeed& edge : graph.edges) {
    if (edge.kind == EdgeKind::closed) continue;
    pass(edge.first, edge.second);
    if (edge.kind == EdgeKind::two_way || algorithm == Algorithm::components) pass(edge.second, edge.first);
  }
}

}  // namespace

Graph random_graph(int bits, std::uint32_t edges_per_node) {
  const std::uint64_t nodes = std::uint64_t{1} << bits;
  Graph graph;
  graph.edges.resize(nodes * edges_per_node);
  graph.ways_out.resize(nodes);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    EdgeSeed& edge = graph.edges[e];
    edge = {};
    // In the matrix of all edges, each step chooses a quarter of what is left: with 57, 19, 19 and 5 %.
    for (int bit = 0; bit < bits; ++bit) {
      const std::uint32_t percent = hashed(e, static_cast<std::uint32_t>(bit)) % 100;
      edge.first = 2 * edge.first + (percent >= 76 ? 1 : 0);
      edge.second = 2 * edge.second + ((percent >= 57 && percent < 76) || percent >= 95 ? 1 : 0);
    }
    const std::uint32_t eighth = hashed(e, 100) % 8;
    edge.kind = eighth < 4 ? EdgeKind::one_way : eighth < 7 ? EdgeKind::two_way : EdgeKind::closed;
  }
  std::stable_sort(graph.edges.begin(), graph.edges.end(),
                   [](const EdgeSeed& a, const EdgeSeed& b) { return a.first < b.first; });
  for_each_way(Algorithm::page_rank, graph, [&](std::uint32_t from, std::uint32_t) { ++graph.ways_out[from]; });
  return graph;
}

Solution solve(Algorithm algorithm, const Graph& graph) {
  const auto nodes = static_cast<std::uint32_t>(graph.ways_out.size());
  std::vector<std::uint64_t> values(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) values[n] = first_value(algorithm, n);
  Solution solution{{}, 0};
  for (bool has_changed = true; has_changed; ++solution.steps) {
    std::vector<std::uint64_t> next = values;
    if (algorithm == Algorithm::page_rank) std::fill(next.begin(), next.end(), 0);
    for_each_way(algorithm, graph, [&](std::uint32_t from, std::uint32_t to) {
      if (algorithm == Algorithm::page_rank) {
        next[to] += values[from] / graph.ways_out[from];
      } else if (values[from] != kUnreached) {
        next[to] = std::min(next[to], values[from] + (algorithm == Algorithm::levels ? 1 : 0));
      }
    });
    if (algorithm == Algorithm::page_rank) {
      for (std::uint64_t& value : next) value = new_rank(value);
      has_changed = solution.steps + 1 < kPageRankSteps;
    } else {
      has_changed = next != values;
    }
    values.swap(next);
  }
  solution.values.assign(values.begin(), values.end());
  return solution;
}

}  // namespace benchmarks::polymorphism
