/// @file
/// check_tree: whether a k-d tree is one. Used by smoke tests of k_d_tree.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "k_d_tree_build.h"

namespace benchmarks::allocators {

/// A tree in host memory.
struct KdTree {
  std::vector<KdNode> nodes;
  std::vector<std::uint32_t> references;  ///< of leaves, from KdNode::slot on
};

inline void expect(bool holds, const char* otherwise) {
  if (!holds) throw std::runtime_error(std::string("wrong k-d tree: ") + otherwise);
}

inline bool same_box(const Box& a, const Box& b) {
  return std::equal(a.low, a.low + 3, b.low) && std::equal(a.high, a.high + 3, b.high);
}

/// The children of a node share its box, and are filled.
inline void check_split(const KdTree& tree, const KdNode& node) {
  const auto axis = static_cast<int>(node.axis);
  expect(node.box.low[axis] < node.plane && node.plane < node.box.high[axis], "a plane is outside of its node");
  for (std::uint32_t side = 0; side < 2; ++side) {
    const KdNode& child = tree.nodes.at(node.children + side);
    expect(same_box(child.box, side_of(node.box, axis, node.plane, side == 1)), "a child is not a part of its parent");
    expect(child.filled.load(dynasoar::Order::relaxed) == child.count, "a child does not have what was counted");
  }
}

/// A leaf has each triangle that reaches into it, once, and none that does not touch it.
inline void check_leaf(const KdTree& tree, const KdNode& leaf, const std::vector<Box>& triangles,
                       std::vector<bool>& found) {
  std::vector<bool> has(triangles.size());
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    const std::uint32_t reference = tree.references.at(leaf.slot + i);
    expect(reference < triangles.size(), "a reference was overwritten");
    expect(!has[reference], "a leaf has a triangle twice");
    has[reference] = found[reference] = true;
  }
  for (std::size_t i = 0; i < triangles.size(); ++i) {
    bool touches = true, reaches_into = true;
    for (int axis = 0; axis < 3; ++axis) {
      const float low = triangles[i].low[axis], high = triangles[i].high[axis];
      touches = touches && low <= leaf.box.high[axis] && high >= leaf.box.low[axis];
      reaches_into = reaches_into && low < leaf.box.high[axis] && high > leaf.box.low[axis];
    }
    expect(!has[i] || touches, "a leaf has a triangle that does not touch it");
    expect(has[i] || !reaches_into, "a leaf does not have a triangle that reaches into it");
  }
}

/// @throws std::runtime_error if not
inline void check_tree(const KdTree& tree, const std::vector<Box>& triangles) {
  std::vector<bool> found(triangles.size());
  for (const KdNode& node : tree.nodes) {
    expect(node.axis != kOpen, "a node was forgotten");
    node.axis == kLeaf ? check_leaf(tree, node, triangles, found) : check_split(tree, node);
  }
  expect(tree.nodes.size() > triangles.size() / kMostInLeaf / 8, "there are hardly any nodes");
  expect(std::find(found.begin(), found.end(), false) == found.end(), "a triangle is in no leaf");
}

}  // namespace benchmarks::allocators
