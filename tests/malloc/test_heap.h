/// @file
/// TestHeap: an allocator in the hands of one thread, for tests of what a heap of known size holds.
#pragma once

#include "malloc_suite.h"

namespace dynasoar::test {

/// One thread asks for pieces of `bytes` bytes until there are `most`, or no memory.
template <class M>
struct TakePieces {
  M memory;
  Holding* holdings;  // [most]
  std::uint32_t most;
  std::uint32_t bytes;

  __device__ void operator()(std::size_t) const {
    for (std::uint32_t i = 0; i < most; ++i) {
      holdings[i] = {static_cast<unsigned char*>(memory.malloc(bytes)), bytes, i};
      if (holdings[i].memory == nullptr) return;
    }
  }
};

/// One thread gives back all pieces.
template <class M>
struct GivePieces {
  M memory;
  const Holding* holdings;
  std::uint32_t count;
  __device__ void operator()(std::size_t) const {
    for (std::uint32_t i = 0; i < count; ++i) memory.free(holdings[i].memory);
  }
};

/// A heap, and what one thread does with it. Only stamping the memory is done by many.
template <class M>
struct TestHeap : MallocBench<M> {
  explicit TestHeap(std::size_t heap, std::size_t largest = 4096) : MallocBench<M>(largest, heap) {}

  /// Memory of `bytes` bytes each, at most `most` times.
  std::vector<Holding> take(std::size_t bytes, std::size_t most) {
    DeviceArray<Holding> holdings(most);
    holdings.fill_bytes(0);
    this->run(1, TakePieces<M>{this->storage.view(), holdings.data(), static_cast<std::uint32_t>(most),
                               static_cast<std::uint32_t>(bytes)});
    this->run(most, StampPiece{this->tally.data(), holdings.data()});
    std::vector<Holding> taken = holdings.download();
    std::erase_if(taken, [](const Holding& holding) { return holding.memory == nullptr; });
    return taken;
  }

  std::vector<Holding> take_all(std::size_t bytes) { return take(bytes, this->storage.heap_bytes() / bytes + 1); }

  void give(const std::vector<Holding>& taken) {
    DeviceArray<Holding> holdings(taken.size());
    holdings.upload(taken);
    this->run(taken.size(), CheckPiece{this->tally.data(), holdings.data()});
    this->run(1, GivePieces<M>{this->storage.view(), holdings.data(), static_cast<std::uint32_t>(taken.size())});
  }
};

}  // namespace dynasoar::test
