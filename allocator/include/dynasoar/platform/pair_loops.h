/// @file
/// Loops in which every object of one type looks at all objects of others (loop_over_pairs), and reductions over the
/// objects of listed blocks (reduce_objects). Under device_reduce and AllocatorHandle::reduce.
///
/// Like those of loops.h they launch kernels of this translation unit, so they have internal linkage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/loops.h>
#include <dynasoar/platform/memory.h>

#if DYNASOAR_CUDA_BACKEND
#include <cub/block/block_reduce.cuh>
#include <cub/util_ptx.cuh>
#endif

namespace dynasoar::detail {

/// Lists of several types.
template <int kLists>
struct BlockLists {
  BlockList lists[kLists];
};

/// Memory for values that are made one by one.
template <class T, int kCount>
class RawArray {
 public:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  __host__ __device__ T& operator[](std::size_t i) { return reinterpret_cast<T*>(bytes_)[i]; }
  template <class... Args>
  __host__ __device__ void make(std::size_t i, const Args&... args) {
    ::new (static_cast<void*>(bytes_ + i * sizeof(T))) T(args...);
  }

 private:
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes_[kCount * sizeof(T)];
};

// `Pairs` below says what happens to two objects:
//   kOthers                             number of lists of others
//   Request, Source, Result             trivially copyable
//   Request request(block, slot)        what an object wants to know
//   Source load<kList>(block, slot)     what is read of another one
//   Result init(request), combined(request, result, source), combined(request, result, result)
//   finish(block, slot, request, result)

#if DYNASOAR_CUDA_BACKEND

namespace {

// Threads that share an object: as many as it takes to occupy all that are resident, at most a warp.
__device__ inline std::uint32_t threads_per_object(std::uint64_t objects) {
  const std::uint64_t resident = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint32_t threads = 1;
  while (threads < 32 && objects * threads * 2 <= resident) threads *= 2;
  return threads;
}

// The objects of a thread block's tile, without gaps. @return how many; the same for all threads
template <int kList, class Pairs>
__device__ std::uint32_t load_tile(const BlockList& list, std::uint32_t first_entry, std::uint32_t entries,
                                   const Pairs& pairs, RawArray<typename Pairs::Source, kThreadsPerBlock>& tile) {
  std::uint32_t before = 0;
  std::uint32_t total = 0;
  ListedBlock mine{};
  for (std::uint32_t i = 0; i < kThreadsPerBlock / 64 && first_entry + i < entries; ++i) {
    const ListedBlock entry = load_entry(list, first_entry + i);
    if (i == threadIdx.x / 64) {
      mine = entry;
      before = total;
    }
    total += static_cast<std::uint32_t>(popcount(entry.slots));
  }
  const std::uint32_t slot = threadIdx.x % 64;
  if ((mine.slots >> slot & 1) != 0) {
    tile.make(before + static_cast<std::uint32_t>(popcount(mine.slots & first_bits(static_cast<int>(slot)))),
              pairs.template load<kList>(mine.block, slot));
  }
  return total;
}

// Combines the objects of one list into the results of the thread block's objects, tile by tile.
template <int kList, class Pairs>
__device__ void visit_list(const BlockList& list, const Pairs& pairs, bool has_object,
                           const typename Pairs::Request& request, typename Pairs::Result& result, std::uint32_t lane,
                           std::uint32_t lanes, RawArray<typename Pairs::Source, kThreadsPerBlock>& tile) {
  const std::uint32_t entries = *list.count;
  for (std::uint32_t first = 0; first < entries; first += kThreadsPerBlock / 64) {
    const std::uint32_t sources = load_tile<kList>(list, first, entries, pairs, tile);
    __syncthreads();
    if (has_object) {
#pragma unroll 8
      for (std::uint32_t i = lane; i < sources; i += lanes) result = pairs.combined(request, result, tile[i]);
    }
    __syncthreads();
  }
}

// Groups of neighbouring threads share an object; all threads of a thread block share the tiles.
template <class A, class Pairs>
__global__ void __launch_bounds__(kThreadsPerBlock)
    pair_kernel(BlockList list, BlockLists<Pairs::kOthers> others, Pairs pairs) {
  __shared__ RawArray<typename Pairs::Source, kThreadsPerBlock> tile;
  take_turns();
  const std::uint64_t slots = std::uint64_t{*list.count} * 64;
  const std::uint32_t lanes = threads_per_object(slots);
  const std::uint32_t lane = threadIdx.x % lanes;
  for (std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x; first < slots * lanes;
       first += std::uint64_t{gridDim.x} * blockDim.x) {
    const std::uint64_t index = (first + threadIdx.x) / lanes;
    const ListedBlock entry = index < slots ? load_entry(list, static_cast<std::uint32_t>(index / 64)) : ListedBlock{};
    const auto slot = static_cast<std::uint32_t>(index % 64);
    const bool has_object = (entry.slots >> slot & 1) != 0;
    RawArray<typename Pairs::Request, 1> request;
    RawArray<typename Pairs::Result, 1> result;
    if (has_object) {
      request.make(0, pairs.request(entry.block, slot));
      result.make(0, pairs.init(request[0]));
    }
    [&]<int... kList>(std::integer_sequence<int, kList...>) {
      (visit_list<kList>(others.lists[kList], pairs, has_object, request[0], result[0], lane, lanes, tile), ...);
    }
    (std::make_integer_sequence<int, Pairs::kOthers>{});
    for (std::uint32_t distance = lanes / 2; distance > 0; distance /= 2) {
      const typename Pairs::Result other = cub::ShuffleDown<32>(result[0], static_cast<int>(distance), 31, 0xffffffffu);
      if (has_object) result[0] = pairs.merged(request[0], result[0], other);
    }
    if (has_object && lane == 0) pairs.finish(entry.block, slot, request[0], result[0]);
  }
}

/// Lets every object of a list see all objects of other lists.
///
/// @param capacity   an upper bound on the list's length
template <class A, class Pairs>
void loop_over_pairs(Executor& executor, BlockList list, std::size_t capacity, const BlockLists<Pairs::kOthers>& others,
                     const Pairs& pairs) {
  static_assert(sizeof(typename Pairs::Source) <= 128,
                "dynasoar: device_reduce keeps what is loaded of 256 objects in shared memory: load at most 128 bytes");
  bring_up_to_date<A>(executor);
  static const KernelTraits traits(pair_kernel<A, Pairs>, executor.multiprocessors());
  launch(traits, pair_kernel<A, Pairs>, traits.grid_for(capacity * 64 * 32), executor.stream(), list, others, pairs);
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
  using Reduce = cub::BlockReduce<R, kThreadsPerBlock>;
  __shared__ typename Reduce::TempStorage storage;
  const R total = Reduce(storage).Reduce(result, op);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/// Combines `function(block, slot)` over the objects of a list; waits for the result.
///
/// @param capacity   an upper bound on the list's length
/// @param scratch    memory that is kept from one reduction to the next
template <class A, class R, class Op, class F>
R reduce_objects(Executor& executor, BlockList list, std::size_t capacity, DeviceArray<char>& scratch, R init, Op op,
                 const F& function) {
  bring_up_to_date<A>(executor);
  static const KernelTraits traits(reduce_kernel<A, R, Op, F>, executor.multiprocessors());
  const unsigned grid = traits.grid_for(capacity * 64);
  std::vector<R> parts(grid, init);
  if (scratch.size() < grid * sizeof(R)) scratch = DeviceArray<char>(grid * sizeof(R));
  launch(traits, reduce_kernel<A, R, Op, F>, grid, executor.stream(), list, init, op, function,
         reinterpret_cast<R*>(scratch.data()));
  executor.synchronize();
  check_cuda(cudaMemcpy(parts.data(), scratch.data(), grid * sizeof(R), cudaMemcpyDeviceToHost), "cudaMemcpy");
  R result = init;
  for (const R& part : parts) result = op(result, part);
  return result;
}

}  // namespace

#else

template <int kList, class Pairs>
void visit_list(const BlockList& list, const Pairs& pairs, int objects, RawArray<typename Pairs::Request, 64>& requests,
                RawArray<typename Pairs::Result, 64>& results) {
  RawArray<typename Pairs::Source, 64> tile;
  for (std::uint32_t i = 0; i < *list.count; ++i) {
    const ListedBlock entry = list.entries[i];
    int sources = 0;
    for (std::uint64_t left = entry.slots; left != 0; left &= left - 1) {
      tile.make(static_cast<std::size_t>(sources++),
                pairs.template load<kList>(entry.block, static_cast<std::uint32_t>(lowest_bit(left))));
    }
    for (int object = 0; object < objects; ++object) {
      const auto at = static_cast<std::size_t>(object);
      typename Pairs::Result result = results[at];
      for (int s = 0; s < sources; ++s) {
        result = pairs.combined(requests[at], result, tile[static_cast<std::size_t>(s)]);
      }
      results[at] = result;
    }
  }
}

template <class A, class Pairs>
void loop_over_pairs(Executor& executor, BlockList list, std::size_t, const BlockLists<Pairs::kOthers>& others,
                     const Pairs& pairs) {
  executor.for_each_index(*list.count, [=](std::size_t index) {
    const ListedBlock entry = list.entries[index];
    RawArray<typename Pairs::Request, 64> requests;
    RawArray<typename Pairs::Result, 64> results;
    int objects = 0;
    for (std::uint64_t left = entry.slots; left != 0; left &= left - 1, ++objects) {
      const auto at = static_cast<std::size_t>(objects);
      requests.make(at, pairs.request(entry.block, static_cast<std::uint32_t>(lowest_bit(left))));
      results.make(at, pairs.init(requests[at]));
    }
    [&]<int... kList>(std::integer_sequence<int, kList...>) {
      (visit_list<kList>(others.lists[kList], pairs, objects, requests, results), ...);
    }
    (std::make_integer_sequence<int, Pairs::kOthers>{});
    std::size_t at = 0;
    for (std::uint64_t left = entry.slots; left != 0; left &= left - 1, ++at) {
      pairs.finish(entry.block, static_cast<std::uint32_t>(lowest_bit(left)), requests[at], results[at]);
    }
  });
}

template <class A, class R, class Op, class F>
R reduce_objects(Executor& executor, BlockList list, std::size_t, DeviceArray<char>&, R init, Op op,
                 const F& function) {
  std::vector<R> partial(*list.count, init);
  executor.for_each_index(partial.size(), [&](std::size_t index) {
    const ListedBlock entry = list.entries[index];
    R result = init;
    for (std::uint64_t left = entry.slots; left != 0; left &= left - 1) {
      result = op(result, static_cast<R>(function(entry.block, static_cast<std::uint32_t>(lowest_bit(left)))));
    }
    partial[index] = result;
  });
  R result = init;
  for (const R& part : partial) result = op(result, part);
  return result;
}

#endif

}  // namespace dynasoar::detail
