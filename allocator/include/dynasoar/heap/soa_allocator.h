/// @file
/// SoaAllocator: creates and deletes objects of a fixed list of classes in structure-of-arrays blocks.
/// Used by the DSL (make_new, destroy, AllocatorHandle); BlockHeap below it knows blocks and slots only.
///
/// Source: DynaSOAr, sections 2.1, 3 and 4.2 (request coalescing).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <dynasoar/base/capped.h>
#include <dynasoar/checks/access_counts.h>
#include <dynasoar/checks/checks.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/heap/block_heap.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/heap/requests.h>
#include <dynasoar/heap/warp_requests.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/warp.h>
#include <dynasoar/tuning.h>

namespace dynasoar {

namespace detail {
template <class A>
class HeapStorage;
}  // namespace detail

/// Device-side allocator for objects of the classes Ts.
///
/// Name it in the classes' base (`class Cell : public SoaBase<SoaAllocator<Cell, Fish, Shark>>`), make an
/// AllocatorHandle of it on the host, and use `dynasoar::make_new<T>` and `dynasoar::destroy` in device code. The
/// paper's spelling works too: `handle.device_pointer()` gives an `SoaAllocator*` for
/// `device_allocator->make_new<T>(...)`.
///
/// @tparam Features   AllFeatures, as in SoaAllocator, or a struct with fewer features
/// @tparam Ts         1 to 255 classes; bases of which no objects are made need not be listed. May be incomplete here.
/// @par Concurrency   every member may be called by any number of device threads at once
template <class Features, class... Ts>
class ReducedSoaAllocator {
 public:
  using Types = detail::TypeList<Ts...>;
  static constexpr int kTypes = Types::size;
  static_assert(kTypes >= 1 && kTypes <= detail::Handle::kMaxTypes,
                "dynasoar: SoaAllocator takes 1 to 255 classes, because a handle has 8 bits for the class");

  using Heap = BlockHeap<kCudaBackend ? kTypes : kAnyNumber, PlatformAtomics, 64, 64, Features>;
  using Checks = detail::Checks<ReducedSoaAllocator>;

  static constexpr Requests kRequests = Features::kCombines ? Requests::combined : Requests::separate;
  using Lanes = detail::WarpRequests<ReducedSoaAllocator, kRequests>;

  // The interface of an allocator for the DSL: the owner of its memory, whether it finds misuse, and the positions of
  // fields.
  using Storage = detail::HeapStorage<ReducedSoaAllocator>;
  static constexpr bool kFindsMisuse = kChecked;
  static constexpr bool kCompacts = true;
  static constexpr bool kSaves = true;
  static constexpr bool kCreatesInBulk = !kChecked && Features::kCombines;   // checks are made for each object
  static constexpr bool kCreatesInPieces = kChecked || Features::kCombines;  // a full heap ends a piece immediately
  static constexpr bool kListsBeforeEveryLoop = false;                       // only loops over objects need lists
  static constexpr bool kHasConsecutiveHandles = !kChecked;                  // within a block; generations prevent this
  static constexpr detail::Placement kPlacement = detail::Placement::in_blocks;

  /// Whether loops prefetch blocks of T before they visit them. True for small blocks only, of which a loop usually
  /// needs all lines; of a larger block, it may need only a part.
  template <class T>
  static constexpr bool kPrefetches = detail::block_bytes_v<T> <= detail::kMostPrefetchedBytes;

  static constexpr std::size_t kSlotsPerBlock = detail::kSlotsPerBlock;
  template <class T>
  static constexpr std::size_t kBlockBytes = detail::is_placed<T>() ? detail::placed_block_bytes_v<T>
                                                                    : detail::block_bytes_v<T>;

  /// Bytes from an element of an array field to the next.
  template <class Element>
  static constexpr std::size_t kArrayStride = detail::array_stride_v<Element>;

  /// Bytes from a block's start to field I of class C.
  template <class C, std::size_t I>
  static constexpr std::size_t kFieldOffset = detail::field_offset_v<C, I>;

  /// Address of element 0 of field I of class C. One base register serves all fields of an object: the parts that
  /// differ between fields of one size are constants.
  template <class C, int I, class Element>
  __device__ static Element* field(detail::Handle object) {
    char* const base = base_of<C>(object);
    if constexpr (kCudaBackend && detail::is_placed<C>() && std::is_final_v<C> && !kFindsMisuse) {
      // Use the block's offset and the slot together: compilers recognize that this reverses the construction of the
      // handle.
      const std::uint64_t slots = object.bits() ^ detail::Handle::type_bits(index_of<C>);
      return reinterpret_cast<Element*>(base + (slots + object.slot() * (sizeof(Element) - 1)) +
                                        detail::field_offset_v<C, I>);
    }
    const auto [block_offset, slot] = detail::position_of(object);
    return reinterpret_cast<Element*>(base + (block_offset + slot * sizeof(Element)) + detail::field_offset_v<C, I>);
  }

