/// @file
/// loop_over_indices on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

namespace {

template <class A, int kBlocksPerMultiprocessor, class F>
__global__ void __launch_bounds__(kThreadsPerBlock, kBlocksPerMultiprocessor)
    bound_index_kernel(std::size_t begin, std::uint32_t count, F function) {
  take_turns();
  for_each_index_of_thread(begin, count, function);
}

template <class A, int kBlocksPerMultiprocessor = kIndexBlocksPerMultiprocessor, class F>
void loop_over_indices(Executor& executor, std::size_t count, const F& function, std::size_t per_thread = 1) {
  if (count == 0) return;
  bring_up_to_date<A>(executor);
  constexpr auto kKernel = bound_index_kernel<A, kBlocksPerMultiprocessor, F>;
  static const KernelTraits all_traits(kKernel, executor.multiprocessors());
  const std::size_t threads = (count - 1) / per_thread + 1;
  const KernelTraits traits = all_traits.for_threads(threads, executor.multiprocessors());
  for_each_part(count, [&](std::size_t begin, std::uint32_t size) {
    launch(traits, kKernel, traits.grid_for(threads), executor.stream(), begin, size, function);
  });
}

}  // namespace

}  // namespace dynasoar::detail
