/// @file
/// AosStorage: owns the memory of an AosAllocator: the memory of the DeviceMalloc, and the tables of objects. Made on
/// the host by AllocatorHandle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/checks/misuse.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/heap_size.h>
#include <dynasoar/heap/object_places.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/object_table.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Frees the memory of the objects of a table.
template <class Malloc>
struct FreeObjects {
  Malloc memory;
  ObjectTable table;

  __device__ void operator()(std::size_t place) const {
    const std::uint64_t object = table.objects[place];
    if (object != 0) memory.free(reinterpret_cast<void*>(object & kAddressMask));
  }
};

/// The memory behind an AosAllocator's State.
///
/// @tparam A   an AosAllocator of complete types
template <class A>
class AosStorage {
 public:
  using Common = AosStorage;

  static constexpr bool kGrows = false;

  /// @param size   bytes for objects; the tables take more
  /// @throws Error if the size is too small or too large for the allocator of memory, exceeds the available memory, or
  ///         has a limit
  AosStorage(Executor& executor, const HeapSize& size, const FaultPlan&)
      : executor_(executor),
        memory_(executor, MallocNeeds{fixed_size(size), A::largest_object_bytes()}),
        refusals_(zeroed<std::uint64_t>(refusal_words(A::kTypes))) {
    if (memory_.view().largest() < A::largest_object_bytes()) {
      throw Error("dynasoar: the largest class has " + std::to_string(A::largest_object_bytes()) +
                  " bytes, but the allocator '" + A::Memory::kProperties.name + "' hands out " +
                  std::to_string(memory_.view().largest()) + " at most; choose another one");
    }
    const std::size_t heap_bytes = fixed_size(size);
    state_.memory = memory_.view();
    state_.refusals = reinterpret_cast<AtomicWord<std::uint64_t>*>(refusals_.data());
    A::Types::for_each([&]<class T>(std::type_identity<T>) {
      const std::size_t objects = is_placed<T>() ? 0 : heap_bytes / A::template kBlockBytes<T>;
      const std::size_t capacity = 2 * objects + 64;
      constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max() / 2;
      if (capacity > kMost) {
        throw Error("dynasoar: a heap of " + std::to_string(heap_bytes) +
                    " bytes is too large for tables of objects with 32-bit numbers; the most is " +
                    std::to_string((kMost - 64) / 2 * A::template kBlockBytes<T>));
      }
      tables_.emplace_back(executor, static_cast<std::uint32_t>(capacity));
      constexpr int type = A::template index_of<T>;
      state_.tables.of[type] = tables_.back().view();
      state_.lists[type] = state_.tables.of[type].list;
      places_[type] = {state_.lists[type], nullptr, state_.tables.of[type].objects};
    });
  }

  AosStorage(const AosStorage&) = delete;
  AosStorage& operator=(const AosStorage&) = delete;

  /// Frees the memory of remaining objects: the memory of some allocators, such as the toolkit's, outlives their
  /// Storage.
  ~AosStorage() {
    try {
      for (const TableStorage& table : tables_) {
        executor_.for_each_index(table.numbers().end, FreeObjects<typename A::Memory>{memory_.view(), table.view()});
      }
      executor_.synchronize();
    } catch (const Error&) {
    }
  }

  const typename A::State& state() const { return state_; }

  /// Compacts the tables of some classes and makes their lists for the next loop. Placed classes have none.
  void make_lists(Executor& executor, const ClassSet& classes) const {
    ChosenTables<A::kTypes> chosen{};
    for (std::size_t i = 0; i < A::kTypes; ++i) {
      if (classes.has(i) && !class_table_v<A>[i].is_placed) chosen.tables[chosen.count++] = state_.tables.of[i];
    }
    detail::make_lists(executor, chosen);
  }

  const BlockList& list(std::size_t type) const { return state_.lists[type]; }

  /// The places of the objects of each class.
  View<ObjectPlaces> places() const { return places_; }

  /// An upper bound on the listed blocks of a type.
  std::size_t list_capacity(std::size_t type) const { return (state_.tables.of[type].capacity + std::size_t{63}) / 64; }

  /// Live objects, twice per type: each is a block of its own. Waits for the device.
  std::vector<std::uint64_t> count_objects(Executor& executor) const {
    executor.wait();
    std::vector<std::uint64_t> totals;
    for (const TableStorage& table : tables_) totals.insert(totals.end(), 2, table.numbers().live);
    return totals;
  }

  /// Objects refused since the start, see refused_objects. Waits for the device.
  std::vector<std::uint64_t> refusals() const { return refusals_.download(); }

  /// The number of objects of a type that one loop can create: the capacity of its table.
  std::uint64_t most_objects(std::size_t type) const { return state_.tables.of[type].capacity; }

  /// Always empty: this allocator finds no misuse.
  static std::vector<MisuseReport> take_misuse() { return {}; }

  /// Objects created since the start, per type. Waits for the device.
  std::vector<std::uint64_t> created() const {
    std::vector<std::uint64_t> totals;
    for (const TableStorage& table : tables_) totals.push_back(table.numbers().created);
    return totals;
  }

  /// The unit in which memory is counted.
  static constexpr std::size_t page_bytes() { return kMallocAlignment; }
  std::uint64_t pages() const { return heap_bytes() / page_bytes(); }

  /// The memory that objects do not take, in pages. Some of it may not be available. Waits for the device.
  std::uint64_t count_free_pages() const {
    std::uint64_t used = 0;
    A::Types::for_each([&]<class T>(std::type_identity<T>) {
      used += tables_[static_cast<std::size_t>(A::template index_of<T>)].numbers().live * A::template kBlockBytes<T> /
              page_bytes();
    });
    return pages() - std::min(pages(), used);
  }

  std::size_t heap_bytes() const { return memory_.heap_bytes(); }

  /// Bytes in addition to the objects: tables, and the state of the allocator of memory.
  std::size_t state_bytes() const {
    std::size_t bytes = memory_.state_bytes() + refusals_.bytes();
    for (const TableStorage& table : tables_) bytes += table.bytes();
    return bytes;
  }

  std::size_t limit_bytes() const { return heap_bytes(); }
  std::uint64_t growths() const { return 0; }

 private:
  static std::size_t fixed_size(const HeapSize& size) {
    if (size.limit) {
      throw Error(
          "dynasoar: the heap of an AosAllocator cannot grow; leave heap_limit_bytes out, and give as many heap_bytes "
          "as it may need");
    }
    return size.bytes.value_or(HeapSize::kDefault);
  }

  Executor& executor_;
  typename A::Memory::Storage memory_;
  DeviceArray<std::uint64_t> refusals_;
  std::vector<TableStorage> tables_;
  ObjectPlaces places_[A::kTypes];
  typename A::State state_{};
};

}  // namespace dynasoar::detail
