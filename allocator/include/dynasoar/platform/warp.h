/// @file
/// Warps: lanes that execute together and can combine their requests.
///
/// Warp-collective algorithms take a warp, a model of the concept Warp, as a parameter. The platform's is PlatformWarp.
#pragma once

#include <concepts>
#include <cstdint>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// Sums over the lanes of a group.
struct LaneSums {
  std::uint32_t before;  ///< sum over the lanes of lower rank
  std::uint32_t total;   ///< sum over all lanes
};

/// Lanes that arrived together, from the view of one of them. All lanes of the group call an operation together.
///
/// Lanes have ranks from 0 to size() - 1. `broadcast(value)` is the value of the lane of rank 0; `matching(key)` is the
/// subgroup of lanes with an equal key; `combine(mask)` is the bitwise or over the group; `ballot(condition)` is a mask
/// of the ranks for which it holds; `shuffle(value, rank)` is the value of the lane of that rank; `sums(value)` are the
/// sums over the lanes of lower rank, and over all. Only `synchronize()` orders memory accesses of the lanes: accesses
/// before it come before accesses of other lanes of the group after it.
template <class G>
concept LaneGroup = requires(const G& group, std::uint32_t word, std::uint64_t mask, bool condition, int rank) {
  { group.rank() } -> std::same_as<int>;
  { group.size() } -> std::same_as<int>;
  { group.broadcast(word) } -> std::same_as<std::uint32_t>;
  { group.broadcast(mask) } -> std::same_as<std::uint64_t>;
  { group.matching(word) } -> std::same_as<G>;
  { group.combine(mask) } -> std::same_as<std::uint64_t>;
  { group.ballot(condition) } -> std::same_as<std::uint32_t>;
  { group.shuffle(word, rank) } -> std::same_as<std::uint32_t>;
  { group.sums(word) } -> std::same_as<LaneSums>;
  { group.synchronize() } -> std::same_as<void>;
};

/// The calling lane's view of its warp.
///
/// `coalesce()` returns the group of lanes that arrived together. `callers()` does the same, for a function that
/// determines its callers before a loop in which it calls `coalesce()`; lanes at the two calls never form one group.
/// `id()` identifies the warp among those that may run at the same time; it is a hint for distributing work and need
/// not be unique.
template <class W>
concept Warp = std::copy_constructible<W> && requires(const W& warp) {
  { warp.coalesce() } -> LaneGroup;
  { warp.callers() } -> LaneGroup;
  { warp.id() } -> std::same_as<std::uint32_t>;
};

/// A warp with all of its lanes: `all()` is the group of all kLanes lanes.
template <class W>
concept FullWarp = Warp<W> && requires {
  { W::kLanes } -> std::convertible_to<std::uint32_t>;
  { W::all() } -> LaneGroup;
};

/// A group of one lane: a CPU thread, or a lane of a GPU's warp that works alone.
struct SingleLaneGroup {
  __device__ int rank() const { return 0; }
  __device__ int size() const { return 1; }
  template <class T>
  __device__ T broadcast(T value) const {
    return value;
  }
  __device__ SingleLaneGroup matching(std::uint32_t) const { return {}; }
  __device__ std::uint64_t combine(std::uint64_t mask) const { return mask; }
  __device__ std::uint32_t ballot(bool condition) const { return condition ? 1 : 0; }
  template <class T>
  __device__ T shuffle(T value, int) const {
    return value;
  }
  __device__ LaneSums sums(std::uint32_t value) const { return {0, value}; }
  __device__ void synchronize() const {}
};
static_assert(LaneGroup<SingleLaneGroup>);

#if DYNASOAR_CUDA_BACKEND

/// Lanes of one CUDA warp that arrived together.
class CudaLaneGroup {
 public:
  __device__ explicit CudaLaneGroup(unsigned lanes) : lanes_(lanes) {}

  __device__ int rank() const { return __popc(lanes_ & lanes_below()); }
  __device__ int size() const { return __popc(lanes_); }

  /// The value of the lane of rank 0. @pre all lanes of the group call it together
  template <class T>
  __device__ T broadcast(T value) const {
    return __shfl_sync(lanes_, value, __ffs(static_cast<int>(lanes_)) - 1);
  }

  /// The lanes of this group with the same key. @pre all lanes of the group call it together
  __device__ CudaLaneGroup matching(std::uint32_t key) const { return CudaLaneGroup(__match_any_sync(lanes_, key)); }

  /// Bitwise or over the group. @pre all lanes of the group call it together
  __device__ std::uint64_t combine(std::uint64_t mask) const {
    const unsigned low = __reduce_or_sync(lanes_, static_cast<unsigned>(mask));
    const unsigned high = __reduce_or_sync(lanes_, static_cast<unsigned>(mask >> 32));
    return std::uint64_t{high} << 32 | low;
  }

