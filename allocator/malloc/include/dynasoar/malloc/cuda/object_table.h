/// @file
/// The lists of tables of objects, made on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/malloc/object_table.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

namespace {

// A row of thread blocks per type.
template <int kTypes>
__global__ void __launch_bounds__(kThreadsPerBlock)
    list_gaps_kernel(const __grid_constant__ ChosenTables<kTypes> chosen) {
  take_turns();
  const ObjectTable& table = chosen.tables[blockIdx.y];
  const std::uint32_t removed = table.counts->removed.load(Order::relaxed);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < removed; i += gridDim.x * blockDim.x) {
    table.list_gap_and_mover(i, removed);
  }
}

template <int kTypes>
__global__ void __launch_bounds__(kThreadsPerBlock)
    fill_gaps_kernel(const __grid_constant__ ChosenTables<kTypes> chosen) {
  take_turns();
  const ObjectTable& table = chosen.tables[blockIdx.y];
  const std::uint32_t removed = table.counts->removed.load(Order::relaxed);
  const std::uint32_t gaps = table.counts->gaps.load(Order::relaxed);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < gaps; i += gridDim.x * blockDim.x) {
    table.move_entry(i);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  // acq_rel: the last thread block writes words that all others have read before.
  if (table.counts->thread_blocks.fetch_add(1, Order::acq_rel) + 1 == gridDim.x) {
    table.counts->thread_blocks.store(0, Order::relaxed);
    table.finish_compaction(removed);
  }
}

template <int kTypes>
void make_lists(Executor& executor, const ChosenTables<kTypes>& chosen) {
  if (chosen.count == 0) return;
  const dim3 grid(static_cast<unsigned>(executor.multiprocessors()), static_cast<unsigned>(chosen.count));
  static const KernelTraits list_traits(list_gaps_kernel<kTypes>, executor.multiprocessors());
  static const KernelTraits fill_traits(fill_gaps_kernel<kTypes>, executor.multiprocessors());
  launch(list_traits, list_gaps_kernel<kTypes>, grid, executor.stream(), chosen);
  launch(fill_traits, fill_gaps_kernel<kTypes>, grid, executor.stream(), chosen);
}

}  // namespace

}  // namespace dynasoar::detail
