/// @file
/// How long it takes to build a k-d tree over triangles, with arrays of the nodes' triangles from an allocator.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs" (2015), sections 6 and 7, table
/// 3: the numbers of triangles of three of its scenes (Hand, Fairy Forest, Happy Buddha), in a scene that is made up,
/// or a file's triangles (--mesh). As there, the heap has 200 times the memory of the root's triangles, which is enough
/// for allocators that do not free; but 64 MiB at least. The tree stays; its leaves are freed after the clock has
/// stopped.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/malloc/bitmap_malloc.h>
#include <dynasoar/malloc/random_walk.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/timer.h>

#include "../runs.h"
#include "../suite.h"
#include "k_d_tree_build.h"
#include "k_d_tree_check.h"

namespace benchmarks::allocators {

/// The nodes of a level lie side by side.
struct KdLevel {
  std::uint32_t first_node;
  std::uint32_t end_node;
};

struct KdTimes {
  double build;       ///< seconds
  double allocation;  ///< of them, in launches that allocate or free
};

/// A device's tables, for trees over the same triangles.
class KdTreeBuild {
 public:
  KdTreeBuild(dynasoar::Executor& executor, const std::vector<Box>& triangles)
      : executor_(executor),
        count_(static_cast<std::uint32_t>(triangles.size())),
        most_depth_(static_cast<int>(8 + 1.3 * std::log2(static_cast<double>(triangles.size())))),  // Havran's
        triangles_(triangles.size()),
        root_references_(triangles.size()),
        nodes_(8 * triangles.size() + 64),
        slabs_(2 * triangles.size() + 64),
        chunks_{dynasoar::DeviceArray<KdChunk>(3 * triangles.size() + 64),
                dynasoar::DeviceArray<KdChunk>(3 * triangles.size() + 64)},
        open_{dynasoar::DeviceArray<std::uint32_t>(slabs_.size()), dynasoar::DeviceArray<std::uint32_t>(slabs_.size())},
        counts_(1) {
    triangles_.upload(triangles);
    std::vector<std::uint32_t> all(count_);
    std::iota(all.begin(), all.end(), 0u);
    root_references_.upload(all);
    root_.box = triangles.front();
    for (const Box& box : triangles) {
      for (int axis = 0; axis < 3; ++axis) {
        root_.box.low[axis] = std::min(root_.box.low[axis], box.low[axis]);
        root_.box.high[axis] = std::max(root_.box.high[axis], box.high[axis]);
      }
    }
    root_.references = root_references_.data();
    root_.count = count_;
    root_.axis = kOpen;
  }

  /// @throws std::runtime_error if the tree is larger than the tables
  template <class M>
  KdTimes build(const M& memory) {
    start();
    std::deque<dynasoar::Timer> allocation;
    dynasoar::Timer whole(executor_);
    executor_.synchronize();
    whole.start();
    for (int depth = 1; counts_read_.open > 0; ++depth) build_level(memory, depth, allocation);
    whole.stop();
    const double build = whole.seconds();
    double allocating = 0;
    for (const dynasoar::Timer& timer : allocation) allocating += timer.seconds();
    return {build, allocating};
  }

  /// Gives the leaves' memory back.
  template <class M>
  void free_leaves(const M& memory) {
    executor_.for_each_index(counts_read_.nodes, FreeLeaves<M>{memory, nodes_.data()});
    executor_.synchronize();
  }

  KdCounts counts() const { return counts_read_; }
  const std::vector<KdLevel>& levels() const { return levels_; }

  /// The nodes alone. They are first in the array that is downloaded.
  std::vector<KdNode> nodes() const {
    std::vector<KdNode> nodes = nodes_.download();
    nodes.resize(counts_read_.nodes);
    return nodes;
  }

