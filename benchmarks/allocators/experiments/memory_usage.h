/// @file
/// How much of a heap can be had: threads create objects until one of them is refused.
///
/// Source: DynaSOAr (Springer and Masuhara 2019), section 7.2, figure 11, which compares the largest problems that
/// applications can be run with. Here the objects are of one class, of 64 bytes, or at random of three, of 16, 64 and
/// 128. As there, pointers for loops do not count. What counts is what the allocator was asked for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "../suite.h"
#include "objects.h"

namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR {
namespace memory_usage {

class Only;
using OneClass = app::Allocator<Only>;
class Small;
class Medium;
class Large;
using ThreeClasses = app::Allocator<Small, Medium, Large>;

/// What an object is filled with, a stamp in each word: overlaps spoil stamps, and the sum of all tells of two objects
/// in one place.
template <std::size_t bytes>
using Words = std::array<Word, words_for<OneClass>(bytes)>;

class Only : public dynasoar::SoaBase<OneClass> {
 public:
  static constexpr std::size_t kBytes = 64;
  DYNASOAR_FIELDS(Only, (words_, Words<kBytes>));
  __device__ explicit Only(Word stamp) { words_.fill(stamp); }
};

class Small : public dynasoar::SoaBase<ThreeClasses> {
 public:
  static constexpr std::size_t kBytes = 16;
  DYNASOAR_FIELDS(Small, (words_, Words<kBytes>));
  __device__ explicit Small(Word stamp) { words_.fill(stamp); }
};

class Medium : public dynasoar::SoaBase<ThreeClasses> {
 public:
  static constexpr std::size_t kBytes = 64;
  DYNASOAR_FIELDS(Medium, (words_, Words<kBytes>));
  __device__ explicit Medium(Word stamp) { words_.fill(stamp); }
};

class Large : public dynasoar::SoaBase<ThreeClasses> {
 public:
  static constexpr std::size_t kBytes = 128;
  DYNASOAR_FIELDS(Large, (words_, Words<kBytes>));
  __device__ explicit Large(Word stamp) { words_.fill(stamp); }
};

/// A number that depends on both arguments.
__device__ inline Word hashed(std::size_t a, Word b) {
  std::uint64_t z = (std::uint64_t{a} << 32 | b) + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<Word>((z ^ (z >> 31)) >> 32);
}

struct CreateOnly {
  __device__ static bool create(Word stamp) { return dynasoar::make_new<Only>(stamp) != nullptr; }
};

struct CreateOneOfThree {
  __device__ static bool create(Word stamp) {
    if (stamp % 3 == 0) return dynasoar::make_new<Small>(stamp) != nullptr;
    if (stamp % 3 == 1) return dynasoar::make_new<Medium>(stamp) != nullptr;
    return dynasoar::make_new<Large>(stamp) != nullptr;
  }
};

/// Every thread creates objects until somebody is refused.
template <class Creator>
struct Fill {
  Word most;        // of a thread: beyond that, the heap has no end
  Counter* full;    // not 0: somebody was refused
  Counter* stamps;  // sum

  __device__ void operator()(std::size_t thread) const {
    std::uint64_t sum = 0;
    for (Word i = 0; i < most && full->load(dynasoar::Order::relaxed) == 0; ++i) {
      const Word stamp = hashed(thread, i);
      if (Creator::create(stamp)) {
        sum += stamp;
      } else {
        full->store(1, dynasoar::Order::relaxed);
      }
    }
    stamps->add(sum, dynasoar::Order::relaxed);
  }
};

/// The stamp of an object; if its words differ, a number that spoils the sum.
struct StampOf {
  template <class T>
  __device__ std::uint64_t operator()(T* object) const {
    const Word stamp = object->words_[0];
    for (std::size_t word = 1; word < object->words_.size(); ++word) {
      if (object->words_[word] != stamp) return std::uint64_t{1} << 62;
    }
    return stamp;
  }
};

/// Bytes that the allocator was asked for. @throws std::runtime_error if objects overlap, or some are not found
template <class A>
double asked_bytes(dynasoar::AllocatorHandle<A>& handle, std::uint64_t expected_stamps) {
  std::uint64_t stamps = 0;
  std::size_t bytes = 0;
  A::Types::for_each([&]<class T>(std::type_identity<T>) {
    stamps += handle.template reduce<T>(std::uint64_t{0}, dynasoar::Plus{}, StampOf{});
    bytes += handle.template count<T>() * T::kBytes;
  });
  if (stamps != expected_stamps) throw std::runtime_error("memory_usage: objects share memory");
  return static_cast<double>(bytes);
}

struct Filled {
  double objects;
  double percent;
};

template <class A, class Creator>
Filled fill(std::size_t heap_bytes, std::size_t threads) {
  dynasoar::AllocatorHandle<A> handle({.heap_bytes = heap_bytes, .on_refusal = dynasoar::OnRefusal::record});
  const auto most = static_cast<Word>(2 * heap_bytes / threads / Small::kBytes);
  dynasoar::DeviceArray<Counter> counters(2);
  counters.fill_bytes(0);
  handle.parallel_for(threads, Fill<Creator>{most, counters.data(), counters.data() + 1});
  handle.synchronize();
  const std::vector<Counter> counted = counters.download();
  if (counted[0].load(dynasoar::Order::relaxed) == 0) throw std::runtime_error("memory_usage: the heap has no end");
  const dynasoar::Statistics statistics = handle.statistics();
  const double bytes = asked_bytes(handle, counted[1].load(dynasoar::Order::relaxed));
  return {static_cast<double>(statistics.objects()), 100 * bytes / static_cast<double>(statistics.heap_bytes)};
}

template <class A, class Creator>
void measure(const Context& context) {
  const std::size_t heap_bytes = context.pick<std::size_t>(128, 4) << 20;
  const std::size_t threads = context.pick<std::size_t>(16384, 256);
  std::vector<double> objects, percent;
  for (int i = 0; i < std::min(context.repetitions, 3); ++i) {
    const Filled filled = fill<A, Creator>(heap_bytes, threads);
    if (filled.percent > 100) throw std::runtime_error("memory_usage: more was handed out than there is");
    objects.push_back(filled.objects);
    percent.push_back(filled.percent);
  }
  const std::map<std::string, std::int64_t> parameters = {{"classes", A::kTypes},
                                                          {"MiB", static_cast<std::int64_t>(heap_bytes >> 20)}};
  context.add({"memory_usage", kAllocatorName, parameters, "heap used at the first refusal", "%", percent});
  context.add({"memory_usage", kAllocatorName, parameters, "objects at the first refusal", "objects", objects});
}

inline void run(const Context& context) {
  measure<OneClass, CreateOnly>(context);
  measure<ThreeClasses, CreateOneOfThree>(context);
}

}  // namespace memory_usage

inline void add_memory_usage(std::vector<Case>& cases) {
  cases.push_back({"memory_usage", kAllocatorName, memory_usage::run});
}

}  // namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR
