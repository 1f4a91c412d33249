/// @file
/// TestHeap: an allocator in the hands of one thread, for tests of what a heap of known size holds.
#pragma once

#include "malloc_suite.h"

namespace dynasoar::test {

/// A heap, and what one thread does with it.
template <class M>
struct TestHeap : MallocBench<M> {
  explicit TestHeap(std::size_t heap, std::size_t largest = 4096) : MallocBench<M>(largest, heap) {}

  /// Memory of `bytes` bytes each, at most `most` times.
  std::vector<Holding> take(std::size_t bytes, std::size_t most) {
    DeviceArray<Holding> holdings(most);
    holdings.fill_bytes(0);
    this->run(1, TakeAll<M>{this->storage.view(), this->tally.data(), holdings.data(), static_cast<std::uint32_t>(most),
                            static_cast<std::uint32_t>(bytes)});
    std::vector<Holding> taken = holdings.download();
    std::erase_if(taken, [](const Holding& holding) { return holding.memory == nullptr; });
    return taken;
  }

  std::vector<Holding> take_all(std::size_t bytes) { return take(bytes, this->storage.heap_bytes() / bytes + 1); }

  void give(const std::vector<Holding>& taken) {
    DeviceArray<Holding> holdings(taken.size());
    holdings.upload(taken);
    this->run(1, GiveBackAll<M>{this->storage.view(), this->tally.data(), holdings.data(),
                                static_cast<std::uint32_t>(taken.size())});
  }
};

}  // namespace dynasoar::test