  KdTree tree() {
    KdTree tree{nodes(), {}};
    std::uint32_t references = 0;
    for (KdNode& node : tree.nodes) {
      if (node.axis == kLeaf) node.slot = std::exchange(references, references + node.count);
    }
    nodes_.upload(tree.nodes);
    const dynasoar::DeviceArray<std::uint32_t> collected(references);
    executor_.for_each_index(tree.nodes.size(), CollectLeaves{nodes_.data(), collected.data()});
    executor_.synchronize();
    tree.references = collected.download();
    return tree;
  }

 private:
  KdTables tables(std::size_t level) const {
    return {triangles_.data(),
            nodes_.data(),
            slabs_.data(),
            chunks_[level % 2].data(),
            chunks_[(level + 1) % 2].data(),
            open_[level % 2].data(),
            open_[(level + 1) % 2].data(),
            counts_.data(),
            static_cast<std::uint32_t>(nodes_.size()),
            static_cast<std::uint32_t>(chunks_[0].size()),
            static_cast<std::uint32_t>(slabs_.size())};
  }

  /// The root is the only open node.
  void start() {
    levels_ = {{0, 1}};
    slabs_.fill_bytes(0);
    nodes_.upload({root_});
    std::vector<KdChunk> chunks;
    for (std::uint32_t first = 0; first < count_; first += kChunk) chunks.push_back({0, first});
    chunks_[0].upload(chunks);
    open_[0].upload({0});
    counts_read_ = {1, static_cast<std::uint32_t>(chunks.size()), 1, 0, 0, 0};
  }

  template <class M>
  void build_level(const M& memory, int depth, std::deque<dynasoar::Timer>& allocation) {
    const KdTables level = tables(levels_.size() - 1);
    const std::size_t references = std::size_t{counts_read_.chunks} * kChunk;
    const std::size_t splitters = std::size_t{counts_read_.open} * kWarpThreads;
    counts_read_.chunks = counts_read_.open = 0;
    counts_.upload({counts_read_});
    executor_.for_each_index(references, CountAtPlanes{level});
    allocation.emplace_back(executor_).start();
    executor_.for_each_index(splitters, SplitNodes<M>{memory, level, depth < most_depth_});
    allocation.back().stop();
    executor_.for_each_index(references, FillChildren{level});
    allocation.emplace_back(executor_).start();
    executor_.for_each_index(splitters, FreeSplitNodes<M>{memory, level});
    allocation.back().stop();
    executor_.synchronize();
    counts_read_ = counts_.download()[0];
    if (counts_read_.overflow != 0) throw std::runtime_error("the k-d tree is larger than expected");
    levels_.push_back({levels_.back().end_node, counts_read_.nodes});
  }

  dynasoar::Executor& executor_;
  std::uint32_t count_;
  int most_depth_;
  KdNode root_{};
  dynasoar::DeviceArray<Box> triangles_;
  dynasoar::DeviceArray<std::uint32_t> root_references_;
  dynasoar::DeviceArray<KdNode> nodes_;
  dynasoar::DeviceArray<KdSlabs> slabs_;
  dynasoar::DeviceArray<KdChunk> chunks_[2];
  dynasoar::DeviceArray<std::uint32_t> open_[2];
  dynasoar::DeviceArray<KdCounts> counts_;
  KdCounts counts_read_{};
  std::vector<KdLevel> levels_;
};

/// What the allocator was asked for: an array for each node but the root that has references.
struct RequestSizes {
  double count = 0;
  double sum = 0;
  double squares = 0;

  void add(std::uint32_t references) {
    const double bytes = references * sizeof(std::uint32_t);
    count += references > 0 ? 1 : 0;
    sum += bytes;
    squares += bytes * bytes;
  }
  double mean() const { return count > 0 ? sum / count : 0; }
  double deviation() const { return count > 0 ? std::sqrt(std::max(0.0, squares / count - mean() * mean())) : 0; }

