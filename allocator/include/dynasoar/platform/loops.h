/// @file
/// The parallel loops under AllocatorHandle: over indices, over the objects of listed blocks, and the making of lists.
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

#if DYNASOAR_CUDA_BACKEND

namespace {

// Loops over indices create objects, which is a matter of latency: as many warps as fit, whatever the registers.
inline constexpr int kIndexBlocksPerMultiprocessor = 2048 / kThreadsPerBlock;

template <class A, class F>
__global__ void __launch_bounds__(kThreadsPerBlock, kIndexBlocksPerMultiprocessor)
    bound_index_kernel(std::size_t count, F function) {
  for_each_index_of_thread(count, function);
}

// 64 consecutive threads for the slots of a block: accesses to a field are coalesced (DynaSOAr, section 3).
template <class A, class F>
__global__ void __launch_bounds__(kThreadsPerBlock) block_kernel(BlockList list, F function) {
  const std::uint32_t count = *list.count;
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t slot = thread % 64;
  for (std::uint32_t i = thread / 64; i < count; i += gridDim.x * blockDim.x / 64) {
    const ListedBlock entry = list.entries[i];
    if ((entry.slots >> slot & 1) != 0) function(entry.block, slot);
    __syncwarp();  // lanes that went different ways would stay apart for the rest of the loop
  }
}

// A thread block lists the blocks of kContainersPerThreadBlock containers of an allocated bitmap; there is a row of
// thread blocks per type. Rows of which no object was created or deleted leave at once; all thread blocks of a row
// decide alike, because only the last one to finish notes the new count.
inline constexpr int kContainersPerThreadBlock = 64;

template <class A>
__global__ void __launch_bounds__(kThreadsPerBlock) list_kernel(ListProgress* progress_of_types) {
  const typename A::State& state = bound_state<A>();
  const int type = static_cast<int>(blockIdx.y);
  using Heap = typename A::Heap;
  // Half of the threads add up what was created, half what was deleted.
  static_assert(2 * Heap::kPartialSums == kThreadsPerBlock);
  using Sum = cub::BlockReduce<unsigned long long, kThreadsPerBlock>;
  __shared__ typename Sum::TempStorage sum_storage;
  __shared__ std::uint64_t changes;
  const auto* const counts = threadIdx.x < Heap::kPartialSums ? state.heap.created : state.heap.deleted;
  const std::uint32_t part = threadIdx.x % Heap::kPartialSums * Heap::kCountStride;
  const unsigned long long sum = Sum(sum_storage).Sum(counts[type * Heap::kCountWords + part].load(Order::relaxed));
  if (threadIdx.x == 0) changes = sum;
  __syncthreads();
  if (changes == progress_of_types[type].made_at.load(Order::relaxed)) return;
  const auto& allocated = state.heap.types[type].allocated;
  ListProgress& progress = progress_of_types[type];

  const std::uint32_t first_container = blockIdx.x * kContainersPerThreadBlock;
  using Scan = cub::BlockScan<int, kThreadsPerBlock>;
  __shared__ typename Scan::TempStorage scan_storage;
  __shared__ std::uint64_t containers[kContainersPerThreadBlock];
  __shared__ int offsets[kContainersPerThreadBlock];  // entries of this thread block before those of a container
  __shared__ std::uint32_t first_entry;
  const std::uint32_t index = first_container + threadIdx.x;
  const bool has_container = threadIdx.x < kContainersPerThreadBlock && index < allocated.level_size(0);
  const std::uint64_t bits = has_container ? allocated.container(0, index) : 0;
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
    state.lists[type].entries[first_entry + entry] = {state.heap.slots[block].load(Order::relaxed), block};
  }

  if (threadIdx.x == 0) {
    // acq_rel: the last one sees the counts of all others. The entries are read by the next kernel only.
    if (progress.thread_blocks.fetch_add(1, Order::acq_rel) + 1 == gridDim.x) {
      *state.lists[type].count = progress.entries.exchange(0, Order::relaxed);
      progress.thread_blocks.store(0, Order::relaxed);
      progress.made_at.store(changes, Order::relaxed);
    }
  }
}

template <class Kernel>
unsigned grid_for(std::size_t threads, Kernel kernel, const Executor& executor, int& resident) {
  if (resident == 0) resident = resident_blocks(kernel, executor.multiprocessors());
  const std::size_t wanted = (threads + kThreadsPerBlock - 1) / kThreadsPerBlock;
  return static_cast<unsigned>(std::min<std::size_t>(wanted, static_cast<std::size_t>(resident)));
}

