/// @file
/// KdTreeBuild: builds a k-d tree over triangles on the device, whose nodes' arrays come from an allocator. What
/// k_d_tree.h measures.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs" (2015), section 6, "Data
/// structure build": a node that is split asks for one array for each child, of the triangles that touch it, and frees
/// its own; one thread of a warp asks. They build in one kernel with warps that take nodes from a queue. Here all nodes
/// of a level are split at the same time, in four launches, so that more requests meet; and a warp counts 32
/// references, not a node.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>

#include "../mesh.h"
#include "../runs.h"

namespace benchmarks::allocators {

using KdWord = dynasoar::AtomicWord<std::uint32_t>;

/// Planes that a node may be split at: along each axis, between eight slabs.
inline constexpr int kSlabs = 8;
inline constexpr std::uint32_t kChunk = 32;           ///< references that a warp looks at
inline constexpr std::uint32_t kMostInLeaf = 4;       ///< nodes with so few references are leaves
inline constexpr float kTraversal = 1;                ///< cost of a split in the surface area heuristic
inline constexpr float kIntersection = 1.5f;          ///< and of a triangle
inline constexpr std::uint32_t kLeaf = 3, kOpen = 4;  ///< instead of an axis

struct KdNode {
  Box box;
  std::uint32_t* references;  ///< numbers of triangles, whose memory is the allocator's; null in nodes that were split
  std::uint32_t count;        ///< of references
  std::uint32_t axis;         ///< 0, 1 or 2 if the node was split, else kLeaf or kOpen
  float plane;                ///< where it was split
  std::uint32_t children;     ///< first of two
  std::uint32_t slot;         ///< among the open nodes of its level
  KdWord filled;              ///< references that were written
};

/// References of an open node, kChunk of them or the last ones.
struct KdChunk {
  std::uint32_t node;
  std::uint32_t first;
};

/// How many references of a node belong to the left of planes from each on, and to the right of planes up to each.
struct KdSlabs {
  KdWord left_from[3][kSlabs];
  KdWord right_to[3][kSlabs];
};

/// A reference belongs to both sides if it touches both; a triangle in the plane to the left one.
__host__ __device__ inline bool belongs_left(const Box& box, int axis, float plane) {
  return box.low[axis] < plane || box.high[axis] <= plane;
}
__host__ __device__ inline bool belongs_right(const Box& box, int axis, float plane) {
  return box.high[axis] > plane;
}

/// The plane in front of slab `slab`. With an explicit fma, so that all kernels compute the same.
__host__ __device__ inline float plane_of(const Box& box, int axis, int slab) {
  return std::fma(box.high[axis] - box.low[axis], static_cast<float>(slab) / kSlabs, box.low[axis]);
}

__device__ inline float area_of(const Box& box) {
  const float x = box.high[0] - box.low[0], y = box.high[1] - box.low[1], z = box.high[2] - box.low[2];
  return x * y + y * z + z * x;
}

__host__ __device__ inline Box side_of(Box box, int axis, float plane, bool right) {
  (right ? box.low : box.high)[axis] = plane;
  return box;
}

/// What the host reads and sets between levels.
struct KdCounts {
  std::uint32_t nodes;
  std::uint32_t chunks;  ///< of the next level
  std::uint32_t open;    ///< nodes of the next level
  std::uint32_t asked;   ///< requests for memory
  std::uint32_t refused;
  std::uint32_t overflow;  ///< 1 if the tables below were too small
};

/// The tables of a build, in device memory.
struct KdTables {
  const Box* triangles;
  KdNode* nodes;
  KdSlabs* slabs;        // of the level's open nodes; all 0 between levels
  KdChunk* chunks;       // of this level
  KdChunk* next_chunks;  // of the next
  std::uint32_t* open;   // likewise
  std::uint32_t* next_open;
  KdCounts* counts;
  std::uint32_t most_nodes;
  std::uint32_t most_chunks;
  std::uint32_t most_open;

  __device__ KdWord& word(std::uint32_t KdCounts::*which) const { return reinterpret_cast<KdWord&>(counts->*which); }
};

/// A thread per reference: counts it at the planes of its node.
struct CountAtPlanes {
  KdTables tables;