  /// The beginning of the memory with the blocks of `object`, a C*. Each placed class has separate memory. If C is
  /// placed and not `final`, the object may belong to a class that derives from C, so its handle must be read.
  template <class C>
  __device__ static char* base_of(detail::Handle object) {
    if constexpr (!detail::is_placed<C>()) {
      return detail::bound_state<ReducedSoaAllocator>().base;
    } else if constexpr (std::is_final_v<C>) {
      return detail::placed_state<ReducedSoaAllocator>(index_of<C>).base;
    } else {
      return detail::placed_state<ReducedSoaAllocator>(object.type_index()).base;
    }
  }

  /// A second state for device code: that of placed classes. See Binding. @pre the classes are complete
  using More = detail::PlacedStates<ReducedSoaAllocator>;
  static constexpr bool binds_more() { return detail::any_placed_v<Types>; }

  /// Bytes of the smallest heap: a page for each class. @pre the classes are complete
  static constexpr std::size_t least_heap_bytes() { return kTypes * pages().bytes; }

  /// The state for device code, bound to this allocator type, see Binding.
  struct State {
    char* base;  ///< the heap
    Heap heap;
    detail::BlockList lists[kTypes];  ///< the objects at the beginning of the last loop
    std::conditional_t<kChecked, detail::CheckState, detail::Unchecked> checks;
    detail::AccessState accesses;
  };

  /// Position of T in the list, or -1.
  template <class T>
  static constexpr int index_of = detail::index_of_v<T, Ts...>;

  /// The listed classes that are T or derive from it.
  template <class T>
  using Subtypes = detail::subtypes_t<T, Ts...>;

  /// The page layout for the listed classes. @pre they are complete
  static constexpr detail::PageLayout<sizeof...(Ts)> pages() {
    return detail::choose_pages<sizeof...(Ts)>({detail::block_bytes_v<Ts>...});
  }

  /// Bytes of the largest block of any listed class. @pre they are complete
  static constexpr std::size_t largest_block_bytes() {
    std::size_t largest = 0;
    ((largest = detail::block_bytes_v<Ts> > largest ? detail::block_bytes_v<Ts> : largest), ...);
    return largest;
  }

  /// Bytes of heap that `objects` objects of T take if they fill their blocks. Add the numbers for several classes, and
  /// some more: blocks are not full if objects are created and deleted.
  ///
  /// @return   the bytes; if they do not fit into 64 bits, the greatest number, which the handle's constructor refuses.
  ///           0 for placed objects, which are not in the heap
  template <class T>
  static constexpr std::size_t heap_bytes_for(std::size_t objects) {
    if constexpr (detail::is_placed<T>()) return 0;
    const std::size_t slots = pages().blocks_per_page[static_cast<std::size_t>(index_of<T>)] * detail::kSlotsPerBlock;
    return detail::capped_product(objects / slots + (objects % slots == 0 ? 0 : 1), pages().bytes);
  }

  /// The handle of a slot of a block of T.
  template <class T>
  __host__ __device__ static detail::Handle handle_of(std::uint32_t block, std::uint32_t slot,
                                                      std::uint32_t generation) {
    constexpr detail::PageLayout<sizeof...(Ts)> kPages = pages();
    const std::uint64_t offset = std::uint64_t{block / kPages.block_stride} * kPages.bytes +
                                 std::uint64_t{block % kPages.block_stride} * detail::block_bytes_v<T>;
    return detail::Handle::make(offset, slot, index_of<T>, generation);
  }

  /// The object in a slot of a block of T.
  template <class T>
  __device__ static T* object(std::uint32_t block, std::uint32_t slot) {
    if constexpr (detail::is_placed<T>()) {
      return reinterpret_cast<T*>(
          detail::placed_handle<T>(std::uint64_t{block} * detail::kSlotsPerBlock + slot).bits());
    }
    std::uint32_t generation = 0;
    if constexpr (kChecked) generation = Checks::generation(block, slot);
    return reinterpret_cast<T*>(handle_of<T>(block, slot, generation).bits());
  }

