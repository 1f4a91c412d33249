/// @file
/// loop_over_objects, reduce_objects and submit_reduction on a GPU.
///
/// The thread blocks of a loop over objects are numbered by blockIdx.y. Those of different loops in one kernel differ
/// in blockIdx.x, so that the loops begin together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/leave_parts.h>
#include <dynasoar/loops/object_loop.h>
#include <dynasoar/loops/pair_loops.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/block_sums.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

namespace {

// The object that a thread shall visit, if there is one.
struct Visit {
  std::uint32_t block;
  std::uint32_t slot;
  bool is_there;
};

template <class F>
__device__ void visit(const Visit& object, const F& function) {
  if (object.is_there) function(object.block, object.slot);
  __syncwarp();  // otherwise diverged lanes would stay diverged for the rest of the loop
}

// The object in a slot of a block.
__device__ inline Visit object_in(const ListedBlock& entry, std::uint32_t slot) {
  return {entry.block, slot, (entry.slots >> slot & 1) != 0};
}

// Distributes the objects of kDealtBlocks blocks over the lanes of a warp.
class Dealer {
 public:
  // Takes the blocks of the entries from `first` on. @return the number of their objects
  __device__ std::uint32_t take(const BlockList& list, std::uint32_t count, std::uint32_t first) {
    const std::uint32_t lane = threadIdx.x % 32;
    std::uint32_t objects = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < kDealtBlocks; ++i) {
      const std::uint64_t slots = first + i < count ? load_entry(list, first + i).slots : 0;
      objects += number(static_cast<std::uint32_t>(slots), 64 * i + lane, objects);
      objects += number(static_cast<std::uint32_t>(slots >> 32), 64 * i + 32 + lane, objects);
    }
    __syncwarp();
    return objects;
  }

  // The object with a number, if the number is less than `objects`.
  __device__ Visit object(const BlockList& list, std::uint32_t first, std::uint32_t number,
                          std::uint32_t objects) const {
    if (number >= objects) return {0, 0, false};
    const std::uint32_t position = positions_[number];
    return {list.entries[first + position / 64].block, position % 64, true};
  }

 private:
  // Numbers the objects of 32 slots, one per lane, from `first` on. @return the number of objects
  __device__ std::uint32_t number(std::uint32_t slots, std::uint32_t position, std::uint32_t first) {
    const std::uint32_t bit = 1u << threadIdx.x % 32;
    if ((slots & bit) != 0) positions_[first + popcount(slots & (bit - 1))] = static_cast<std::uint8_t>(position);
    return static_cast<std::uint32_t>(popcount(slots));
  }

  static_assert(64 * kDealtBlocks < 256);
  std::uint8_t positions_[64 * kDealtBlocks];  // by number: 64 x block + slot
};

// The number of blocks in a round of a loop: one for each 64 threads or, if it distributes their objects over lanes,
// kDealtBlocks for each warp.
__device__ inline std::uint32_t blocks_of_round() {
  return gridDim.y * blockDim.x / 64;
}
__device__ inline std::uint32_t dealt_blocks_of_round() {
  return 2 * blocks_of_round() * kDealtBlocks;
}

