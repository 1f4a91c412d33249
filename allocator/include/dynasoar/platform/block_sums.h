/// @file
/// Collective operations of the threads of a warp or a thread block: shuffle_down; BlockScan and block_reduce, which
/// are for CUDA only. Used by the loops.
///
/// CUB has all three. But nvcc takes as long to read CUB's headers as to read the whole library, and every program
/// includes this file. Only the library's own sources use CUB (scan.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <type_traits>

#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Memory for values that are constructed one by one.
template <class T, int kCount>
class RawArray {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  __host__ __device__ T& operator[](std::size_t i) { return reinterpret_cast<T*>(bytes_)[i]; }
  __host__ __device__ const T& operator[](std::size_t i) const { return reinterpret_cast<const T*>(bytes_)[i]; }
  template <class... Args>
  __host__ __device__ void make(std::size_t i, const Args&... args) {
    ::new (static_cast<void*>(bytes_ + i * sizeof(T))) T(args...);
  }

 private:
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes_[kCount * sizeof(T)];
};

#if DYNASOAR_CUDA_BACKEND

/// The group of kLanes neighbouring threads of a warp that contains the calling thread, as a mask of the warp.
template <int kLanes>
__device__ unsigned neighbouring_lanes() {
  static_assert(kLanes < 32);
  return ((1u << kLanes) - 1) << (threadIdx.x % 32 / kLanes * kLanes);
}

/// The value of the thread that is `distance` lanes higher, within a group of kLanes neighbouring threads. The last
/// threads of the group get their own value. @param threads   the threads of the warp that call it, as a mask
template <int kLanes, class T>
__device__ T shuffle_down(const T& value, int distance, unsigned threads) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::size_t kWords = (sizeof(T) + sizeof(unsigned) - 1) / sizeof(unsigned);
  unsigned words[kWords] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (std::size_t i = 0; i < kWords; ++i) words[i] = __shfl_down_sync(threads, words[i], distance, kLanes);
  RawArray<T, 1> result;
  memcpy(static_cast<void*>(&result[0]), words, sizeof(T));
  return result[0];
}

/// Sums over the threads of a thread block of kThreads, a multiple of 32.
template <int kThreads>
struct BlockScan {
  /// Shared memory; may be used again after a __syncthreads.
  struct Storage {
    std::uint32_t sums[kThreads / 32];
  };

  /// @param[out] total   the sum of all values @return the sum of the values of lower threads. @pre all threads call it
  __device__ static std::uint32_t exclusive_sum(std::uint32_t value, Storage& storage, std::uint32_t& total) {
    const std::uint32_t lane = threadIdx.x % 32;
    const std::uint32_t warp = threadIdx.x / 32;
    std::uint32_t sum = value;  // sum of this warp's values up to that of this thread
#pragma unroll
    for (std::uint32_t distance = 1; distance < 32; distance *= 2) {
      const std::uint32_t before = __shfl_up_sync(0xffffffffu, sum, distance);
      if (lane >= distance) sum += before;
    }
    if (lane == 31) storage.sums[warp] = sum;
    __syncthreads();
    std::uint32_t before = sum - value;
    total = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kThreads / 32; ++i) {
      const std::uint32_t of_warp = storage.sums[i];
      if (i < warp) before += of_warp;
      total += of_warp;
    }
    return before;
  }
};

/// Combines the values of the kThreads threads of a thread block. @return the result, in thread 0 only
template <int kThreads, class T, class Op>
__device__ T block_reduce(T value, Op op, RawArray<T, kThreads / 32>& shared) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = op(value, shuffle_down<32>(value, distance, 0xffffffffu));
  }
  if (threadIdx.x % 32 == 0) shared.make(threadIdx.x / 32, value);
  __syncthreads();
  if (threadIdx.x != 0) return value;
  for (std::size_t i = 1; i < kThreads / 32; ++i) value = op(value, shared[i]);
  return value;
}

#else

// A thread of a CPU has no neighbours.
template <int kLanes>
unsigned neighbouring_lanes() {
  return 1;
}
template <int kLanes, class T>
T shuffle_down(const T& value, int, unsigned) {
  return value;
}

#endif

}  // namespace dynasoar::detail
