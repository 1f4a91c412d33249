/// @file
/// Creates many objects at once, for AllocatorHandle::parallel_new. It fills whole blocks as long as no block with free
/// slots is listed, and creates the other objects with one request per lane and object. (Checked builds only do the
/// latter.)
///
/// There are two loops. In the first loop, a warp takes up to 64 closed blocks with one request and fills them, a slot
/// per lane. So the accesses of constructors are coalesced and no search is needed. A warp that gets no more blocks
/// leaves the rest of its share to the second loop. The second loop has more warps, because requests for slots are
/// bound by latency. On the host a warp is a thread, and compilers vectorize the loop over a block's slots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <tuple>
#include <utility>

#include <dynasoar/classes/layout.h>
#include <dynasoar/loops/visited_block.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// Divides the creation of `count` objects among warps. A chunk has as many objects as a block; the last chunk may have
/// fewer.
struct BulkPlan {
  static constexpr std::uint32_t kLanes = PlatformWarp::kLanes;

  std::size_t count;
  int share_shift;               ///< logarithm of the chunks of a warp of the first loop
  int piece_shift;               ///< logarithm of the chunks of a warp of the second loop, which divides shares
  std::uint32_t* filled_chunks;  ///< [shares()] number of first chunks that the first loop has filled

  /// @param warps   the number of warps that run at the same time
  BulkPlan(std::size_t objects, std::size_t warps, std::uint32_t* filled)
      : count(objects), share_shift(0), piece_shift(0), filled_chunks(filled) {
    while (shares() > warps || kLeastBulkShare >> share_shift > 1) ++share_shift;
    while (chunks() >> (piece_shift + 1) >= warps) ++piece_shift;
  }

  __host__ __device__ std::size_t chunks() const {
    return count / kSlotsPerBlock + (count % kSlotsPerBlock == 0 ? 0 : 1);
  }
  std::size_t shares() const { return number_of(share_shift); }
  std::size_t pieces() const { return number_of(piece_shift); }

  /// Whether there are shares that fill blocks.
  bool has_whole_blocks() const { return chunks() >= kLeastBulkShare; }

 private:
  std::size_t number_of(int shift) const { return chunks() == 0 ? 0 : ((chunks() - 1) >> shift) + 1; }
};

/// Constructs object i: `T(i, args...)`.
template <class T, class... Args>
struct Construction {
  std::tuple<Args...> arguments;

  /// Constructs object i in the slot of a handle.
  __device__ void at(std::uint64_t handle, std::size_t i) const {
    std::apply([&](const Args&... args) { ::new (reinterpret_cast<void*>(opaque(handle))) T(std::size_t{i}, args...); },
               arguments);
  }
  /// Creates object i in any slot of A. @return whether there was one
  template <class A>
  __device__ bool anywhere(std::size_t i) const {
    return std::apply([&](const Args&... args) { return A::template make_new<T>(std::size_t{i}, args...) != nullptr; },
                      arguments);
  }
};

/// The first loop: a warp per share.
///
/// @tparam A   a SoaAllocator
template <class A, class T, class... Args>
struct FillBlocks {
  BulkPlan plan;
  Construction<T, Args...> construction;

  std::size_t threads() const { return plan.shares() * BulkPlan::kLanes; }

  /// @pre all lanes of a warp call it together; in lane l, thread % kLanes is l
  __device__ void operator()(std::size_t thread) const {
    const auto lane = static_cast<std::uint32_t>(thread % BulkPlan::kLanes);
    const std::size_t share = thread / BulkPlan::kLanes;
    const std::size_t first = share << plan.share_shift;
    const std::size_t last = plan.count / kSlotsPerBlock;  // chunk behind the last whole block
    const std::size_t share_end = first + (std::size_t{1} << plan.share_shift);
    const std::size_t end = share_end < last ? share_end : last;
    std::size_t chunk = first;
    while (chunk < end) {
      const std::size_t filled = fill(chunk, static_cast<int>(end - chunk < 64 ? end - chunk : 64), lane);
      if (filled == 0) break;
      chunk += filled;
    }
    if (lane == 0) plan.filled_chunks[share] = static_cast<std::uint32_t>(chunk - first);
  }

