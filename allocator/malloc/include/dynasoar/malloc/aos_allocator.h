/// @file
/// AosAllocator: objects of a fixed list of classes, each in one piece of memory from any DeviceMalloc. In the place of
/// a SoaAllocator it runs the same programs, so that allocators can be compared in them.
///
/// Source: DynaSOAr, section 7. Fields lie behind one another (array of structures, as C++ objects would); loops
/// find the objects in an ObjectTable per class.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/base/capped.h>
#include <dynasoar/checks/access_counts.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/checks/misuse.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/heap/heap_size.h>
#include <dynasoar/heap/object_places.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/malloc/aos_layout.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/object_table.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

namespace detail {
template <class A>
class AosStorage;
}  // namespace detail

/// Device-side allocator for objects of the classes Ts in memory from a Malloc.
///
/// Used like a SoaAllocator: `class Cell : public SoaBase<AosAllocator<BitmapMalloc, Cell, Fish>>`, an AllocatorHandle
/// of it, `make_new` and `destroy`. It does not find misuse in checked builds. In one loop, no more objects of a class
/// can be created than would fill the heap twice, even if others are deleted. device_do in parallel_for visits what
/// existed when that loop began, also while lists are kept.
///
/// @tparam Malloc   a DeviceMalloc that frees, and is not called collectively
/// @tparam Ts       1 to 255 classes; bases of which no objects are made need not be listed. May be incomplete here.
/// @par Concurrency   as Malloc
template <DeviceMalloc Malloc, class... Ts>
class AosAllocator {
  static_assert(Malloc::kProperties.frees && !Malloc::kProperties.collective,
                "dynasoar: objects come and go one at a time, so AosAllocator needs a DeviceMalloc that frees and that "
                "single threads may call");

 public:
  using Types = detail::TypeList<Ts...>;
  static constexpr int kTypes = Types::size;
  static_assert(kTypes >= 1 && kTypes <= detail::Handle::kMaxTypes,
                "dynasoar: AosAllocator takes 1 to 255 classes, because a handle has 8 bits for the class");

  using Memory = Malloc;
  using Storage = detail::AosStorage<AosAllocator>;
  static constexpr bool kFindsMisuse = false;
  static constexpr bool kSaves = false;
  static constexpr bool kCreatesInBulk = false;  // there are no blocks
  static constexpr bool kCreatesInPieces = false;
  static constexpr bool kCompacts = false;  // objects stay where they are; AllocatorHandle::compact does nothing
  static constexpr bool kListsBeforeEveryLoop = true;    // the making of lists also makes room in the tables
  static constexpr bool kHasConsecutiveHandles = false;  // they are addresses
  template <class T>
  static constexpr bool kPrefetches = false;

  /// What device code needs to know: bound to this allocator type, see Binding.
  struct State {
    Malloc memory;
    detail::ObjectTables<kTypes> tables;
    detail::BlockList lists[kTypes];      ///< of the tables
    AtomicWord<std::uint64_t>* refusals;  ///< [refusal_words(kTypes)] objects refused
    detail::AccessState accesses;
  };

  /// Position of T in the list, or -1.
  template <class T>
  static constexpr int index_of = detail::index_of_v<T, Ts...>;

  /// The listed classes that are T or derive from it.
  template <class T>
  using Subtypes = detail::subtypes_t<T, Ts...>;

  static constexpr std::size_t kSlotsPerBlock = 1;
  template <class T>
  static constexpr std::size_t kBlockBytes = detail::round_up(detail::aos_bytes_v<T>, kMallocAlignment);

  /// Bytes from an element of an array field to the next.
  template <class Element>
  static constexpr std::size_t kArrayStride = sizeof(Element);

  /// Bytes of the largest object. @pre the classes are complete
  static constexpr std::size_t largest_object_bytes() { return std::max({kBlockBytes<Ts>...}); }

  /// Bytes of the smallest heap that can be had. @pre the classes are complete
  static constexpr std::size_t least_heap_bytes() { return std::size_t{1} << 20; }

  /// Bytes of heap that should be enough for `objects` objects of T: twice what they take, because most allocators
  /// round up, or cannot use all of their memory.
  template <class T>
  static constexpr std::size_t heap_bytes_for(std::size_t objects) {
    const std::size_t bytes = detail::capped_product(objects, 2 * std::max(kBlockBytes<T>, largest_object_bytes()));
    return detail::capped_sum(least_heap_bytes(), bytes);
  }

  /// Bytes from an object's start to field I of class C.
  template <class C, std::size_t I>
  static constexpr std::size_t kFieldOffset = detail::aos_offset_v<C, I>;

