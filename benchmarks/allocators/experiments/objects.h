/// @file
/// What experiments with objects have in common: the heap's size, and a check that no two objects share memory. Used by
/// the experiments of DynaSOAr's section 7.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <app/allocator.h>
#include <dynasoar/dynasoar.h>

#include "../runs.h"

namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR {

using Word = std::uint32_t;
using Counter = dynasoar::AtomicWord<std::uint64_t>;

/// The allocator's name in results.
#if defined(DYNASOAR_APP_MALLOC)
inline constexpr const char* kAllocatorName = DYNASOAR_APP_MALLOC::kProperties.name;
#else
inline constexpr const char* kAllocatorName = "soa";
#endif

/// How many words an object needs for allocator A to be asked for `bytes` bytes: an AosAllocator puts one in front.
template <class A>
constexpr std::size_t words_for(std::size_t bytes) {
  return bytes / sizeof(Word) - (A::kSlotsPerBlock == 1 ? 1 : 0);
}

/// Bytes of a heap that has room for `count` objects of T and no more, if nothing is lost.
template <class A, class T>
std::size_t least_heap_bytes_for(std::size_t count) {
  if constexpr (A::kSlotsPerBlock > 1) return A::template heap_bytes_for<T>(count);
  return std::max(A::least_heap_bytes(), count * A::template kBlockBytes<T>);
}

/// Whether another run of a measurement is worth its time: `repetitions`, or what fits into a second, and one at least.
inline bool measure_again(std::size_t runs, int repetitions, double seconds) {
  return runs == 0 || (runs < static_cast<std::size_t>(repetitions) && seconds < 1);
}

/// Fills objects with a stamp each.
template <class T>
struct Stamp {
  T* const* objects;
  __device__ void operator()(std::size_t i) const {
    if (objects[i] != nullptr) objects[i]->words_.fill(static_cast<Word>(i));
  }
};

/// Counts objects that have another's stamp somewhere.
template <class T>
struct FindOverlap {
  T* const* objects;
  Counter* overlapping;
  __device__ void operator()(std::size_t i) const {
    if (objects[i] == nullptr) return;
    bool intact = true;
    for (std::size_t word = 0; word < objects[i]->words_.size(); ++word) {
      intact = intact && objects[i]->words_[word] == static_cast<Word>(i);
    }
    if (!intact) overlapping->add(1, dynasoar::Order::relaxed);
  }
};

/// @param objects   null entries are left out; the objects' contents are lost
/// @throws std::runtime_error if two of the objects share memory
template <class A, class T>
void check_disjoint(dynasoar::AllocatorHandle<A>& handle, const dynasoar::DeviceArray<T*>& objects,
                    const std::string& experiment) {
  dynasoar::DeviceArray<Counter> overlapping(1);
  overlapping.fill_bytes(0);
  handle.parallel_for(objects.size(), Stamp<T>{objects.data()});
  handle.parallel_for(objects.size(), FindOverlap<T>{objects.data(), overlapping.data()});
  handle.synchronize();
  const std::uint64_t found = overlapping.download().front().load(dynasoar::Order::relaxed);
  if (found > 0) throw std::runtime_error(experiment + ": " + std::to_string(found) + " objects share memory");
}

/// @throws std::runtime_error if there are not as many objects as there should be
template <class T, class A>
void check_count(dynasoar::AllocatorHandle<A>& handle, std::uint64_t expected, const std::string& experiment) {
  const std::uint64_t found = handle.template count<T>();
  if (found == expected) return;
  throw std::runtime_error(experiment + ": there are " + std::to_string(found) + " objects instead of " +
                           std::to_string(expected));
}

}  // namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR
