/// @file
/// look_at_all on a GPU.
#pragma once

#include <cstdint>

#include <dynasoar/platform/block_sums.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace bodies {

inline constexpr int kTile = 256;

/// Bodies are staged in shared memory, 256 at a time; kLanes neighbouring threads share the work for one.
template <int kLanes, class Look>
__global__ void __launch_bounds__(kTile) look_kernel(Look look) {
  __shared__ alignas(16) unsigned char memory[kTile * sizeof(typename Look::Source)];
  auto* const tile = reinterpret_cast<typename Look::Source*>(memory);
  const std::uint32_t count = look.bodies();
  if (blockIdx.x * (kTile / kLanes) >= count) return;
  const std::uint32_t body = (blockIdx.x * kTile + threadIdx.x) / kLanes;
  const std::uint32_t lane = threadIdx.x % kLanes;
  const typename Look::Source here = look.here(body < count ? body : count - 1);
  typename Look::Result result = look.nothing();
  for (std::uint32_t first = 0; first < count; first += kTile) {
    const std::uint32_t sources = count - first < kTile ? count - first : kTile;
    if (threadIdx.x < sources) tile[threadIdx.x] = look.source(first + threadIdx.x);
    __syncthreads();
#pragma unroll 8
    for (std::uint32_t i = lane; i < sources; i += kLanes) result = look.combined(here, result, tile[i]);
    __syncthreads();
  }
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    result = look.merged(result, dynasoar::detail::shuffle_down<32>(result, distance, 0xffffffffu));
  }
  if (lane == 0 && body < count) look.finish(body, result);
}

template <int kLanes, class Look>
void launch_look(dynasoar::Executor& executor, std::uint32_t most, const Look& look) {
  const auto threads = std::uint64_t{most} * kLanes;
  look_kernel<kLanes><<<static_cast<unsigned>((threads + kTile - 1) / kTile), kTile, 0, executor.stream()>>>(look);
  dynasoar::detail::check_cuda(cudaGetLastError(), "look_kernel");
}

template <class Look>
void look_at_all(dynasoar::Executor& executor, std::uint32_t most, const Look& look) {
  const std::uint64_t resident = static_cast<std::uint64_t>(executor.multiprocessors()) * 2048;
  if (std::uint64_t{most} * 32 <= resident) return launch_look<32>(executor, most, look);
  if (std::uint64_t{most} * 8 <= resident) return launch_look<8>(executor, most, look);
  launch_look<1>(executor, most, look);
}

}  // namespace bodies