 private:
  /// Fills up to `want` blocks with the objects of `chunk` and later chunks. @return the number of blocks
  __device__ std::size_t fill(std::size_t chunk, int want, std::uint32_t lane) const {
    const auto warp = PlatformWarp::all();
    typename A::Heap::Blocks blocks{};
    if (lane == 0) {
      blocks = bound_state<A>().heap.allocate_blocks(A::template index_of<T>, want, PlatformWarp{}.id());
    }
    warp.synchronize();  // the first lane's acquire of the blocks holds for all lanes
    blocks.bits = warp.broadcast(blocks.bits);
    blocks.first = warp.broadcast(blocks.first);
    for (std::uint64_t left = blocks.bits; left != 0; left &= left - 1, ++chunk) {
      const std::uint32_t block = blocks.first + static_cast<std::uint32_t>(lowest_bit(left));
      const std::uint64_t first = reinterpret_cast<std::uint64_t>(A::template object<T>(block, 0));
      note_visited_block(first);
      for (std::uint64_t slot = lane; slot < kSlotsPerBlock; slot += BulkPlan::kLanes) {
        construction.at(first + slot, chunk * kSlotsPerBlock + slot);
      }
      warp.synchronize();  // otherwise lanes would stay diverged after their constructors
    }
    return static_cast<std::size_t>(popcount(blocks.bits));
  }
};

/// The second loop: a warp per piece creates the remaining objects of its share. If the heap is full, each lane refuses
/// the rest of its objects in one step, however many they are.
template <class A, class T, class... Args>
struct CreateRest {
  BulkPlan plan;
  Construction<T, Args...> construction;

  std::size_t threads() const { return plan.pieces() * BulkPlan::kLanes; }

  /// @pre as for FillBlocks
  __device__ void operator()(std::size_t thread) const {
    const std::size_t piece = thread / BulkPlan::kLanes;
    std::size_t chunk = piece << plan.piece_shift;
    const std::size_t end = chunk + (std::size_t{1} << plan.piece_shift);
    if (plan.filled_chunks != nullptr) {
      const std::size_t share = chunk >> plan.share_shift;
      const std::size_t rest = (share << plan.share_shift) + plan.filled_chunks[share];
      chunk = chunk < rest ? rest : chunk;
    }
    const std::size_t last = end < plan.chunks() ? end * kSlotsPerBlock : plan.count;
    std::size_t i = chunk * kSlotsPerBlock + thread % BulkPlan::kLanes;
    if (chunk >= end || i >= last) return;
    std::size_t more = (last - i - 1) / BulkPlan::kLanes;
    while ((construction.template anywhere<A>(i) || !A::template refuse_rest<T>(more)) && more > 0) {
      i += BulkPlan::kLanes;
      --more;
    }
  }
};

/// The memory of a handle for the creation of many objects: words in which the first loop stores its progress for the
/// second loop.
class BulkCreation {
 public:
  explicit BulkCreation(const Executor& executor)
      : warps_(std::size_t{executor.concurrent_warps()} * kBulkSharesPerWarp), filled_chunks_(warps_) {
    filled_chunks_.fill_bytes(0);
  }

  /// Creates `T(i, args...)` for 0 <= i < count. @param run   run(f) calls f(i) for 0 <= i < f.threads() in parallel
  template <class A, class T, class Run, class... Args>
  void create(std::size_t count, const Run& run, const std::tuple<Args...>& arguments) {
    BulkPlan plan(count, warps_, filled_chunks_.data());
    if (!A::kCreatesInBulk || !plan.has_whole_blocks()) plan.filled_chunks = nullptr;
    if constexpr (A::kCreatesInBulk) {
      if (plan.filled_chunks != nullptr) run(FillBlocks<A, T, Args...>{plan, {arguments}});
    }
    run(CreateRest<A, T, Args...>{plan, {arguments}});
  }

 private:
  std::size_t warps_;
  DeviceArray<std::uint32_t> filled_chunks_;
};

/// Replaces BulkCreation in allocators that create one object at a time.
struct NoBulkCreation {
  explicit NoBulkCreation(const Executor&) {}
};

}  // namespace dynasoar::detail