/// Calls `function(i)` for 0 <= i < count in device code that may use objects of allocator type A.
template <class A, class F>
void loop_over_indices(Executor& executor, std::size_t count, const F& function) {
  if (count == 0) return;
  bring_up_to_date<A>(executor);
  static int resident = 0;
  const unsigned grid = grid_for(count, bound_index_kernel<A, F>, executor, resident);
  bound_index_kernel<A><<<grid, kThreadsPerBlock, 0, executor.stream()>>>(count, function);
  check_cuda(cudaGetLastError(), "kernel launch");
}

/// Calls `function(block, slot)` for every object of the list; its length is read on the device.
///
/// @param capacity   an upper bound on the list's length
template <class A, class F>
void loop_over_objects(Executor& executor, BlockList list, std::size_t capacity, const F& function) {
  bring_up_to_date<A>(executor);
  static int resident = 0;
  const unsigned grid = grid_for(capacity * 64, block_kernel<A, F>, executor, resident);
  block_kernel<A><<<grid, kThreadsPerBlock, 0, executor.stream()>>>(list, function);
  check_cuda(cudaGetLastError(), "kernel launch");
}

/// Makes the lists of all types of which objects were created or deleted since their last list.
///
/// @param containers   containers of level 0 of an allocated bitmap
template <class A>
void make_lists(Executor& executor, std::uint32_t containers, ListProgress* progress) {
  bring_up_to_date<A>(executor);
  const dim3 grid((containers + kContainersPerThreadBlock - 1) / kContainersPerThreadBlock, A::kTypes);
  list_kernel<A><<<grid, kThreadsPerBlock, 0, executor.stream()>>>(progress);
  check_cuda(cudaGetLastError(), "kernel launch");
}

}  // namespace

#else

template <class A, class F>
void loop_over_indices(Executor& executor, std::size_t count, const F& function) {
  executor.for_each_index(count, function);
}

template <class A, class F>
void loop_over_objects(Executor& executor, BlockList list, std::size_t, const F& function) {
  executor.for_each_index(*list.count, [list, function](std::size_t i) {
    const ListedBlock entry = list.entries[i];
    if (entry.slots == first_bits(64)) {  // the common case, in a form that compilers see through
      for (std::uint32_t slot = 0; slot < 64; ++slot) function(entry.block, slot);
    } else {
      for (std::uint64_t left = entry.slots; left != 0; left &= left - 1) {
        function(entry.block, static_cast<std::uint32_t>(lowest_bit(left)));
      }
    }
  });
}

template <class A>
void make_lists(Executor& executor, std::uint32_t containers, ListProgress* progress) {
  const typename A::State& state = bound_state<A>();
  for (int type = 0; type < A::kTypes; ++type) {
    using Heap = typename A::Heap;
    std::uint64_t changes = 0;
    for (std::uint32_t i = 0; i < Heap::kPartialSums; ++i) {
      const std::uint32_t word = static_cast<std::uint32_t>(type) * Heap::kCountWords + i * Heap::kCountStride;
      changes += state.heap.created[word].load(Order::relaxed) + state.heap.deleted[word].load(Order::relaxed);
    }
    if (changes == progress[type].made_at.load(Order::relaxed)) continue;
    progress[type].made_at.store(changes, Order::relaxed);
    AtomicWord<std::uint32_t>& entries = progress[type].entries;
    executor.for_each_index(containers, [&](std::size_t index) {
      std::uint64_t bits = state.heap.types[type].allocated.container(0, static_cast<std::uint32_t>(index));
      if (bits == 0) return;
      // relaxed: only uniqueness matters; the end of the loop publishes the entries.
      std::uint32_t at = entries.fetch_add(static_cast<std::uint32_t>(popcount(bits)), Order::relaxed);
      for (; bits != 0; bits &= bits - 1) {
        const auto block = static_cast<std::uint32_t>(index * 64 + static_cast<std::size_t>(lowest_bit(bits)));
        state.lists[type].entries[at++] = {state.heap.slots[block].load(Order::relaxed), block};
      }
    });
    *state.lists[type].count = entries.exchange(0, Order::relaxed);
  }
}

#endif

}  // namespace dynasoar::detail
