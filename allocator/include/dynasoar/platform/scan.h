/// @file
/// PrefixSums: for every number of an array, the sum of those before it. Used by UniformGrid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#if DYNASOAR_CUDA_BACKEND
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace dynasoar::detail {

#if DYNASOAR_CUDA_BACKEND

inline constexpr int kThreadsPerScan = 1024;
inline constexpr int kItemsPerScanThread = 8;

/// One thread block adds up all: for arrays so short that two kernels would take longer.
static __global__ void __launch_bounds__(kThreadsPerScan)
    short_scan_kernel(const std::uint32_t* numbers, std::uint32_t* sums, std::uint32_t count) {
  take_turns();
  using Scan = cub::BlockScan<std::uint32_t, kThreadsPerScan>;
  __shared__ typename Scan::TempStorage storage;
  std::uint32_t before = 0;
  constexpr std::uint32_t kTile = kThreadsPerScan * kItemsPerScanThread;
  for (std::uint32_t first = 0; first < count; first += kTile) {
    const std::uint32_t own = first + threadIdx.x * kItemsPerScanThread;
    std::uint32_t items[kItemsPerScanThread];
    for (std::uint32_t i = 0; i < kItemsPerScanThread; ++i) items[i] = own + i < count ? numbers[own + i] : 0;
    std::uint32_t total = 0;
    Scan(storage).ExclusiveSum(items, items, total);
    for (std::uint32_t i = 0; i < kItemsPerScanThread; ++i) {
      if (own + i < count) sums[own + i] = before + items[i];
    }
    before += total;
    __syncthreads();  // before the next tile takes the shared memory
  }
}

/// Sums over arrays of one length.
///
/// @par Concurrency   stream-ordered, without waiting for the device; may be recorded
/// @par Cost          a kernel; CUB's two where there are more than 32768 numbers
class PrefixSums {
 public:
  /// @throws Error if there is not enough memory
  explicit PrefixSums(std::size_t count) : count_(static_cast<std::uint32_t>(count)) {
    if (count_ <= kShort) return;
    std::size_t bytes = 0;
    check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<const std::uint32_t*>(nullptr),
                                             static_cast<std::uint32_t*>(nullptr), count_),
               "cub::DeviceScan");
    scratch_ = DeviceArray<char>(bytes);
  }

  /// sums[i] = numbers[0] + ... + numbers[i - 1], for all i. The arrays may not overlap.
  void run(Executor& executor, const std::uint32_t* numbers, std::uint32_t* sums) {
    if (count_ <= kShort) {
      static const KernelTraits traits(short_scan_kernel, executor.multiprocessors());
      launch(traits, short_scan_kernel, 1, executor.stream(), numbers, sums, count_);
      return;
    }
    std::size_t bytes = scratch_.bytes();
    check_cuda(cub::DeviceScan::ExclusiveSum(scratch_.data(), bytes, numbers, sums, count_, executor.stream()),
               "cub::DeviceScan");
  }

  std::size_t bytes() const { return scratch_.bytes(); }

 private:
  static constexpr std::uint32_t kShort = 4 * kThreadsPerScan * kItemsPerScanThread;

  std::uint32_t count_;
  DeviceArray<char> scratch_;
};

#else

class PrefixSums {
 public:
  explicit PrefixSums(std::size_t count) : count_(count) {}

  void run(Executor& executor, const std::uint32_t* numbers, std::uint32_t* sums) {
    const std::size_t parts = (count_ + kPart - 1) / kPart;
    before_.assign(parts + 1, 0);
    executor.for_each_index(parts, [&](std::size_t part) {
      std::uint32_t total = 0;
      for (std::size_t i = part * kPart; i < std::min(count_, (part + 1) * kPart); ++i) total += numbers[i];
      before_[part + 1] = total;
    });
    for (std::size_t part = 1; part <= parts; ++part) before_[part] += before_[part - 1];
    executor.for_each_index(parts, [&](std::size_t part) {
      std::uint32_t sum = before_[part];
      for (std::size_t i = part * kPart; i < std::min(count_, (part + 1) * kPart); ++i) {
        sums[i] = sum;
        sum += numbers[i];
      }
    });
  }

  std::size_t bytes() const { return 0; }

 private:
  static constexpr std::size_t kPart = 16384;  // numbers that a thread adds up

  std::size_t count_;
  std::vector<std::uint32_t> before_;  // sum of the numbers before each part
};

#endif

}  // namespace dynasoar::detail
