/// @file
/// TestHeap: an allocator that one thread uses, for tests of what a heap of known size holds; and take_together(), for
/// tests of what the lanes of a warp get.
#pragma once

#include "malloc_suite.h"

namespace dynasoar::test {

/// A heap of a known size, which one thread uses.
template <class M>
struct TestHeap : MallocBench<M> {
  explicit TestHeap(std::size_t heap, std::size_t largest = 4096) : MallocBench<M>(largest, heap) {}

  using MallocBench<M>::take;

  /// Memory of `bytes` bytes each, at most `most` times.
  std::vector<Holding> take(std::size_t bytes, std::size_t most) { return take(std::vector<std::size_t>(most, bytes)); }

  /// Whether there is memory of `bytes` bytes, which is then not free any more.
  bool can_take(std::size_t bytes) { return !take(bytes, 1).empty(); }

  std::vector<Holding> take_all(std::size_t bytes) { return take(bytes, this->storage.heap_bytes() / bytes + 1); }
};

/// How many there are that have memory.
inline std::size_t served(const std::vector<Holding>& holdings) {
  return static_cast<std::size_t>(
      std::count_if(holdings.begin(), holdings.end(), [](const Holding& h) { return h.memory != nullptr; }));
}

#if !DYNASOAR_CUDA_BACKEND

/// What the lanes of a warp get that ask together; each fills it. @param bytes   of each, or `bytes(lane)` of a lane
template <class M, class Bytes>
std::vector<Holding> take_together(WarpTeam& warp, const M& memory, const Bytes& bytes) {
  std::vector<Holding> taken(WarpTeam::kLanes);
  run_warp(warp, [&](ThreadWarp lane) {
    const auto number = static_cast<std::uint32_t>(lane.lane());
    std::uint32_t size = 0;
    if constexpr (std::is_integral_v<Bytes>) {
      size = static_cast<std::uint32_t>(bytes);
    } else {
      size = static_cast<std::uint32_t>(bytes(number));
    }
    taken[number] = {static_cast<unsigned char*>(memory.malloc(size, lane)), size, number};
    if (taken[number].memory != nullptr) taken[number].fill();
  });
  return taken;
}

template <class M, class Bytes>
std::vector<Holding> take_together(const M& memory, const Bytes& bytes) {
  WarpTeam warp(0, WarpScheduling::together(), 1);
  return take_together(warp, memory, bytes);
}

/// Looks at what the lanes of a warp have, and frees it together.
template <class M>
void give_together(const M& memory, const std::vector<Holding>& taken) {
  for (const Holding& holding : taken) CHECK((holding.memory == nullptr || holding.intact()));
  WarpTeam warp(0, WarpScheduling::together(), 1);
  run_warp(warp, [&](ThreadWarp lane) { memory.free(taken[static_cast<std::size_t>(lane.lane())].memory, lane); });
}

#endif

}  // namespace dynasoar::test
