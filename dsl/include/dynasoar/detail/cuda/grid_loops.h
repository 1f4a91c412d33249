/// @file
/// loop_over_places on a GPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <dynasoar/detail/neighbour_reduction.h>
#include <dynasoar/platform/block_sums.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

namespace {

// kThreads neighbouring threads are at the same place. Each computes a part of the reduction; the first one combines
// the parts.
template <std::uint32_t kThreads, class F>
__device__ void visit_together(std::uint32_t place, std::uint32_t part, const F& function) {
  function.visit(place, [&](auto* object) {
    const auto reduction = function.call(object);
    auto result = reduction.template part<kThreads>(part);
    if constexpr (kThreads > 1) {
      const unsigned together = neighbouring_lanes<kThreads>();
#pragma unroll
      for (int step = 1; step < static_cast<int>(kThreads); step *= 2) {
        const auto other = shuffle_down<kThreads>(result, step, together);
        result = reduction.op(result, other);
      }
    }
    if (part == 0) reduction.finish(result);
  });
}

// Visits all places with kThreads threads each. If these are fewer than half of the threads that the GPU holds, they
// are spread over all multiprocessors warp by warp. Otherwise neighbouring warps take neighbouring places.
//
// @param resident   thread blocks that the GPU holds
template <std::uint32_t kThreads, class F>
__device__ void for_each_place(std::uint32_t size, std::uint32_t resident, const F& visit) {
  const std::uint32_t first_blocks = min(gridDim.x, resident);
  const bool spreads = size <= first_blocks * blockDim.x / (2 * kThreads);
  if (spreads && blockIdx.x >= first_blocks) return;
  const std::uint32_t all = (spreads ? first_blocks : gridDim.x) * blockDim.x;
  const std::uint32_t warp =
      spreads ? threadIdx.x / 32 * first_blocks + blockIdx.x : blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const std::uint32_t thread = warp * 32 + threadIdx.x % 32;
  for (std::uint32_t place = thread / kThreads; place < size; place += all / kThreads) visit(place, thread % kThreads);
}

// Whether a kernel is for grids in which several threads share an object (few or some objects) or not (many), if these
// are treated differently. A single kernel would need the registers of the larger one in both cases.
enum class Crowd { some, many };

// Whether a function returns a reduction. Only device code may ask.
template <class F>
constexpr bool kReduces = is_neighbour_reduction_v<typename F::template Result<>>;

// Visits all places with kThreads threads each.
template <std::uint32_t kThreads, class F>
__device__ void visit_all(std::uint32_t size, std::uint32_t resident, const F& function) {
  for_each_place<kThreads>(size, resident, [&](std::uint32_t place, std::uint32_t part) {
    visit_together<kThreads>(place, part, function);
  });
}

// If the function returns no reduction, the kernel for many objects serves all grids. The other kernel then does
// nothing. The host recognizes this by its launch bounds.
template <Crowd kCrowd, class F>
__global__ void __launch_bounds__(kCrowd == Crowd::many || kReduces<F> ? kThreadsPerBlock : 32,
                                  kPlaceBlocksPerMultiprocessor) place_kernel(F function, std::uint32_t resident) {
  if constexpr (kReduces<F>) {
    take_turns();
    const std::uint32_t size = function.size();
    const std::uint32_t threads = neighbour_parts(size);
    if constexpr (kCrowd == Crowd::many) {
      if (threads == 1) visit_all<1>(size, resident, function);
    } else {
      if (threads == kPartsOfFew) visit_all<kPartsOfFew>(size, resident, function);
      if (threads == kPartsOfSome) visit_all<kPartsOfSome>(size, resident, function);
    }
  } else if constexpr (kCrowd == Crowd::many) {
    take_turns();
    for_each_place<1>(function.size(), resident, [&](std::uint32_t place, std::uint32_t) { function(place); });
  }
}

template <Crowd kCrowd, class F>
const KernelTraits& traits_of_places(const Executor& executor) {
  static const KernelTraits traits(place_kernel<kCrowd, F>, executor.multiprocessors());
  return traits;
}

template <Crowd kCrowd, class F>
void submit_place_kernel(Executor& executor, std::size_t threads, unsigned rounds, const F& function) {
  const KernelTraits traits = traits_of_places<kCrowd, F>(executor).for_threads(threads, executor.multiprocessors());
  launch(traits, place_kernel<kCrowd, F>, traits.grid_for(threads, rounds), executor.stream(), function,
         std::uint32_t{traits.resident});
}

template <class F>
void loop_over_places(Executor& executor, std::size_t capacity, const F& function) {
  const bool reduces = traits_of_places<Crowd::some, F>(executor).threads == kThreadsPerBlock;
  if (!reduces) {
    submit_place_kernel<Crowd::many>(executor, capacity, kRoundsOfPlaces, function);
    return;
  }
  const auto few = std::min<std::size_t>(capacity, kFewObjects) * kPartsOfFew;
  const auto some = std::min<std::size_t>(capacity, kSomeObjects) * kPartsOfSome;
  submit_place_kernel<Crowd::some>(executor, std::max(few, some), 1, function);
  if (capacity > kSomeObjects) submit_place_kernel<Crowd::many>(executor, capacity, 1, function);
}

}  // namespace

}  // namespace dynasoar::detail
