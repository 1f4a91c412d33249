/// @file
/// loop_over_objects and reduce_objects on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/pair_loops.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/block_sums.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

namespace {

// Visits the objects of an entry, one per lane of 64 consecutive threads.
template <class F>
__device__ void visit_entry(const ListedBlock& entry, std::uint32_t slot, const F& function) {
  if ((entry.slots >> slot & 1) != 0) function(entry.block, slot);
  __syncwarp();  // lanes that went different ways would stay apart for the rest of the loop
}

// 64 consecutive threads for the slots of a block: accesses to a field are coalesced (DynaSOAr, section 3).
template <class F>
__device__ void visit_objects(const BlockList& list, const F& function) {
  const std::uint32_t count = *list.count;
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t slot = thread % 64;
  const std::uint32_t stride = gridDim.x * blockDim.x / 64;
  // Nothing of a round can begin before its entry is there; so it is asked for a round before. Where the block itself
  // is asked for, too, the entry has to be there by then, so that is asked for three rounds before, and loaded two
  // before; but not in short lists, in which there is no round to wait for, and no time to lose.
  const std::uint32_t first = thread / 64;
  if constexpr (F::kPrefetches) {
    if (count > stride) {
      ListedBlock now = first < count ? load_entry(list, first) : ListedBlock{};
      ListedBlock next = first + stride < count ? load_entry(list, first + stride) : ListedBlock{};
      for (std::uint32_t i = first; i < count; i += stride) {
        const ListedBlock entry = now;
        now = next;
        if (i + stride < count) function.prefetch(now.block, slot);
        if (i + 2 * stride < count) next = load_entry(list, i + 2 * stride);
        if (i + 3 * stride < count) prefetch_entry(list, i + 3 * stride);
        visit_entry(entry, slot, function);
      }
      return;
    }
  }
  for (std::uint32_t i = first; i < count; i += stride) {
    const ListedBlock entry = load_entry(list, i);
    if (i + stride < count) prefetch_entry(list, i + stride);
    visit_entry(entry, slot, function);
  }
}

// Threads of a thread block of a loop with these pairs, or without any; and how many thread blocks a multiprocessor has
// room for at least, 0 if that is left to the compiler. Loops over objects wait for memory, most of all where they
// create objects: more warps at a time are worth more than registers. Loops over pairs compute.
template <class Pairs>
inline constexpr int kObjectThreads = kPairThreads<Pairs>;
template <>
inline constexpr int kObjectThreads<void> = kThreadsPerBlock;
template <class Pairs>
inline constexpr int kObjectBlocksPerMultiprocessor = 0;
template <>
inline constexpr int kObjectBlocksPerMultiprocessor<void> = DYNASOAR_LOOP_BLOCKS_PER_MULTIPROCESSOR;

template <class A, class F>
__global__ void __launch_bounds__(kObjectThreads<typename F::template Pairs<>>,
                                  kObjectBlocksPerMultiprocessor<typename F::template Pairs<>>)
    object_kernel(BlockList list, F function) {
  // In this order here only: next is most often a list_kernel, so small that it can be there early without being in the
  // way of anybody. A large kernel would take places in which this one's predecessor still has work to do.
  let_next_in();
  wait_for_turn();
  using Pairs = typename F::template Pairs<>;
  if constexpr (std::is_void_v<Pairs>) {
    spill_to_shared_memory();
    visit_objects(list, function);
  } else {
    visit_pairs(list, Pairs{function});
  }
}

template <class A, class F>
void loop_over_objects(Executor& executor, BlockList list, std::size_t capacity, const F& function) {
  bring_up_to_date<A>(executor);
  static const KernelTraits traits(object_kernel<A, F>, executor.multiprocessors());
  const std::size_t threads = capacity * 64 * kMostThreadsPerObject;
  launch(traits, object_kernel<A, F>, traits.grid_for(threads), executor.stream(), list, function);
}

// A thread block's part of a reduction: one partial result.
template <class A, class R, class Op, class F>
__global__ void __launch_bounds__(kThreadsPerBlock)
    reduce_kernel(BlockList list, R init, Op op, F function, R* partial) {
  take_turns();
  const std::uint32_t count = *list.count;
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t slot = thread % 64;
  R result = init;
  for (std::uint32_t i = thread / 64; i < count; i += gridDim.x * blockDim.x / 64) {
    const ListedBlock entry = load_entry(list, i);
    if ((entry.slots >> slot & 1) != 0) result = op(result, static_cast<R>(function(entry.block, slot)));
  }
  __shared__ RawArray<R, kThreadsPerBlock / 32> shared;
  const R total = block_reduce<kThreadsPerBlock>(result, op, shared);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

template <class A, class R, class Op, class F>
R reduce_objects(Executor& executor, BlockList list, std::size_t capacity, DeviceArray<char>& scratch, R init, Op op,
                 const F& function) {
  bring_up_to_date<A>(executor);
  static const KernelTraits traits(reduce_kernel<A, R, Op, F>, executor.multiprocessors());
  const unsigned grid = traits.grid_for(capacity * 64);
  std::vector<R> parts(grid, init);
  if (scratch.size() < grid * sizeof(R)) {
    scratch = DeviceArray<char>(grid * sizeof(R));
    scratch.fill_bytes(0);  // R may have padding, and initcheck takes copying it for a read of uninitialized memory
  }
  launch(traits, reduce_kernel<A, R, Op, F>, grid, executor.stream(), list, init, op, function,
         reinterpret_cast<R*>(scratch.data()));
  executor.synchronize();
  check_cuda(cudaMemcpy(parts.data(), scratch.data(), grid * sizeof(R), cudaMemcpyDeviceToHost), "cudaMemcpy");
  R result = init;
  for (const R& part : parts) result = op(result, part);
  return result;
}

}  // namespace

}  // namespace dynasoar::detail
