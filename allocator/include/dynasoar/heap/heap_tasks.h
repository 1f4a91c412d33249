/// @file
/// The tasks of HeapMemory on the device: they initialize pages and count objects. Used by heap_memory.cpp and
/// heap_snapshot.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/heap/any_heap.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// Stores a value to many words.
struct FillWords {
  AtomicWord<std::uint32_t>* words;
  std::uint32_t value;
  __device__ void operator()(std::size_t index) const { words[index].store(value, Order::relaxed); }
};

/// Sets the hints of warps, so that each starts to search for free pages in its own part of some pages.
struct SpreadHints {
  AnyHeap::WarpWords hints;
  std::uint32_t count, first, end;
  __device__ void operator()(std::size_t index) const {
    const std::uint64_t place = std::uint64_t{end - first} * index / count;
    hints[static_cast<std::uint32_t>(index)].store(first + static_cast<std::uint32_t>(place), Order::relaxed);
  }
};

/// Makes the new pages of one container free, while other threads may allocate.
struct AddFreePages {
  AnyHeap::Bits free_pages;
  AnyHeap::Counter pages_freed;
  std::uint32_t first, end;

  __device__ void operator()(std::size_t index) const {
    const std::uint32_t container = first / 64 + static_cast<std::uint32_t>(index);
    const std::uint32_t from = index == 0 ? first % 64 : 0;
    const std::uint32_t to = end - container * 64 < 64 ? end - container * 64 : 64;
    const std::uint64_t mask = first_bits(static_cast<int>(to)) & ~first_bits(static_cast<int>(from));
    // As if pages had become free by deletion, this invalidates all proofs that the heap is full. relaxed: published by
    // set_many.
    pages_freed.add(container, static_cast<std::uint64_t>(popcount(mask)), Order::relaxed);
    free_pages.set_many(container * 64, mask);
  }
};

/// Counts the objects and blocks of one container of an allocated bitmap.
struct CountObjects {
  AnyHeap heap;
  std::uint32_t containers;
  AtomicWord<std::uint64_t>* totals;  // [2 * types] objects, blocks

  __device__ void operator()(std::size_t index) const {
    const auto type = static_cast<int>(index / containers);
    const auto container = static_cast<std::uint32_t>(index % containers);
    std::uint64_t bits = heap.types[type].allocated.container(0, container);
    if (bits == 0) return;
    const int blocks = popcount(bits);
    int objects = 0;
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t block = container * 64 + static_cast<std::uint32_t>(lowest_bit(bits));
      objects += popcount(heap.slots[block].load(Order::relaxed));
    }
    totals[2 * type].fetch_add(static_cast<std::uint64_t>(objects), Order::relaxed);
    totals[2 * type + 1].fetch_add(static_cast<std::uint64_t>(blocks), Order::relaxed);
  }
};

}  // namespace dynasoar::detail
