/// @file
/// Counts of accesses to fields, in builds that count them (DYNASOAR_COUNT_ACCESSES). SoaField counts accesses.
/// AllocatorHandle names the running loop, and reads the result: see dynasoar/statistics.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar::detail {

// Whether files of this program count, so that AllocatorHandle can refuse a mixture.
inline constexpr unsigned kFileDoesNotCount = 1, kFileCounts = 2;
inline unsigned counting_of_files = 0;
#if !defined(DYNASOAR_LIBRARY_SOURCE)
[[maybe_unused]] static const unsigned counting_of_this_file = counting_of_files |=
    kCountsAccesses ? kFileCounts : kFileDoesNotCount;
#endif

/// The kind of an access to a field. The caller may read or write through a reference, or both; this is unknown.
enum class Access { read, write, reference, read_and_write };
inline constexpr std::size_t kCountedKinds = 3;  // without read_and_write, which counts as two

/// The counters in the state of an allocator.
struct AccessCounters {
  static constexpr std::uint32_t kShards = 64;  ///< several copies, so that threads do not wait for each other
  static constexpr std::uint32_t kMostLoops = 256;

  AtomicWord<std::uint64_t>* now;    ///< [kShards * words], for the running loop
  AtomicWord<std::uint64_t>* loops;  ///< [kMostLoops * words], for loops that have ended
  AtomicWord<std::uint32_t>* loop;   ///< number of the running loop
  std::uint32_t words;               ///< kCountedKinds for each field of each class, inherited ones included

  /// Adds the counts of the running loop to the counts of its earlier runs.
  __device__ void settle(std::size_t word) const {
    std::uint64_t sum = 0;
    for (std::uint32_t shard = 0; shard < kShards; ++shard) {
      sum += now[std::size_t{shard} * words + word].exchange(0, Order::relaxed);
    }
    loops[std::size_t{loop->load(Order::relaxed)} * words + word].fetch_add(sum, Order::relaxed);
  }
};

/// Replaces AccessCounters in builds that do not count.
struct NoAccessCounters {};

using AccessState = std::conditional_t<kCountsAccesses, AccessCounters, NoAccessCounters>;

/// For each class of allocator A, the number of its first field among the fields of all classes. The last element is
/// the number of all fields.
template <class A>
constexpr auto first_fields() {
  std::array<std::uint32_t, A::kTypes + 1> first{};
  std::size_t type = 0;
  A::Types::for_each([&]<class T>(std::type_identity<T>) {
    first[type + 1] = first[type] + static_cast<std::uint32_t>(ClassLayout<T>::field_count);
    ++type;
  });
  return first;
}

/// Counts an access to field `number`, inherited ones included, of an object of allocator A.
template <class A, Access kAccess>
__device__ void count_access(Handle object, std::uint32_t number) {
  constexpr auto kFirst = first_fields<A>();
  const AccessCounters& counters = bound_state<A>().accesses;
  const int type = object.type_index();
  if (type < 0 || type >= A::kTypes || counters.now == nullptr) return;
  std::uint32_t first = 0;
  for (int i = 1; i < A::kTypes; ++i) first = type >= i ? kFirst[static_cast<std::size_t>(i)] : first;
  const std::size_t word = std::size_t{first + number} * kCountedKinds;
  const std::size_t shard = PlatformWarp{}.id() % AccessCounters::kShards;
  AtomicWord<std::uint64_t>* const words = counters.now + shard * counters.words + word;
  // relaxed: counts, read when the loop has ended.
  if constexpr (kAccess == Access::read_and_write) {
    words[static_cast<int>(Access::read)].fetch_add(1, Order::relaxed);
    words[static_cast<int>(Access::write)].fetch_add(1, Order::relaxed);
  } else {
    words[static_cast<int>(kAccess)].fetch_add(1, Order::relaxed);
  }
}

struct SettleAccesses {
  AccessCounters counters;
  __device__ void operator()(std::size_t word) const { counters.settle(word); }
};
struct BeginCounting {
  AccessCounters counters;
  std::uint32_t loop;
  __device__ void operator()(std::size_t) const { counters.loop->store(loop, Order::relaxed); }
};

/// The memory behind an allocator's AccessCounters.
template <class A>
class AccessCounts {
 public:
  AccessCounts()
      : now_(std::size_t{AccessCounters::kShards} * kWords), loops_(AccessCounters::kMostLoops * kWords), loop_(1) {
    now_.fill_bytes(0);
    loops_.fill_bytes(0);
    loop_.fill_bytes(0);
  }

  AccessCounters counters() const {
    return {reinterpret_cast<AtomicWord<std::uint64_t>*>(now_.data()),
            reinterpret_cast<AtomicWord<std::uint64_t>*>(loops_.data()),
            reinterpret_cast<AtomicWord<std::uint32_t>*>(loop_.data()), static_cast<std::uint32_t>(kWords)};
  }

  /// Called before a loop is submitted or recorded. Loops with the same name are counted together, and so are all loops
  /// beyond the maximum number.
  void begin_loop(Executor& executor, const std::string& name) {
    executor.for_each_index(kWords, SettleAccesses{counters()});
    executor.for_each_index(1, BeginCounting{counters(), number_of(name)});
  }

  const std::vector<std::string>& names() const { return names_; }

  /// Returns kWords counts for each of the loops `names()`. Waits for the device.
  std::vector<std::uint64_t> take(Executor& executor) const {
    executor.for_each_index(kWords, SettleAccesses{counters()});
    executor.synchronize();
    return loops_.download();
  }

  static constexpr std::size_t kWords = first_fields<A>()[A::kTypes] * kCountedKinds;

 private:
  std::uint32_t number_of(const std::string& name) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) return static_cast<std::uint32_t>(i);
    }
    if (names_.size() == AccessCounters::kMostLoops) return AccessCounters::kMostLoops - 1;
    names_.push_back(names_.size() == AccessCounters::kMostLoops - 1 ? "all other loops" : name);
    return static_cast<std::uint32_t>(names_.size() - 1);
  }

  DeviceArray<std::uint64_t> now_, loops_;
  DeviceArray<std::uint32_t> loop_;
  std::vector<std::string> names_ = {"outside of loops"};
};

/// Replaces AccessCounts in builds that do not count.
struct NoAccessCounts {};

}  // namespace dynasoar::detail