  void record(const Recorder& recorder) const {
    recorder.add("allocations", "", {count});
    recorder.add("mean size", "bytes", {mean()});
    recorder.add("deviation of sizes", "bytes", {deviation()});
  }
};

/// Records what table 3 says of a scene; for one of the allocators, also for each level, where all do the same.
inline void record_requests(const Recorder& recorder, const KdTreeBuild& build) {
  const std::vector<KdNode> nodes = build.nodes();
  RequestSizes all;
  std::uint64_t in_leaves = nodes[0].axis == kLeaf ? nodes[0].count : 0;
  for (std::size_t depth = 1; depth < build.levels().size(); ++depth) {
    RequestSizes level;
    for (std::uint32_t i = build.levels()[depth].first_node; i < build.levels()[depth].end_node; ++i) {
      all.add(nodes[i].count);
      level.add(nodes[i].count);
      in_leaves += nodes[i].axis == kLeaf ? nodes[i].count : 0;
    }
    if (recorder.allocator != "toolkit" || level.count == 0) continue;
    Recorder of_level = recorder;
    of_level.parameters["level"] = static_cast<std::int64_t>(depth);
    level.record(of_level);
  }
  all.record(recorder);
  recorder.add("references per triangle", "",
               {static_cast<double>(in_leaves) / static_cast<double>(recorder.parameters.at("triangles"))});
  recorder.add_refused(build.counts().refused, build.counts().asked);
}

template <class M>
void measure_k_d_tree(const Context& context, const std::vector<Box>& triangles) {
  const std::size_t root_bytes = triangles.size() * sizeof(std::uint32_t);
  dynasoar::Executor executor;
  Heap<M> heap(executor, {std::max(200 * root_bytes, std::size_t{context.pick(64u, 16u)} << 20), root_bytes});
  KdTreeBuild build(executor, triangles);
  std::vector<double> whole, allocation;
  for (int run = -1; run < context.repetitions; ++run) {
    heap.prepare();
    const KdTimes times = build.build(heap.view());
    if (context.smoke) check_tree(build.tree(), triangles);
    build.free_leaves(heap.view());
    const bool is_slow = times.build > kLongestRun;
    if (run < 0 && !is_slow) continue;
    whole.push_back(times.build * 1e3);
    allocation.push_back(times.allocation * 1e3);
    if (is_slow) break;
  }
  const Recorder recorder{
      context, "k_d_tree", M::kProperties.name, {{"triangles", static_cast<std::int64_t>(triangles.size())}}};
  recorder.add("build", "ms", whole);
  recorder.add("allocating and freeing", "ms", allocation);
  record_requests(recorder, build);
}

template <class M>
void run_k_d_tree(const Context& context) {
  if (!context.mesh.empty()) return measure_k_d_tree<M>(context, read_obj(context.mesh));
  const std::vector<std::size_t> sizes{20000, 174000, 1087000};
  const std::vector<std::size_t> few{1000};
  for (const std::size_t triangles : context.pick(sizes, few)) measure_k_d_tree<M>(context, make_scene(triangles));
}

/// Allocators whose requests all get the same amount of memory would have to give as much to a leaf as to the root.
template <class M>
inline constexpr bool kHasOneSize = std::is_same_v<M, dynasoar::BitmapMalloc> || std::is_same_v<M, dynasoar::RwPages> ||
                                    std::is_same_v<M, dynasoar::RwBmPages> || std::is_same_v<M, dynasoar::CoRwPages>;

/// Without FDGMalloc, as in the paper: a warp's memory would have to be freed as a whole.
template <class M>
void add_k_d_tree(std::vector<Case>& cases) {
  constexpr bool is_fdg = std::string_view(M::kProperties.name) == "fdg";
  if constexpr (!M::kProperties.collective && !kHasOneSize<M> && !is_fdg) {
    cases.push_back({"k_d_tree", M::kProperties.name, run_k_d_tree<M>});
  }
}

}  // namespace benchmarks::allocators