  __device__ void operator()(std::size_t thread) const {
    const KdChunk chunk = tables.chunks[thread / kChunk];
    const KdNode& node = tables.nodes[chunk.node];
    const std::uint32_t at = chunk.first + static_cast<std::uint32_t>(thread % kChunk);
    if (at >= node.count) return;
    const Box& triangle = tables.triangles[node.references[at]];
    KdSlabs& slabs = tables.slabs[node.slot];
    for (int axis = 0; axis < 3; ++axis) {
      int not_left = 0, right = 0;
      for (int slab = 1; slab < kSlabs; ++slab) {
        const float plane = plane_of(node.box, axis, slab);
        not_left += belongs_left(triangle, axis, plane) ? 0 : 1;
        right += belongs_right(triangle, axis, plane) ? 1 : 0;
      }
      slabs.left_from[axis][not_left].add(1, dynasoar::Order::relaxed);
      slabs.right_to[axis][right].add(1, dynasoar::Order::relaxed);
    }
  }
};

/// A plane, and what there is on its sides.
struct KdSplit {
  float cost;
  int axis;
  float plane;
  std::uint32_t counts[2];
};

/// The first thread of a warp per open node: chooses a plane, asks for the children's memory, and makes them.
template <class M>
struct SplitNodes {
  M memory;
  KdTables tables;
  bool may_open;  ///< whether the children may be split too

  __device__ void operator()(std::size_t thread) const {
    if (thread % kWarpThreads != 0) return;
    KdNode& node = tables.nodes[tables.open[thread / kWarpThreads]];
    const KdSplit split = best_split(node);
    node.axis = kLeaf;
    if (split.cost >= kIntersection * static_cast<float>(node.count)) return;
    std::uint32_t* references[2];
    if (!take(split, references)) return;
    const std::uint32_t children = tables.word(&KdCounts::nodes).fetch_add(2, dynasoar::Order::relaxed);
    if (children + 2 > tables.most_nodes) {
      tables.word(&KdCounts::overflow).store(1, dynasoar::Order::relaxed);
      return;
    }
    node.axis = static_cast<std::uint32_t>(split.axis);
    node.plane = split.plane;
    node.children = children;
    for (int side = 0; side < 2; ++side) make_child(node, split, side, references[side]);
  }

 private:
  /// The cheapest split by the surface area heuristic. Leaves the node's counts at 0.
  __device__ KdSplit best_split(const KdNode& node) const {
    KdSlabs& slabs = tables.slabs[node.slot];
    KdSplit best{INFINITY, 0, 0, {0, 0}};
    for (int axis = 0; axis < 3; ++axis) {
      std::uint32_t left = 0;
      std::uint32_t right = node.count;
      for (int slab = 1; slab < kSlabs; ++slab) {
        left += slabs.left_from[axis][slab - 1].load(dynasoar::Order::relaxed);
        right -= slabs.right_to[axis][slab - 1].load(dynasoar::Order::relaxed);
        const KdSplit split = split_at(node.box, axis, slab, left, right);
        if (split.cost < best.cost) best = split;
      }
      for (int slab = 0; slab < kSlabs; ++slab) {
        slabs.left_from[axis][slab].store(0, dynasoar::Order::relaxed);
        slabs.right_to[axis][slab].store(0, dynasoar::Order::relaxed);
      }
    }
    return best;
  }

  __device__ static KdSplit split_at(const Box& box, int axis, int slab, std::uint32_t left, std::uint32_t right) {
    const float plane = plane_of(box, axis, slab);
    if (!(plane > box.low[axis] && plane < box.high[axis])) return {INFINITY, axis, plane, {left, right}};
    const float cost = (area_of(side_of(box, axis, plane, false)) * static_cast<float>(left) +
                        area_of(side_of(box, axis, plane, true)) * static_cast<float>(right)) /
                       area_of(box);
    return {kTraversal + kIntersection * cost, axis, plane, {left, right}};
  }