  /// The ranks of the lanes for which `condition` holds, as a mask. @pre all lanes of the group call it together
  __device__ std::uint32_t ballot(bool condition) const {
    if (lanes_ == 0xffffffffu) return __ballot_sync(lanes_, condition);
    return __reduce_or_sync(lanes_, condition ? 1u << rank() : 0u);
  }

  /// The value of the lane of rank `from`, which may differ between lanes. @pre all lanes of the group call it
  /// together; 0 <= from < size()
  template <class T>
  __device__ T shuffle(T value, int from) const {
    return __shfl_sync(lanes_, value, lanes_ == 0xffffffffu ? from : detail::nth_set_bit(lanes_, from));
  }

  /// Sums over the group. @pre all lanes of the group call it together
  __device__ LaneSums sums(std::uint32_t value) const {
    if (lanes_ == 0xffffffffu) return sums_of_warp(value);
    LaneSums result{0, 0};
    for (unsigned left = lanes_; left != 0; left &= left - 1) {
      const std::uint32_t other = __shfl_sync(lanes_, value, __ffs(static_cast<int>(left)) - 1);
      if ((left & (0u - left) & lanes_below()) != 0) result.before += other;
      result.total += other;
    }
    return result;
  }

  /// A barrier for the lanes of the group, and for their memory accesses. @pre all lanes of the group call it together
  __device__ void synchronize() const {
    if (lanes_ == 0xffffffffu) {
      __syncwarp();  // faster than with a mask that the compiler does not know
    } else {
      __syncwarp(lanes_);
    }
  }

 private:
  /// `sums` in five steps. Each adds the partial sum of the lane 1, 2, 4, ... before.
  __device__ static LaneSums sums_of_warp(std::uint32_t value) {
    const auto lane = static_cast<unsigned>(__popc(lanes_below()));  // thread blocks may have two dimensions
    std::uint32_t with_own = value;
    for (unsigned step = 1; step < 32; step *= 2) {
      const std::uint32_t other = __shfl_up_sync(0xffffffffu, with_own, step);
      if (lane >= step) with_own += other;
    }
    return {with_own - value, __shfl_sync(0xffffffffu, with_own, 31)};
  }

  __device__ static unsigned lanes_below() {
    unsigned mask;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    return mask;
  }

  unsigned lanes_;
};

/// The calling thread's CUDA warp.
struct CudaWarp {
  static constexpr std::uint32_t kLanes = 32;

  /// @pre all lanes of the warp use it together
  __device__ static CudaLaneGroup all() { return CudaLaneGroup(0xffffffffu); }

  /// The lanes that execute this together.
  ///
  /// A lane adds its own bit, which is already set, so that the compiler does not treat the mask as equal in all lanes.
  /// Otherwise ptxas assumes that all lanes that run together got the same value from __activemask(), and compiles a
  /// barrier with this mask to a comparison with one lane's mask. But lanes with different masks may run together
  /// later. Such a barrier then lets lanes pass before their partners arrive, and the partners wait for them forever
  /// (CUDA 13.0, sm_90).
  __device__ CudaLaneGroup coalesce() const {
    unsigned own;
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(own));
    return CudaLaneGroup(__activemask() | own);
  }

  __device__ CudaLaneGroup callers() const { return coalesce(); }

  /// Multiprocessor and warp slot: unique among the warps resident at one moment.
  __device__ std::uint32_t id() const {
    unsigned multiprocessor, warp;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
    return multiprocessor * 64 + warp;
  }
};

/// The threads of a block, as a group. @pre all of them call its operations together
struct CudaBlock {
  __device__ int rank() const {
    return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  }
  __device__ int size() const { return static_cast<int>(blockDim.x * blockDim.y * blockDim.z); }
  __device__ std::uint64_t broadcast(std::uint64_t value) const {
    __shared__ std::uint64_t of_first;
    if (rank() == 0) of_first = value;
    __syncthreads();
    const std::uint64_t result = of_first;
    __syncthreads();  // before it is written again
    return result;
  }
  __device__ void synchronize() const { __syncthreads(); }
};

using PlatformWarp = CudaWarp;
using PlatformBlock = CudaBlock;

#else

namespace detail {
/// Number of the calling thread in the parallel loop that it runs; set by Executor.
inline thread_local std::uint32_t thread_number = 0;

/// Whether the calling thread runs a parallel loop; set by Executor.
inline thread_local bool is_in_loop = false;
}  // namespace detail

/// A CPU thread as a warp with one lane.
struct SingleLaneWarp {
  static constexpr std::uint32_t kLanes = 1;

  static SingleLaneGroup all() { return {}; }
  SingleLaneGroup coalesce() const { return {}; }
  SingleLaneGroup callers() const { return {}; }
  std::uint32_t id() const { return detail::thread_number; }
};

using PlatformWarp = SingleLaneWarp;
using PlatformBlock = SingleLaneGroup;

#endif

static_assert(FullWarp<PlatformWarp>);

}  // namespace dynasoar