// 64 consecutive threads visit the slots of a block, so accesses to a field are coalesced (DynaSOAr, section 3). If
// blocks are sparse, a warp visits the objects of a few blocks instead, so that fewer of its lanes idle. This is not
// done for short lists, because whole warps would idle then.
template <class F>
__device__ void visit_objects(const BlockList& list, const F& function, Dealer& dealer) {
  const ListSize size = *list.size;
  const std::uint32_t count = size.blocks;
  const std::uint32_t thread = blockIdx.y * blockDim.x + threadIdx.x;
  const std::uint32_t slot = thread % 64;
  const std::uint32_t stride = blocks_of_round();
  const bool is_sparse = size.is_sparse != 0 && count >= dealt_blocks_of_round();
  // A round needs its entry first, so the entry is loaded one round in advance. If the block is prefetched, too, its
  // entry is needed even earlier: it is prefetched three rounds in advance, and loaded two rounds in advance. This is
  // not done for short lists, which have too few rounds.
  if constexpr (F::kPrefetches) {
    if (count > stride && !is_sparse) {
      const std::uint32_t first = thread / 64;
      ListedBlock now = first < count ? load_entry(list, first) : ListedBlock{};
      ListedBlock next = first + stride < count ? load_entry(list, first + stride) : ListedBlock{};
      for (std::uint32_t i = first; i < count; i += stride) {
        const ListedBlock entry = now;
        now = next;
        if (i + stride < count) function.prefetch(now.block, slot);
        if (i + 2 * stride < count) next = load_entry(list, i + 2 * stride);
        if (i + 3 * stride < count) prefetch_entry(list, i + 3 * stride);
        visit(object_in(entry, slot), function);
      }
      return;
    }
  }
  // Both variants of the loop call `visit` in one place, because nvcc compiles the function separately for each call.
  // During a visit, only two numbers of the loop stay in registers. Each round computes or loads the others again,
  // because fewer registers allow more warps.
  std::uint32_t left = 0;  // 256 times the number of distributed objects, plus the number of the warp's next one
  for (std::uint32_t i = is_sparse ? thread / 32 * kDealtBlocks : thread / 64;;) {
    const ListSize now = load_size(list);
    const bool deals = now.is_sparse != 0 && now.blocks >= dealt_blocks_of_round();
    Visit object;
    if (deals) {
      if (left == 0) {
        if (i >= now.blocks) break;
        left = dealer.take(list, now.blocks, i) * 256;
      }
      object = dealer.object(list, i, left % 256 + threadIdx.x % 32, left / 256);
      left += 32;
      if (left % 256 >= left / 256) {
        left = 0;
        i += dealt_blocks_of_round();
      }
    } else {
      if (i >= now.blocks) break;
      const std::uint32_t next = i + blocks_of_round();
      if (next < now.blocks) prefetch_entry(list, next);
      object = object_in(load_entry(list, i), threadIdx.x % 64);
      i = next;
    }
    visit(object, function);
  }
}

// Launch bounds of a loop over pairs of type Pairs or, if it is void, of a loop over objects: the number of threads of
// a thread block, and the minimum number of thread blocks per multiprocessor (0: the compiler decides). Loops over
// objects wait for memory, in particular if they create objects, so more warps are better than more registers. Loops
// over pairs are bound by computation.
template <class Pairs>
inline constexpr int kObjectThreads = kPairThreads<Pairs>;
template <>
inline constexpr int kObjectThreads<void> = kThreadsPerBlock;
template <class Pairs>
inline constexpr int kObjectBlocksPerMultiprocessor = 0;
template <>
inline constexpr int kObjectBlocksPerMultiprocessor<void> = DYNASOAR_LOOP_BLOCKS_PER_MULTIPROCESSOR;

// Lets the next kernel start before this kernel waits for its turn. Only loops over objects do this: their next kernel
// is usually a list_kernel, which is so small that it can start early without delaying other kernels. A large kernel
// would occupy multiprocessors on which the predecessor of this kernel is still running.
__device__ inline void take_turns_early() {
  let_next_in();
  wait_for_turn();
}

// The time at which a kernel takes its turn. A kernel that is alone does so after its predecessor. The kernels of a
// *group* may run together; each of them is the first or a later one.
enum class Turn : std::uint8_t { alone, first, later };

// A later kernel of a group starts once all thread blocks of the kernel before it have started. The first kernel of the
// group waits until the group's predecessor has ended before it lets the next kernel start. So no later kernel starts
// before the predecessor has ended.
__device__ inline void begin_turn(Turn turn) {
  if (turn == Turn::alone) take_turns_early();
  if (turn == Turn::first) take_turns();
  if (turn == Turn::later) let_next_in();
}

// A later kernel ends after the one before it, so that the kernel behind the group need only wait for the last one.
__device__ inline void end_turn(Turn turn) {
  if (turn == Turn::later) wait_for_turn();
}

// Whether a loop visits pairs of objects. Only device code may call this.
template <class... Fs>
constexpr bool kHavePairs = (false || ... || !std::is_void_v<typename Fs::template Pairs<>>);