  /// Every object is a block of its own, in no page.
  static constexpr detail::PageLayout<sizeof...(Ts)> pages() {
    detail::PageLayout<sizeof...(Ts)> pages{kMallocAlignment, 1, {}, 0};
    pages.blocks_per_page.fill(1);
    return pages;
  }

  /// Address of element 0 of field I of class C.
  template <class C, int I, class Element>
  __device__ static Element* field(detail::Handle object) {
    static_assert(alignof(Element) <= kMallocAlignment,
                  "dynasoar: a field's type has an alignment above 16 bytes, which a DeviceMalloc does not give");
    return reinterpret_cast<Element*>((object.bits() & detail::kAddressMask) + detail::aos_offset_v<C, std::size_t{I}>);
  }

  /// The object at a place of the table of T: block b holds places 64 b to 64 b + 63.
  template <class T>
  __device__ static T* object(std::uint32_t block, std::uint32_t slot) {
    return reinterpret_cast<T*>(table<T>().objects[std::size_t{block} * 64 + slot]);
  }

  /// Creates an object. Its constructor must not throw.
  ///
  /// @return a handle, or nullptr if there is no memory; the handle's owner is told at the next synchronization
  /// @par Concurrency   lanes of a warp that call it together are served together if Malloc combines requests
  template <class T, class... Args>
  __device__ static T* make_new(Args&&... args) {
    detail::check_listed<AosAllocator, T>();
    detail::check_constructible<T, Args...>();
    T* const object = allocate<T>(PlatformWarp{});
    if (object == nullptr) return nullptr;
    if constexpr (sizeof...(Args) == 0) {
      ::new (static_cast<void*>(object)) T;  // not T(): that would zero memory at the handle's "address"
    } else {
      ::new (static_cast<void*>(object)) T(std::forward<Args>(args)...);
    }
    return object;
  }

  /// Creates `count` objects, `make_new<T>(i, args...)` for 0 <= i < count. @return how many there was memory for
  template <class T, class... Args>
  __device__ static std::uint32_t make_new_n(std::uint32_t count, const Args&... args) {
    std::uint32_t made = 0;
    int in_a_row = 0;
    std::uint32_t i = 0;
    for (; i < count && in_a_row < detail::kMostRefusalsInARow; ++i) {
      const bool is_made = make_new<T>(std::uint32_t{i}, args...) != nullptr;
      made += is_made ? 1 : 0;
      in_a_row = is_made ? 0 : in_a_row + 1;
    }
    refuse_together<T>(count - i);
    return made;
  }

  /// Counts objects of T as refused, without trying.
  template <class T>
  __device__ static void refuse_together(std::uint64_t objects) {
    detail::refuse_together(detail::bound_state<AosAllocator>().refusals, kTypes, index_of<T>, objects);
  }

  /// Deletes an object by its run-time type. Null is allowed and does nothing.
  ///
  /// @pre the object is alive, and nobody else deletes it
  template <class T>
  __device__ static void free(T* object) {
    detail::check_listed_or_base<AosAllocator, T>();
    if (object == nullptr) return;
    const detail::Handle handle(reinterpret_cast<std::uint64_t>(object));
    Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      if (index_of<S> == handle.type_index()) release(static_cast<S*>(object));
    });
  }

  /// Calls `(object->*method)(args...)`, or `method(object, args...)`, for the objects of T and its subclasses that
  /// existed when the running loop began and are still alive, one after the other in the calling thread.
  template <class T, class F, class... Args>
  __device__ static void device_do(F method, Args&&... args) {
    detail::check_listed_or_base<AosAllocator, T>();
    Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) { visit_listed<S>(method, args...); });
  }

 private:
  template <class T>
  __device__ static const detail::ObjectTable& table() {
    return detail::bound_state<AosAllocator>().tables.of[index_of<T>];
  }

  template <class T>
  __device__ static void refuse(Refusal why) {
    detail::bound_state<AosAllocator>().refusals[index_of<T> * kRefusals + static_cast<int>(why)].add(1,
                                                                                                      Order::relaxed);
  }

  /// Memory and a place in the table for a T. @return its handle, or nullptr
  template <class T>
  __device__ static T* allocate(PlatformWarp warp) {
    const State& state = detail::bound_state<AosAllocator>();
    void* const memory = state.memory.malloc(detail::aos_bytes_v<T>, warp);
    if (memory == nullptr) {
      refuse<T>(Refusal::heap_full);
      return nullptr;
    }
    const std::uint32_t place = table<T>().append(warp);
    if (place == detail::ObjectTable::kNoPlace) {
      refuse<T>(Refusal::table_full);
      state.memory.free(memory, warp);
      return nullptr;
    }
    static_cast<detail::AosHeader*>(memory)->index = place;
    const std::uint64_t handle = detail::Handle::make(reinterpret_cast<std::uint64_t>(memory), 0, index_of<T>).bits();
    table<T>().objects[place] = handle;
    return reinterpret_cast<T*>(handle);
  }

  template <class T>
  __device__ static void release(T* object) {
    if constexpr (!std::is_trivially_destructible_v<T>) object->~T();
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(object) & detail::kAddressMask;
    auto* const header = reinterpret_cast<detail::AosHeader*>(address);
    if (table<T>().remove(header->index, PlatformWarp{})) {
      detail::bound_state<AosAllocator>().memory.free(header, PlatformWarp{});
    }
  }

  template <class S, class F, class... Args>
  __device__ static void visit_listed(F method, Args&... args) {
    const detail::ObjectTable& objects = table<S>();
    const std::uint32_t blocks = *objects.list.count;
    for (std::uint32_t block = 0; block < blocks; ++block) {
      const int count = detail::popcount(objects.list.entries[block].slots);
      for (int slot = 0; slot < count; ++slot) {
        S* const object = reinterpret_cast<S*>(objects.alive_at(block * 64 + static_cast<std::uint32_t>(slot)));
        if (object == nullptr) continue;  // deleted meanwhile
        if constexpr (std::is_member_function_pointer_v<F>) {
          (object->*method)(args...);
        } else {
          method(object, args...);
        }
      }
    }
  }
};

