#include <dynasoar/platform/scan.h>

#include <algorithm>
#include <numeric>

#include <dynasoar/platform/config.h>
#include <dynasoar/tuning.h>

#if DYNASOAR_CUDA_BACKEND
#include <cub/block/block_scan.cuh>
#include <cub/device/device_scan.cuh>
#endif

namespace dynasoar::detail {

#if DYNASOAR_CUDA_BACKEND

namespace {

/// One thread block computes all sums, for arrays so short that two kernels would take longer.
__global__ void __launch_bounds__(kThreadsPerScan)
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
    __syncthreads();  // before the next tile overwrites the shared memory
  }
}

}  // namespace

PrefixSums::PrefixSums(std::size_t count) : count_(count) {
  if (count_ <= kShortScan) return;
  std::size_t bytes = 0;
  check_cuda(cub::DeviceScan::ExclusiveSum(nullptr, bytes, static_cast<const std::uint32_t*>(nullptr),
                                           static_cast<std::uint32_t*>(nullptr), static_cast<std::uint32_t>(count_)),
             "cub::DeviceScan");
  scratch_ = DeviceArray<char>(bytes);
}

void PrefixSums::run(Executor& executor, const std::uint32_t* numbers, std::uint32_t* sums) {
  const auto count = static_cast<std::uint32_t>(count_);
  if (count <= kShortScan) {
    static const KernelTraits traits(short_scan_kernel, executor.multiprocessors());
    launch(traits, short_scan_kernel, 1, executor.stream(), numbers, sums, count);
    return;
  }
  std::size_t bytes = scratch_.bytes();
  check_cuda(cub::DeviceScan::ExclusiveSum(scratch_.data(), bytes, numbers, sums, count, executor.stream()),
             "cub::DeviceScan");
}

#else

PrefixSums::PrefixSums(std::size_t count) : count_(count) {}

void PrefixSums::run(Executor& executor, const std::uint32_t* numbers, std::uint32_t* sums) {
  const std::size_t parts = (count_ + kNumbersPerScanTask - 1) / kNumbersPerScanTask;
  before_.assign(parts + 1, 0);
  executor.for_each_index(parts, [&](std::size_t part) {
    std::uint32_t total = 0;
    for (std::size_t i = part * kNumbersPerScanTask; i < std::min(count_, (part + 1) * kNumbersPerScanTask); ++i)
      total += numbers[i];
    before_[part + 1] = total;
  });
  std::partial_sum(before_.begin(), before_.end(), before_.begin());
  executor.for_each_index(parts, [&](std::size_t part) {
    std::uint32_t sum = before_[part];
    for (std::size_t i = part * kNumbersPerScanTask; i < std::min(count_, (part + 1) * kNumbersPerScanTask); ++i) {
      sums[i] = sum;
      sum += numbers[i];
    }
  });
}

#endif

}  // namespace dynasoar::detail
