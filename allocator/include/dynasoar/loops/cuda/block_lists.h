/// @file
/// make_lists on a GPU, and functions with which loops read the entries of a list.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/block_sums.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

namespace {

/// An entry of a list, in one load.
__device__ inline ListedBlock load_entry(const BlockList& list, std::uint32_t index) {
  static_assert(sizeof(ListedBlock) == sizeof(uint4) && alignof(ListedBlock) == alignof(uint4));
  const uint4 words = *reinterpret_cast<const uint4*>(list.entries + index);
  return {words.x | std::uint64_t{words.y} << 32, words.z};
}

/// The size of a list. Each call loads it again, so that it does not occupy registers.
__device__ inline ListSize load_size(const BlockList& list) {
  ListSize size;
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(size.blocks), "=r"(size.is_sparse) : "l"(list.size));
  return size;
}

/// Prefetches an entry into the L2 cache, for a later load_entry; takes one instruction and no register.
__device__ inline void prefetch_entry(const BlockList& list, std::uint32_t index) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(list.entries + index));
}

/// The value of a word that does not change while this kernel runs. Loads it through the cache that the thread blocks
/// of a multiprocessor share, which atomic loads bypass.
__device__ inline std::uint64_t resting_value(const AtomicWord<std::uint64_t>& word) {
  return *reinterpret_cast<const std::uint64_t*>(&word);
}

// Makes the lists. The kernel has a row of thread blocks per type. If no object of the type was created or deleted, the
// row ends immediately. To decide this, each thread block compares every shard of the counters, which is faster than
// adding them up. All thread blocks of a row come to the same decision, because only the last one to finish notes the
// new counts. The sources are a parameter, because parameters are available to a kernel earlier than constant memory.
template <class Heap, int kTypes>
__global__ void __launch_bounds__(kThreadsPerBlock)
    list_kernel(const __grid_constant__ ListSources<Heap, kTypes> sources) {
  take_turns();
  const ListSource<Heap>& type = sources.types[blockIdx.y];
  // Half of the threads compare creations, half compare deletions; neighbouring threads compare the same shards.
  constexpr auto kShards = static_cast<unsigned>(Heap::Counter::kShards);
  static_assert(2 * kShards == kThreadsPerBlock);
  const auto& counter = threadIdx.x % 2 == 0 ? type.created : type.deleted;
  const std::uint64_t now = resting_value(counter.word(static_cast<int>(threadIdx.x / 2)));
  const std::uint64_t seen = resting_value(type.seen[threadIdx.x]);
  if (__syncthreads_or(now != seen ? 1 : 0) == 0) return;

  using Scan = BlockScan<kThreadsPerBlock>;
  __shared__ typename Scan::Storage scan_storage;
  __shared__ std::uint64_t containers[kContainersPerTile];
  __shared__ int offsets[kContainersPerTile];  // entries of this tile before those of a container
  __shared__ std::uint32_t first_entry;
  std::uint32_t objects = 0;  // number that this thread has listed
  ListProgress& progress = *type.progress;
  const std::uint32_t all = type.allocated.level_size(0);
  for (std::uint32_t first = blockIdx.x * kContainersPerTile; first < all; first += gridDim.x * kContainersPerTile) {
    const std::uint32_t index = first + threadIdx.x;
    const bool has_container = threadIdx.x < kContainersPerTile && index < all;
    const std::uint64_t bits = has_container ? type.allocated.container(0, index) : 0;
    std::uint32_t all_entries = 0;
    const auto own = static_cast<std::uint32_t>(popcount(bits));
    const std::uint32_t offset = Scan::exclusive_sum(own, scan_storage, all_entries);
    const auto total = static_cast<int>(all_entries);
    if (threadIdx.x < kContainersPerTile) {
      containers[threadIdx.x] = bits;
      offsets[threadIdx.x] = static_cast<int>(offset);
    }
    if (threadIdx.x == 0) {
      // relaxed: only uniqueness matters.
      first_entry = total > 0 ? progress.entries.fetch_add(static_cast<std::uint32_t>(total), Order::relaxed) : 0;
    }
    __syncthreads();

    for (int entry = static_cast<int>(threadIdx.x); entry < total; entry += kThreadsPerBlock) {
      int container = 0;  // the last container that begins at or before the entry
      for (int step = kContainersPerTile / 2; step > 0; step /= 2) {
        if (offsets[container + step] <= entry) container += step;
      }
      const int bit = nth_set_bit(containers[container], entry - offsets[container]);
      const std::uint32_t block = (first + container) * 64 + bit;
      const std::uint64_t slots = sources.slots[block].load(Order::relaxed);
      objects += static_cast<std::uint32_t>(popcount(slots));
      type.list.entries[first_entry + entry] = {slots, block};
    }
    __syncthreads();  // before the next tile overwrites the shared memory
  }

  __shared__ RawArray<std::uint32_t, kThreadsPerBlock / 32> sums;
  const auto plus = [](std::uint32_t a, std::uint32_t b) { return a + b; };
  const std::uint32_t all_objects = block_reduce<kThreadsPerBlock>(objects, plus, sums);
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    // relaxed: the next atomic publishes it.
    progress.objects.fetch_add(all_objects, Order::relaxed);
    // acq_rel: the last one sees the counts of all others. The entries are read by the next kernel only.
    is_last = progress.thread_blocks.fetch_add(1, Order::acq_rel) + 1 == gridDim.x;
    if (is_last) {
      const std::uint32_t blocks = progress.entries.exchange(0, Order::relaxed);
      *type.list.size = {blocks, are_sparse(blocks, progress.objects.exchange(0, Order::relaxed))};
      progress.thread_blocks.store(0, Order::relaxed);
    }
  }
  __syncthreads();
  if (is_last) type.seen[threadIdx.x].store(now, Order::relaxed);
}

/// Makes the lists of those types of which objects were created or deleted since their last list was made.
template <class Heap, int kTypes>
void make_lists(Executor& executor, const ListSources<Heap, kTypes>& sources) {
  if (sources.count == 0) return;
  const std::uint32_t containers = sources.types[0].allocated.level_size(0);
  const unsigned tiles = (containers + kContainersPerTile - 1) / kContainersPerTile;
  const auto most = kListBlocksPerMultiprocessor * static_cast<unsigned>(executor.multiprocessors());
  const dim3 grid(tiles < most ? tiles : most, static_cast<unsigned>(sources.count));
  static const KernelTraits traits(list_kernel<Heap, kTypes>, executor.multiprocessors());
  launch(traits, list_kernel<Heap, kTypes>, grid, executor.stream(), sources);
}

}  // namespace

}  // namespace dynasoar::detail