// A loop over the objects of one class.
//
// @tparam Together   the loops of a kernel for several classes. If it can run them, this kernel does nothing
template <class A, class F, class... Together>
__global__ void __launch_bounds__(kObjectThreads<typename F::template Pairs<>>,
                                  kObjectBlocksPerMultiprocessor<typename F::template Pairs<>>)
    object_kernel(BlockList list, F function, Turn turn) {
  if constexpr (sizeof...(Together) == 0 || kHavePairs<Together...>) {
    begin_turn(turn);
    using Pairs = typename F::template Pairs<>;
    if constexpr (std::is_void_v<Pairs>) {
      spill_to_shared_memory();
      __shared__ Dealer dealers[kThreadsPerBlock / 32];
      visit_objects(list, function, dealers[threadIdx.x / 32]);
    } else {
      visit_pairs(list, Pairs{function});
    }
    end_turn(turn);
  }
}

// Maximum bytes of the arguments of a kernel for several classes: each launch transfers all of them.
inline constexpr std::size_t kMostArgumentBytes = 4096;

// Whether loops over several classes may share a kernel. Methods that need many registers get a kernel for each class:
// ptxas spills more registers in a shared kernel, and the methods displace each other's instructions from the caches.
inline constexpr bool kClassesShareKernels = DYNASOAR_LOOP_BLOCKS_PER_MULTIPROCESSOR > 2;

// The list of one class in a kernel for several classes.
template <class F>
struct ListedObjects {
  BlockList list;
  F function;
};

// Visits the objects of one of several classes, given by its number, and returns directly after that. If there were
// code after all of the visits, such as that of a fold expression, ptxas would spill many more registers (1104 instead
// of 408 bytes in the loop of apps/ants).
template <class First, class... Others>
__device__ __forceinline__ void visit_class(std::uint32_t number, Dealer& dealer, const ListedObjects<First>& first,
                                            const ListedObjects<Others>&... others) {
  if (number == 0) {
    visit_objects(first.list, first.function, dealer);
    return;
  }
  if constexpr (sizeof...(Others) > 0) visit_class(number - 1, dealer, others...);
}

// Loops over the objects of several classes. If they visit pairs, this kernel does nothing, and its launch bounds tell
// the host so.
template <class A, class... Fs>
__global__ void __launch_bounds__(kHavePairs<Fs...> ? 32 : kThreadsPerBlock,
                                  kHavePairs<Fs...> ? 0 : DYNASOAR_LOOP_BLOCKS_PER_MULTIPROCESSOR)
    classes_kernel(ListedObjects<Fs>... classes) {
  if constexpr (!kHavePairs<Fs...>) {
    take_turns_early();
    spill_to_shared_memory();
    __shared__ Dealer dealers[kThreadsPerBlock / 32];
    visit_class(blockIdx.x, dealers[threadIdx.x / 32], classes...);
  }
}

template <class A, class F, class... Together>
void submit_object_kernel(Executor& executor, const ObjectLoop<F>& loop, Turn turn) {
  static const KernelTraits traits(object_kernel<A, F, Together...>, executor.multiprocessors());
  const dim3 grid(1, traits.grid_for(loop.capacity * 64 * kMostThreadsPerObject));
  launch(traits, object_kernel<A, F, Together...>, grid, executor.stream(), loop.list, loop.function, turn);
}

template <class A, class... Fs>
void loop_over_objects(Executor& executor, const ObjectLoop<Fs>&... loops) {
  bring_up_to_date<A>(executor);
  constexpr std::size_t kBytes = (std::size_t{0} + ... + sizeof(ListedObjects<Fs>));
  [[maybe_unused]] Turn turn = sizeof...(Fs) < 2 ? Turn::alone : Turn::first;
  if constexpr (sizeof...(Fs) < 2 || kBytes > kMostArgumentBytes || !kClassesShareKernels) {
    (submit_object_kernel<A>(executor, loops, std::exchange(turn, Turn::later)), ...);
  } else {
    static const KernelTraits traits(classes_kernel<A, Fs...>, executor.multiprocessors());
    if (traits.threads < kThreadsPerBlock) {  // the loops visit pairs
      (submit_object_kernel<A, Fs, Fs...>(executor, loops, std::exchange(turn, Turn::later)), ...);
      return;
    }
    const dim3 grid(sizeof...(Fs), traits.grid_for(std::max({loops.capacity...}) * 64));
    launch(traits, classes_kernel<A, Fs...>, grid, executor.stream(), ListedObjects<Fs>{loops.list, loops.function}...);
  }
}

