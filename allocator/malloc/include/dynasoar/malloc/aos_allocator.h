/// @file
/// AosAllocator: objects of a fixed list of classes, each in one piece of memory from any DeviceMalloc. It can replace
/// a SoaAllocator in programs, so that allocators can be compared.
///
/// Source: DynaSOAr, section 7. The fields of an object are adjacent (array of structures, like C++ objects). Loops
/// find the objects in an ObjectTable per class.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <dynasoar/base/capped.h>
#include <dynasoar/checks/access_counts.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/malloc/aos_layout.h>
#include <dynasoar/malloc/aos_storage.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/object_table.h>
#include <dynasoar/malloc/placed_pieces.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/warp.h>

namespace dynasoar {

/// Device-side allocator for objects of the classes Ts in memory from a Malloc.
///
/// Used like a SoaAllocator: `class Cell : public SoaBase<AosAllocator<BitmapMalloc, Cell, Fish>>`, an AllocatorHandle
/// of it, `make_new` and `destroy`. It does not find misuse in checked builds. One loop cannot create more objects of a
/// class than fit into twice the heap, even if it deletes others. device_do in parallel_for visits the objects that
/// existed when that loop began, also while lists are kept.
///
/// @tparam Malloc   a DeviceMalloc that frees, and is not called collectively
/// @tparam Ts       1 to 255 classes; bases of which no objects are made need not be listed. May be incomplete here.
/// @par Concurrency   as Malloc
template <class Malloc, class... Ts>
class AosAllocator {
  static_assert(detail::check_device_malloc<Malloc>());
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
  static constexpr bool kHasConsecutiveHandles = false;  // handles are addresses
  static constexpr detail::Placement kPlacement = detail::Placement::in_pieces;
  template <class T>
  static constexpr bool kPrefetches = false;

  /// A second state for device code: that of placed classes. See Binding. @pre the classes are complete
  using More = detail::PlacedStates<AosAllocator>;
  static constexpr bool binds_more() { return detail::any_placed_v<Types>; }

  /// The state for device code, bound to this allocator type, see Binding.
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

  /// Bytes of the smallest possible heap. @pre the classes are complete
  static constexpr std::size_t least_heap_bytes() { return std::size_t{1} << 20; }

  /// Bytes of heap that should be enough for `objects` objects of T: twice what they take, because most allocators
  /// round up, or cannot use all of their memory. For placed objects, it is twice as much again, because objects that a
  /// loop destroys or moves away keep their memory until it ends.
  template <class T>
  static constexpr std::size_t heap_bytes_for(std::size_t objects) {
    constexpr std::size_t kTimes = detail::is_placed<T>() ? 4 : 2;
    const std::size_t bytes =
        detail::capped_product(objects, kTimes * std::max(kBlockBytes<T>, largest_object_bytes()));
    return detail::capped_sum(least_heap_bytes(), bytes);
  }

  /// Bytes from an object's start to field I of class C.
  template <class C, std::size_t I>
  static constexpr std::size_t kFieldOffset = detail::aos_offset_v<C, I>;

  /// Every object is a block of its own, and there are no pages.
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

  /// The object at a place of the table of T: block b holds places 64 b to 64 b + 63. They are those of the lattice if
  /// T is placed.
  template <class T>
  __device__ static T* object(std::uint32_t block, std::uint32_t slot) {
    if constexpr (detail::is_placed<T>()) {
      return reinterpret_cast<T*>(detail::placed_handle<T>(std::uint64_t{block} * 64 + slot).bits());
    }
    return reinterpret_cast<T*>(table<T>().objects[std::size_t{block} * 64 + slot]);
  }

  /// Creates an object. Its constructor must not throw.
  ///
  /// @return the object, or nullptr if there is no memory; the next synchronization of the AllocatorHandle reports this
  /// @par Concurrency   lanes of a warp that call it together are served together if Malloc combines requests
  template <class T, class... Args>
  __device__ static T* make_new(Args&&... args) {
    detail::check_listed<AosAllocator, T>();
    detail::check_not_placed<T>();
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

  /// Creates `count` objects, `make_new<T>(i, args...)` for 0 <= i < count. @return the number of created objects
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

  /// Deletes an object as one of its run-time class. Does nothing if the pointer is null.
  ///
  /// @pre the object is alive, and no other thread deletes it
  template <class T>
  __device__ static void free(T* object) {
    detail::check_listed_or_base<AosAllocator, T>();
    detail::check_may_free<T>();
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

  // For the library: the memory of placed objects.

  /// Memory for a T at a slot of its lattice. @return its handle, or nullptr if the heap is full
  template <class T>
  __device__ static T* allocate_at(std::uint64_t slot) {
    void* const memory = allocate_piece<T>(PlatformWarp{});
    if (memory == nullptr) return nullptr;
    static_cast<detail::PlacedHeader*>(memory)->slot = slot;
    return handle_of<T>(memory);
  }

  /// Frees the memory of an object without destroying it.
  template <class T>
  __device__ static void release_piece(T* object) {
    void* const memory = reinterpret_cast<void*>(reinterpret_cast<std::uint64_t>(object) & detail::kAddressMask);
    detail::bound_state<AosAllocator>().memory.free(memory, PlatformWarp{});
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

  /// Memory for a T, or nullptr.
  template <class T>
  __device__ static void* allocate_piece(PlatformWarp warp) {
    void* const memory = detail::bound_state<AosAllocator>().memory.malloc(detail::aos_bytes_v<T>, warp);
    if (memory == nullptr) refuse<T>(Refusal::heap_full);
    return memory;
  }

  template <class T>
  __device__ static T* handle_of(void* memory) {
    return reinterpret_cast<T*>(detail::Handle::make(reinterpret_cast<std::uint64_t>(memory), 0, index_of<T>).bits());
  }

  /// Memory and a place in the table for a T. @return its handle, or nullptr
  template <class T>
  __device__ static T* allocate(PlatformWarp warp) {
    void* const memory = allocate_piece<T>(warp);
    if (memory == nullptr) return nullptr;
    const std::uint32_t place = table<T>().append(warp);
    if (place == detail::ObjectTable::kNoPlace) {
      refuse<T>(Refusal::table_full);
      detail::bound_state<AosAllocator>().memory.free(memory, warp);
      return nullptr;
    }
    static_cast<detail::AosHeader*>(memory)->index = place;
    T* const object = handle_of<T>(memory);
    table<T>().objects[place] = reinterpret_cast<std::uint64_t>(object);
    return object;
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
    if constexpr (detail::is_placed<S>()) {
      return detail::for_each_placed<S>([&](S* object) { detail::visit(object, method, args...); });
    }
    const detail::ObjectTable& objects = table<S>();
    const std::uint32_t blocks = objects.list.size->blocks;
    for (std::uint32_t block = 0; block < blocks; ++block) {
      const int count = detail::popcount(objects.list.entries[block].slots);
      for (int slot = 0; slot < count; ++slot) {
        S* const object = reinterpret_cast<S*>(objects.alive_at(block * 64 + static_cast<std::uint32_t>(slot)));
        if (object != nullptr) detail::visit(object, method, args...);  // otherwise it was deleted meanwhile
      }
    }
  }
};

}  // namespace dynasoar