  /// Prefetches a block of T into a GPU's L2 cache; does nothing on a CPU.
  ///
  /// @param thread   number of the calling thread: 64 threads call it together
  template <class T>
  __device__ static void prefetch(std::uint32_t block, std::uint32_t thread) {
    constexpr std::uint32_t kSectorBytes = 32;
    if (thread >= detail::block_bytes_v<T> / kSectorBytes) return;
    const char* const base = detail::bound_state<ReducedSoaAllocator>().base;
    const std::uint64_t offset = handle_of<T>(block, 0, 0).block_offset() + thread * kSectorBytes;
    detail::prefetch_into_l2(base + offset);
  }

  /// The block of an object, by its run-time type.
  __host__ __device__ static std::uint32_t block_of(detail::Handle handle) {
    return block_of(handle, handle.type_index());
  }

  /// The same, for a type that the caller knows.
  __host__ __device__ static std::uint32_t block_of(detail::Handle handle, int type) {
    constexpr detail::PageLayout<sizeof...(Ts)> kPages = pages();
    const std::uint64_t offset = handle.block_offset();
    if (is_placed_type(type)) return static_cast<std::uint32_t>(offset / block_bytes(type));
    const auto page = static_cast<std::uint32_t>(offset / kPages.bytes);
    const auto within = static_cast<std::uint32_t>(offset - std::uint64_t{page} * kPages.bytes);
    return page * kPages.block_stride + within / block_bytes(type);
  }

  /// Whether the class with this index is placed.
  __host__ __device__ static constexpr bool is_placed_type(int type) {
    return (false || ... || (detail::is_placed<Ts>() && index_of<Ts> == type));
  }

  /// Whether an object of the handle's class can have the handle's position. For checks.
  __device__ static bool is_position_of_object(detail::Handle handle) {
    constexpr detail::PageLayout<sizeof...(Ts)> kPages = pages();
    const int type = handle.type_index();
    if (type < 0 || type >= kTypes) return false;
    if (is_placed_type(type)) return detail::is_placed_position<ReducedSoaAllocator>(handle, block_bytes(type));
    const Heap& heap = detail::bound_state<ReducedSoaAllocator>().heap;
    const std::uint64_t within = handle.block_offset() % kPages.bytes;
    return handle.block_offset() / kPages.bytes < heap.pages && within % block_bytes(type) == 0 &&
           within / block_bytes(type) < heap.types[type].blocks_per_page;
  }

  /// Creates an object. Its constructor must not throw.
  ///
  /// @return the object, or nullptr if the heap is full; the next synchronization of the AllocatorHandle reports this
  /// @par Concurrency   lanes of a warp that call it together are served together
  /// @par Progress      see BlockHeap::allocate
  template <class T, class... Args>
  __device__ static T* make_new(Args&&... args) {
    detail::check_listed<ReducedSoaAllocator, T>();
    detail::check_not_placed<T>();
    detail::check_constructible<T, Args...>();
    if constexpr (kChecked) {
      if (!Checks::template begin_create<T>() || fails_on_request<T>()) return nullptr;
    }
    T* const object = Lanes::template allocate<T>(PlatformWarp{});
    if (object == nullptr) return nullptr;
    using Scope = std::conditional_t<kChecked, detail::ConstructorScope<ReducedSoaAllocator, T>, detail::NoScope>;
    [[maybe_unused]] const Scope scope(object);
    if constexpr (sizeof...(Args) == 0) {
      ::new (static_cast<void*>(object)) T;  // not T(): that would zero memory at the handle's "address"
    } else {
      ::new (static_cast<void*>(object)) T(std::forward<Args>(args)...);
    }
    return object;
  }

  /// Creates `count` objects, `make_new<T>(i, args...)` for 0 <= i < count. @return the number of created objects
  ///
  /// @par Concurrency   as for make_new; the lanes get slots for all of their objects together
  template <class T, class... Args>
  __device__ static std::uint32_t make_new_n(std::uint32_t count, const Args&... args) {
    std::uint32_t made = 0;
    detail::check_not_placed<T>();
    if constexpr (kChecked || kRequests == Requests::separate) {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (make_new<T>(std::uint32_t{i}, args...) != nullptr) {
          ++made;
        } else if (refuse_rest<T>(count - i - 1)) {
          break;
        }
      }
    } else {
      detail::check_listed<ReducedSoaAllocator, T>();
      detail::check_constructible<T, std::uint32_t, const Args&...>();
      made = Lanes::template create<T>(count, args...);
    }
    return made;
  }

  /// Called after a T was refused: if the heap was and still is full, refuses `objects` more objects without trying.
  /// @return whether it did
  /// @par Cost   two loads per shard of a tally
  template <class T>
  [[gnu::noinline]] __device__ static bool refuse_rest(std::uint64_t objects) {
    if (!detail::bound_state<ReducedSoaAllocator>().heap.is_still_full(index_of<T>)) return false;
    refuse_together<T>(objects);
    return true;
  }