namespace detail {

/// Gives the memory of the objects of a table back.
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

  /// @param size   in bytes for objects; the tables take more
  /// @throws Error if that is too little or too much for the allocator of memory, or not to be had, or has a limit
  AosStorage(Executor& executor, const HeapSize& size, const FaultPlan&)
      : executor_(executor),
        memory_(executor, MallocNeeds{fixed_size(size), A::largest_object_bytes()}),
        refusals_(refusal_words(A::kTypes)) {
    if (memory_.view().largest() < A::largest_object_bytes()) {
      throw Error("dynasoar: the largest class has " + std::to_string(A::largest_object_bytes()) +
                  " bytes, but the allocator '" + A::Memory::kProperties.name + "' hands out " +
                  std::to_string(memory_.view().largest()) + " at most; choose another one");
    }
    const std::size_t heap_bytes = fixed_size(size);
    refusals_.fill_bytes(0);
    state_.memory = memory_.view();
    state_.refusals = reinterpret_cast<AtomicWord<std::uint64_t>*>(refusals_.data());
    A::Types::for_each([&]<class T>(std::type_identity<T>) {
      const std::size_t capacity = 2 * (heap_bytes / A::template kBlockBytes<T>)+64;
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

  /// Gives back what objects still have: the memory of some allocators, such as the toolkit's, outlives their Storage.
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

  /// Compacts the tables of some classes and makes their lists for the next loop.
  void make_lists(Executor& executor, const ClassSet& classes) const {
    ChosenTables<A::kTypes> chosen{};
    for (std::size_t i = 0; i < A::kTypes; ++i) {
      if (classes.has(i)) chosen.tables[chosen.count++] = state_.tables.of[i];
    }
    detail::make_lists(executor, chosen);
  }

  const BlockList& list(std::size_t type) const { return state_.lists[type]; }

  /// Where the objects of each class are.
  View<ObjectPlaces> places() const { return places_; }

  /// An upper bound on the listed blocks of a type.
  std::size_t list_capacity(std::size_t type) const { return (state_.tables.of[type].capacity + std::size_t{63}) / 64; }

  /// Live objects, twice per type: each is a block of its own. Waits for the device.
  std::vector<std::uint64_t> count_objects(Executor& executor) const {
    executor.synchronize();
    std::vector<std::uint64_t> totals;
    for (const TableStorage& table : tables_) totals.insert(totals.end(), 2, table.numbers().live);
    return totals;
  }

  /// Objects refused since the start, see refused_objects. Waits for the device.
  std::vector<std::uint64_t> refusals() const { return refusals_.download(); }

  /// Objects of a type that can be created in one loop: those that its table has room for.
  std::uint64_t most_objects(std::size_t type) const { return state_.tables.of[type].capacity; }

  /// None is ever found.
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

  /// What objects do not take, whether it can be had or not. Waits for the device.
  std::uint64_t count_free_pages() const {
    std::uint64_t used = 0;
    A::Types::for_each([&]<class T>(std::type_identity<T>) {
      used += tables_[static_cast<std::size_t>(A::template index_of<T>)].numbers().live * A::template kBlockBytes<T> /
              page_bytes();
    });
    return pages() - std::min(pages(), used);
  }

  std::size_t heap_bytes() const { return memory_.heap_bytes(); }

  /// Bytes beside the objects: tables, and what the allocator of memory needs.
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
          "as "
          "it may need");
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

}  // namespace detail

}  // namespace dynasoar
