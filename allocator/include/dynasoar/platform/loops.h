/// @file
/// The parallel loops under AllocatorHandle: over indices, and the making of lists of blocks, for object_loops.h.
///
/// All of them bring this translation unit's binding up to date and then launch this unit's kernels, so they have
/// internal linkage (see binding.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>

#if DYNASOAR_CUDA_BACKEND
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#endif

namespace dynasoar::detail {

/// A block and its objects at the moment that a list was made: one entry of a loop's work list.
struct alignas(16) ListedBlock {
  std::uint64_t slots;
  std::uint32_t block;
};

/// The blocks of one type that have objects, in no particular order.
struct BlockList {
  ListedBlock* entries;
  std::uint32_t* count;
};

/// The making of a type's list; zero at first.
struct ListProgress {
  AtomicWord<std::uint64_t> made_at;        ///< objects created and deleted when the last list was made
  AtomicWord<std::uint32_t> entries;        ///< entries written so far
  AtomicWord<std::uint32_t> thread_blocks;  ///< thread blocks that are done
};

/// What the making of lists reads and writes.
template <class Heap, int kTypes>
struct ListSources {
  struct Type {
    typename Heap::Counter created, deleted;
    typename Heap::Bits allocated;
    BlockList list;
    ListProgress* progress;
  };
  const typename Heap::template Word<std::uint64_t>* slots;
  Type types[kTypes];
};

#if DYNASOAR_CUDA_BACKEND

namespace {

// Loops over indices create objects, which is a matter of latency: as many warps as fit, whatever the registers.
inline constexpr int kIndexBlocksPerMultiprocessor = 2048 / kThreadsPerBlock;

template <class A, class F>
__global__ void __launch_bounds__(kThreadsPerBlock, kIndexBlocksPerMultiprocessor)
    bound_index_kernel(std::size_t count, F function) {
  take_turns();
  for_each_index_of_thread(count, function);
}

/// An entry of a list, in one load.
__device__ inline ListedBlock load_entry(const BlockList& list, std::uint32_t index) {
  static_assert(sizeof(ListedBlock) == sizeof(uint4) && alignof(ListedBlock) == alignof(uint4));
  const uint4 words = *reinterpret_cast<const uint4*>(list.entries + index);
  return {words.x | std::uint64_t{words.y} << 32, words.z};
}

// A thread block lists the blocks of kContainersPerThreadBlock containers of an allocated bitmap; there is a row of
// thread blocks per type. Rows of which no object was created or deleted leave at once; all thread blocks of a row
// decide alike, because only the last one to finish notes the new count. The sources are a parameter, because a kernel
// has its parameters at once and constant memory only after a while.
inline constexpr int kContainersPerThreadBlock = 64;

template <class Heap, int kTypes>
__global__ void __launch_bounds__(kThreadsPerBlock)
    list_kernel(const __grid_constant__ ListSources<Heap, kTypes> sources) {
  take_turns();
  const typename ListSources<Heap, kTypes>::Type& type = sources.types[blockIdx.y];
  // Half of the threads add up what was created, half what was deleted.
  constexpr auto kShards = static_cast<unsigned>(Heap::Counter::kShards);
  static_assert(2 * kShards == kThreadsPerBlock);
  using Sum = cub::BlockReduce<unsigned long long, kThreadsPerBlock>;
  __shared__ typename Sum::TempStorage sum_storage;
  __shared__ std::uint64_t changes;
  const auto& counter = threadIdx.x < kShards ? type.created : type.deleted;
  const unsigned long long part = counter.word(static_cast<int>(threadIdx.x % kShards)).load(Order::relaxed);
  const unsigned long long sum = Sum(sum_storage).Sum(part);
  if (threadIdx.x == 0) changes = sum;
  __syncthreads();
  ListProgress& progress = *type.progress;
  if (changes == progress.made_at.load(Order::relaxed)) return;

  const std::uint32_t first_container = blockIdx.x * kContainersPerThreadBlock;
  using Scan = cub::BlockScan<int, kThreadsPerBlock>;
  __shared__ typename Scan::TempStorage scan_storage;
  __shared__ std::uint64_t containers[kContainersPerThreadBlock];
  __shared__ int offsets[kContainersPerThreadBlock];  // entries of this thread block before those of a container
  __shared__ std::uint32_t first_entry;
  const std::uint32_t index = first_container + threadIdx.x;
  const bool has_container = threadIdx.x < kContainersPerThreadBlock && index < type.allocated.level_size(0);
  const std::uint64_t bits = has_container ? type.allocated.container(0, index) : 0;
  int offset = 0;
  int total = 0;
  Scan(scan_storage).ExclusiveSum(popcount(bits), offset, total);
  if (threadIdx.x < kContainersPerThreadBlock) {
    containers[threadIdx.x] = bits;
    offsets[threadIdx.x] = offset;
  }
  if (threadIdx.x == 0) {
    // relaxed: only uniqueness matters.
    first_entry = total > 0 ? progress.entries.fetch_add(static_cast<std::uint32_t>(total), Order::relaxed) : 0;
  }
  __syncthreads();

  for (int entry = static_cast<int>(threadIdx.x); entry < total; entry += kThreadsPerBlock) {
    int container = 0;  // the last one that begins at or before the entry
    for (int step = kContainersPerThreadBlock / 2; step > 0; step /= 2) {
      if (offsets[container + step] <= entry) container += step;
    }
    const int bit = nth_set_bit(containers[container], entry - offsets[container]);
    const std::uint32_t block = (first_container + container) * 64 + bit;
    type.list.entries[first_entry + entry] = {sources.slots[block].load(Order::relaxed), block};
  }

  if (threadIdx.x == 0) {
    // acq_rel: the last one sees the counts of all others. The entries are read by the next kernel only.
    if (progress.thread_blocks.fetch_add(1, Order::acq_rel) + 1 == gridDim.x) {
      *type.list.count = progress.entries.exchange(0, Order::relaxed);
      progress.thread_blocks.store(0, Order::relaxed);
      progress.made_at.store(changes, Order::relaxed);
    }
  }
}

/// Calls `function(i)` for 0 <= i < count in device code that may use objects of allocator type A.
///
/// @param per_thread   indices that a thread takes at least, if there are enough
template <class A, class F>
void loop_over_indices(Executor& executor, std::size_t count, const F& function, std::size_t per_thread = 1) {
  if (count == 0) return;
  bring_up_to_date<A>(executor);
  static const KernelTraits all_traits(bound_index_kernel<A, F>, executor.multiprocessors());
  const std::size_t threads = (count - 1) / per_thread + 1;
  const KernelTraits traits = all_traits.for_threads(threads, executor.multiprocessors());
  launch(traits, bound_index_kernel<A, F>, traits.grid_for(threads), executor.stream(), count, function);
}

/// Makes the lists of all types of which objects were created or deleted since their last list.
template <class Heap, int kTypes>
void make_lists(Executor& executor, const ListSources<Heap, kTypes>& sources) {
  const std::uint32_t containers = sources.types[0].allocated.level_size(0);
  const dim3 grid((containers + kContainersPerThreadBlock - 1) / kContainersPerThreadBlock, kTypes);
  static const KernelTraits traits(list_kernel<Heap, kTypes>, executor.multiprocessors());
  launch(traits, list_kernel<Heap, kTypes>, grid, executor.stream(), sources);
}

}  // namespace

#else

template <class A, class F>
void loop_over_indices(Executor& executor, std::size_t count, const F& function, std::size_t = 1) {
  executor.for_each_index(count, function);
}

template <class Heap, int kTypes>
void make_lists(Executor& executor, const ListSources<Heap, kTypes>& sources) {
  for (const auto& type : sources.types) {
    const std::uint64_t changes = type.created.read().count + type.deleted.read().count;
    if (changes == type.progress->made_at.load(Order::relaxed)) continue;
    type.progress->made_at.store(changes, Order::relaxed);
    AtomicWord<std::uint32_t>& entries = type.progress->entries;
    executor.for_each_index(type.allocated.level_size(0), [&](std::size_t index) {
      std::uint64_t bits = type.allocated.container(0, static_cast<std::uint32_t>(index));
      if (bits == 0) return;
      // relaxed: only uniqueness matters; the end of the loop publishes the entries.
      std::uint32_t at = entries.fetch_add(static_cast<std::uint32_t>(popcount(bits)), Order::relaxed);
      for (; bits != 0; bits &= bits - 1) {
        const auto block = static_cast<std::uint32_t>(index * 64 + static_cast<std::size_t>(lowest_bit(bits)));
        type.list.entries[at++] = {sources.slots[block].load(Order::relaxed), block};
      }
    });
    *type.list.count = entries.exchange(0, Order::relaxed);
  }
}

#endif

}  // namespace dynasoar::detail
