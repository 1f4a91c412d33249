/// @file
/// PlacedObjects for objects in pieces: creates and moves objects of an AosAllocator that are placed on a lattice. Used
/// by the functions of place.h of the DSL, through AosAllocator.
///
/// The same bits as for objects in blocks say which places are occupied. Only the storage of objects differs:
///
/// - A thread allocates memory before it claims a place, and frees it if another thread gets the place. So a place is
///   never claimed for an object for which there is no memory. The thread checks the bits first, so a place that is
///   already taken usually costs no allocation.
/// - The table has one entry per place, which is enough, because no object can arrive at a place where the loop sees
///   one. A loop may overwrite the entries of all other places, so threads read only the entries of objects that they
///   see.
/// - A move allocates memory, too. The old object stays unchanged until the loop ends, for other threads that see it,
///   while the caller writes to the new one.
/// - The memory of objects that were destroyed or moved away is freed before the next loop: see PlacedRunner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/occupancy.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/heap/placed_objects.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/malloc/aos_layout.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/copy.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// @tparam A   an AosAllocator
template <class A>
class PlacedObjects<A, Placement::in_pieces> : public PlacedObjects<A, Placement::in_blocks> {
  using Base = PlacedObjects<A, Placement::in_blocks>;

 public:
  /// Creates a T. @return null if there is no memory, or if the place is or was taken or does not exist
  template <class T, class... Args>
  __device__ static T* create(Place place, Args&&... args) {
    check_listed<A, T>();
    check_constructible<T, Args...>();
    if (!place.exists()) return nullptr;
    const PlacedState& placed = Base::template state_at<T>(place);
    const PlaceBits at = PlaceBits::of(place.slot());
    T* const object = put_at<T>(
        placed, place.slot(), [&] { return may_arrive(placed, at); }, [&] { return placed.create(at) != 0; });
    if (object == nullptr) return nullptr;
    Base::template note_created<T>(place.slot());
    if constexpr (sizeof...(Args) == 0) {
      ::new (static_cast<void*>(object)) T;  // not T(): see AosAllocator::make_new
    } else {
      ::new (static_cast<void*>(object)) T(std::forward<Args>(args)...);
    }
    return object;
  }

  /// Creates the T at a slot, if T has an object at every place. @return false if there is no memory
  template <class T>
  __device__ static bool create_first(std::uint64_t slot) {
    const PlacedState& placed = Base::template state<T>();
    T* const object = put_at<T>(
        placed, slot, [] { return true; }, [] { return true; });
    if (object == nullptr) return false;
    Base::template note_created<T>(slot);
    ::new (static_cast<void*>(object)) T;
    return true;
  }

  /// Creates `T(args...)` at those of some places of a block at which `create` would do so. @return these places
  template <class T, class... Args>
  __device__ static std::uint64_t create_where(PlaceBlock block, std::uint64_t places, const Args&... args) {
    check_listed<A, T>();
    check_constructible<T, const Args&...>();
    std::uint64_t created = 0;
    for (std::uint64_t left = places & Base::template state_at<T>(block.place(0)).shape.places(block); left != 0;
         left &= left - 1) {
      const int i = lowest_bit(left);
      if (create<T>(block.place(i), args...) != nullptr) created |= std::uint64_t{1} << i;
    }
    return created;
  }

  /// Moves a T. @return the object at its new place, or null if it was not moved
  template <class T>
  __device__ static T* move(T* object, Place place) {
    if (!place.exists()) return nullptr;
    T* moved = nullptr;
    Base::with_class_of(object, [&]<class S>(S*, Handle handle) {
      const PlacedState& placed = Base::template state_at<S>(place);
      const PlaceBits from = PlaceBits::of(placed_slot<S>(handle)), to = PlaceBits::of(place.slot());
      S* const copy = put_at<S>(
          placed, place.slot(),
          [&] { return (placed.departed[from.word].load(Order::relaxed) & from.mask) == 0 && may_arrive(placed, to); },
          [&] { return placed.move(from, to); });
      if (copy == nullptr) return;
      copy_fields<S>(handle, Handle(reinterpret_cast<std::uint64_t>(copy)));
      moved = copy;
    });
    return moved;
  }

 private:
  /// Whether an object could arrive at a place now.
  __device__ static bool may_arrive(const PlacedState& placed, PlaceBits at) {
    return ((placed.seen[at.word] | placed.claims[at.word].load(Order::relaxed)) & at.mask) == 0;
  }

  /// Memory for a T at a slot, and its entry in the table.
  ///
  /// @param may_try   whether `arrive` may succeed
  /// @param arrive    tries to claim the place for the object
  /// @return the object, whose fields have no values yet, or null
  template <class T, class MayTry, class Arrive>
  __device__ static T* put_at(const PlacedState& placed, std::uint64_t slot, const MayTry& may_try,
                              const Arrive& arrive) {
    if (!may_try()) return nullptr;
    T* const object = A::template allocate_at<T>(slot);
    if (object == nullptr) return nullptr;
    if (!arrive()) {
      A::release_piece(object);
      return nullptr;
    }
    placed_table(placed)[slot] = reinterpret_cast<std::uint64_t>(object);
    return object;
  }

  template <class S>
  __device__ static void copy_fields(Handle from, Handle to) {
    constexpr std::size_t kHeader = sizeof(PlacedHeader);
    constexpr auto kBytes = static_cast<std::uint32_t>(aos_bytes_v<S> - kHeader);
    const char* const old = reinterpret_cast<const char*>(from.bits() & kAddressMask);
    char* const fresh = reinterpret_cast<char*>(to.bits() & kAddressMask);
    copy_bytes(fresh + kHeader, old + kHeader, kBytes, kBytes % 8 == 0 ? 8 : kBytes % 4 == 0 ? 4 : 1);
  }
};

}  // namespace dynasoar::detail