// Whether the calling thread block is the last one of the first `blocks` thread blocks of its kernel to call this. All
// of them must call it. The last one sees the writes of the others. All threads of a thread block call it.
__device__ inline bool is_last_block(std::uint32_t* ticket, std::uint32_t blocks) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicInc(ticket, blocks - 1) == blocks - 1;
    __threadfence();
  }
  __syncthreads();
  return is_last;
}

// A thread block's part of a reduction: one partial result. The last thread block combines all results, if requested.
// For short lists, the later thread blocks have nothing to do, and the reduction does not wait for them.
template <class A, class R, class Op, class F, class Finish>
__global__ void __launch_bounds__(kThreadsPerBlock)
    reduce_kernel(BlockList list, R init, Op op, F function, R* parts, std::uint32_t before, Finish finish) {
  take_turns();
  const std::uint32_t count = list.size->blocks;
  constexpr std::uint32_t kAtOnce = kThreadsPerBlock / 64;
  const std::uint32_t busy = count <= kAtOnce ? 1 : min(gridDim.x, (count - 1) / kAtOnce + 1);
  if (blockIdx.x >= busy) {
    if (threadIdx.x == 0) parts[before + blockIdx.x] = init;
    return;
  }
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const std::uint32_t slot = thread % 64;
  R result = init;
  for (std::uint32_t i = thread / 64; i < count; i += gridDim.x * blockDim.x / 64) {
    const ListedBlock entry = load_entry(list, i);
    if ((entry.slots >> slot & 1) != 0) result = op(result, static_cast<R>(function(entry.block, slot)));
  }
  __shared__ RawArray<R, kThreadsPerBlock / 32> shared;
  const R part = block_reduce<kThreadsPerBlock>(result, op, shared);
  if (threadIdx.x == 0) parts[before + blockIdx.x] = part;
  if constexpr (!std::is_same_v<Finish, LeaveParts>) {
    if (!is_last_block(finish.ticket, busy)) return;
    R all = init;
    for (std::uint32_t i = threadIdx.x; i < before + busy; i += kThreadsPerBlock) all = op(all, parts[i]);
    finish(threadIdx.x, kThreadsPerBlock, block_reduce<kThreadsPerBlock>(all, op, shared));
  }
}

template <class A, class R, class Op, class F, class Finish = LeaveParts>
const KernelTraits& traits_of_reduction(const Executor& executor) {
  static const KernelTraits traits(reduce_kernel<A, R, Op, F, Finish>, executor.multiprocessors());
  return traits;
}

template <class A, class R, class Op, class F, class Finish>
std::size_t most_parts(Executor& executor) {
  return traits_of_reduction<A, R, Op, F, Finish>(executor).resident;
}

template <class A, class R, class Op, class F, class Finish>
std::size_t submit_reduction(Executor& executor, BlockList list, std::size_t capacity, R* parts, std::size_t before,
                             R init, Op op, const F& function, const Finish& finish) {
  bring_up_to_date<A>(executor);
  const KernelTraits& traits = traits_of_reduction<A, R, Op, F, Finish>(executor);
  const unsigned grid = traits.grid_for(capacity * 64);
  launch(traits, reduce_kernel<A, R, Op, F, Finish>, grid, executor.stream(), list, init, op, function, parts,
         static_cast<std::uint32_t>(before), finish);
  return grid;
}

template <class A, class R, class Op, class F>
R reduce_objects(Executor& executor, BlockList list, std::size_t capacity, DeviceArray<char>& scratch, R init, Op op,
                 const F& function) {
  const std::size_t most = traits_of_reduction<A, R, Op, F>(executor).grid_for(capacity * 64);
  if (scratch.size() < most * sizeof(R)) {
    scratch = DeviceArray<char>(most * sizeof(R));
    scratch.fill_bytes(0);  // R may have padding, and initcheck takes copying it for a read of uninitialized memory
  }
  R* const on_device = reinterpret_cast<R*>(scratch.data());
  std::vector<R> parts(submit_reduction<A>(executor, list, capacity, on_device, 0, init, op, function, LeaveParts{}),
                       init);
  executor.synchronize();
  check_cuda(cudaMemcpy(parts.data(), on_device, parts.size() * sizeof(R), cudaMemcpyDeviceToHost), "cudaMemcpy");
  R result = init;
  for (const R& part : parts) result = op(result, part);
  return result;
}

}  // namespace

}  // namespace dynasoar::detail