  /// Memory for both children, or for none. An empty one needs none.
  __device__ bool take(const KdSplit& split, std::uint32_t* (&references)[2]) const {
    bool all = true;
    for (int side = 0; side < 2; ++side) {
      references[side] = nullptr;
      if (split.counts[side] == 0) continue;
      references[side] = static_cast<std::uint32_t*>(memory.malloc(split.counts[side] * sizeof(std::uint32_t)));
      tables.word(&KdCounts::asked).add(1, dynasoar::Order::relaxed);
      if (references[side] != nullptr) continue;
      tables.word(&KdCounts::refused).add(1, dynasoar::Order::relaxed);
      all = false;
    }
    if (all) return true;
    for (std::uint32_t* const array : references) memory.free(array);
    return false;
  }

  __device__ void make_child(const KdNode& parent, const KdSplit& split, int side, std::uint32_t* references) const {
    const std::uint32_t number = parent.children + static_cast<std::uint32_t>(side);
    KdNode& child = tables.nodes[number];
    child = KdNode{
        side_of(parent.box, split.axis, split.plane, side == 1), references, split.counts[side], kLeaf, 0, 0, 0, {}};
    child.filled.store(0, dynasoar::Order::relaxed);
    if (may_open && child.count > kMostInLeaf) open(child, number);
  }

  /// Puts a node onto the lists of the next level.
  __device__ void open(KdNode& node, std::uint32_t number) const {
    const std::uint32_t chunks = (node.count + kChunk - 1) / kChunk;
    const std::uint32_t first = tables.word(&KdCounts::chunks).fetch_add(chunks, dynasoar::Order::relaxed);
    node.slot = tables.word(&KdCounts::open).fetch_add(1, dynasoar::Order::relaxed);
    if (first + chunks > tables.most_chunks || node.slot >= tables.most_open) {
      tables.word(&KdCounts::overflow).store(1, dynasoar::Order::relaxed);
      return;
    }
    node.axis = kOpen;
    tables.next_open[node.slot] = number;
    for (std::uint32_t i = 0; i < chunks; ++i) tables.next_chunks[first + i] = {number, i * kChunk};
  }
};

/// A thread per reference: writes it to the children that it touches.
struct FillChildren {
  KdTables tables;

  __device__ void operator()(std::size_t thread) const {
    const KdChunk chunk = tables.chunks[thread / kChunk];
    const KdNode& node = tables.nodes[chunk.node];
    const std::uint32_t at = chunk.first + static_cast<std::uint32_t>(thread % kChunk);
    if (at >= node.count || node.axis >= kLeaf) return;
    const std::uint32_t reference = node.references[at];
    const Box& triangle = tables.triangles[reference];
    const auto axis = static_cast<int>(node.axis);
    if (belongs_left(triangle, axis, node.plane)) append(tables.nodes[node.children], reference);
    if (belongs_right(triangle, axis, node.plane)) append(tables.nodes[node.children + 1], reference);
  }

 private:
  __device__ static void append(KdNode& child, std::uint32_t reference) {
    child.references[child.filled.fetch_add(1, dynasoar::Order::relaxed)] = reference;
  }
};

/// The first thread of a warp per open node: gives the memory of nodes that were split back.
template <class M>
struct FreeSplitNodes {
  M memory;
  KdTables tables;

  __device__ void operator()(std::size_t thread) const {
    if (thread % kWarpThreads != 0) return;
    const std::uint32_t number = tables.open[thread / kWarpThreads];
    KdNode& node = tables.nodes[number];
    if (node.axis >= kLeaf) return;
    if (number != 0) memory.free(node.references);  // the root's is the caller's
    node.references = nullptr;
  }
};

/// A thread per node: copies the references of leaves to where the host can read them, at `slot`.
struct CollectLeaves {
  KdNode* nodes;
  std::uint32_t* references;

  __device__ void operator()(std::size_t i) const {
    const KdNode& node = nodes[i];
    if (node.axis != kLeaf) return;
    for (std::uint32_t at = 0; at < node.count; ++at) references[node.slot + at] = node.references[at];
  }
};

/// A thread per node: gives the memory of leaves back.
template <class M>
struct FreeLeaves {
  M memory;
  const KdNode* nodes;

  __device__ void operator()(std::size_t i) const {
    if (i != 0 && nodes[i].axis == kLeaf) memory.free(nodes[i].references);
  }
};

}  // namespace benchmarks::allocators