  /// Counts objects of T as refused because the heap is full, without trying.
  template <class T>
  __device__ static void refuse_together(std::uint64_t objects) {
    detail::refuse_together(detail::bound_state<ReducedSoaAllocator>().heap.refusals, kTypes, index_of<T>, objects);
  }

  /// Deletes an object as one of its run-time class. Does nothing if the pointer is null.
  ///
  /// @pre the object is alive, and no other thread deletes it
  template <class T>
  __device__ static void free(T* object) {
    detail::check_listed_or_base<ReducedSoaAllocator, T>();
    detail::check_may_free<T>();
    if (object == nullptr) return;
    const detail::Handle handle(reinterpret_cast<std::uint64_t>(object));
    if constexpr (kChecked) {
      if (!Checks::template begin_destroy<T>(handle)) return;
    }
    free_checked(object);
  }

  /// The same for an object that is not null and, in checked builds, has passed begin_destroy. For `become`.
  template <class T>
  __device__ static void free_checked(T* object) {
    const detail::Handle handle(reinterpret_cast<std::uint64_t>(object));
    run_destructor(object, handle.type_index());
    Lanes::release(handle, type_index_of<T>(handle), PlatformWarp{});
  }

  /// Calls `(object->*method)(args...)`, or `method(object, args...)`, for the objects of T and its subclasses that
  /// existed when the running loop began and are still alive, one after the other in the calling thread.
  ///
  /// If a slot is freed and reused within the loop, the new object may be visited.
  template <class T, class F, class... Args>
  __device__ static void device_do(F method, Args&&... args) {
    detail::check_listed_or_base<ReducedSoaAllocator, T>();
    Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) { visit_listed<S>(method, args...); });
  }

 private:
  /// The type index of an object of T or a subclass: a constant if there is only one possible class.
  template <class T>
  __device__ static int type_index_of(detail::Handle object) {
    if constexpr (Subtypes<T>::size == 1) {
      return index_of<typename Subtypes<T>::template at<0>>;
    } else {
      return object.type_index();
    }
  }

  /// Bytes of a block, by type index.
  __host__ __device__ static std::uint32_t block_bytes(int type_index) {
    std::uint32_t bytes = 1;
    ((index_of<Ts> == type_index ? void(bytes = static_cast<std::uint32_t>(kBlockBytes<Ts>)) : void()), ...);
    return bytes;
  }

  /// Whether fault injection makes this request fail. If so, records it as refused.
  template <class T>
  __device__ static bool fails_on_request() {
    const State& state = detail::bound_state<ReducedSoaAllocator>();
    if (!state.checks.faults.fails_now()) return false;
    state.heap.record_refusal(index_of<T>, Refusal::on_request, 1);
    return true;
  }

  template <class T>
  __device__ static void run_destructor(T* object, int type_index) {
    Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      if constexpr (!std::is_trivially_destructible_v<S>) {
        if (index_of<S> == type_index) static_cast<S*>(object)->~S();
      }
    });
  }

  template <class S, class F, class... Args>
  __device__ static void visit_listed(F method, Args&... args) {
    if constexpr (detail::is_placed<S>()) {
      return detail::for_each_placed<S>([&](S* object) { detail::visit(object, method, args...); });
    }
    const State& state = detail::bound_state<ReducedSoaAllocator>();
    const detail::BlockList list = state.lists[index_of<S>];
    const std::uint32_t count = list.size->blocks;
    for (std::uint32_t i = 0; i < count; ++i) {
      const detail::ListedBlock entry = list.entries[i];
      // relaxed: this skips objects that were deleted meanwhile, but a program must not race with their deletion.
      const std::uint64_t taken = state.heap.slots[entry.block].load(Order::relaxed);
      std::uint64_t alive = entry.slots & taken;
      if (state.heap.type_of(entry.block) != index_of<S>) alive = 0;
      // In a closed block, all slot bits are set.
      if (taken == Heap::kAllSlots && !state.heap.types[index_of<S>].allocated.get(entry.block)) alive = 0;
      for (; alive != 0; alive &= alive - 1) {
        const auto slot = static_cast<std::uint32_t>(detail::lowest_bit(alive));
        detail::visit(ReducedSoaAllocator::object<S>(entry.block, slot), method, args...);
      }
    }
  }
};

/// The recommended allocator: that of the papers, with all features.
template <class... Ts>
using SoaAllocator = ReducedSoaAllocator<AllFeatures, Ts...>;

}  // namespace dynasoar
