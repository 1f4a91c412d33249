/// @file
/// PlacedObjects: creates, moves and destroys objects that are placed on a lattice. Called by the functions of place.h
/// of the DSL. The protocol is that of Occupancy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include <dynasoar/checks/checks.h>
#include <dynasoar/checks/placed_checks.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/occupancy.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/heap/tally.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// Whether all values of an object fit in a thread's registers, in addition to those that the thread needs otherwise.
template <class S>
constexpr bool fits_in_registers() {
  std::size_t values = 0;
  bool is_aligned = true;
  for_each_field<S>([&]<class Arrays>(Arrays) {
    values += Arrays::kCount * ((sizeof(typename Arrays::Element) + 7) / 8);
    is_aligned = is_aligned && alignof(typename Arrays::Element) <= alignof(std::max_align_t);
  });
  return values <= 16 && is_aligned;
}

/// The values of a small object's fields while it moves to another slot. All values are read before the first is
/// written, so that reads wait neither for each other nor for writes. @pre fits_in_registers
template <class S>
class MovedFields {
 public:
  __device__ MovedFields(const char* base, Handle from) {
    for_each_element([&]<class Element>(Element* value, std::size_t offset) {
      *value = *reinterpret_cast<const Element*>(base + from.block_offset() + from.slot() * sizeof(Element) + offset);
    });
  }

  __device__ void write(char* base, Handle to) {
    for_each_element([&]<class Element>(Element* value, std::size_t offset) {
      *reinterpret_cast<Element*>(base + to.block_offset() + to.slot() * sizeof(Element) + offset) = *value;
    });
  }

 private:
  /// Offsets of fields here are those in a block, which are multiples of 64, divided by this number.
  static constexpr std::size_t kShrunk = 64 / alignof(std::max_align_t);

  /// Calls `f(value, offset)` with each value, and its offset in the block for slot 0.
  template <class F>
  __device__ void for_each_element(const F& f) {
    for_each_field<S>([&]<class Arrays>(Arrays) {
      using Element = typename Arrays::Element;
      static_assert(Arrays::kOffset % 64 == 0 && Arrays::kStride % 64 == 0);
      for (std::size_t i = 0; i < Arrays::kCount; ++i) {
        const std::size_t offset = Arrays::kOffset + i * Arrays::kStride;
        f(reinterpret_cast<Element*>(values_ + offset / kShrunk), offset);
      }
    });
  }

  alignas(std::max_align_t) char values_[ClassLayout<S>::bytes / kShrunk + 1];
};

/// For objects in blocks. For objects in pieces, see malloc/placed_pieces.h.
///
/// @tparam A   the allocator
template <class A, Placement placement = A::kPlacement>
class PlacedObjects {
 public:
  /// The state of T and its lattice.
  template <class T>
  __device__ static const PlacedState& state() {
    const PlacedState& placed = placed_state<A>(A::template index_of<T>);
    if constexpr (kChecked) check_has_lattice(placed);
    return placed;
  }

  /// Creates a T. @return null if the place is taken, was taken when the loop began, or does not exist
  template <class T, class... Args>
  __device__ static T* create(Place place, Args&&... args) {
    check_listed<A, T>();
    check_constructible<T, Args...>();
    if constexpr (kChecked) {
      if (!Checks<A>::template begin_create<T>()) return nullptr;
    }
    if (!place.exists()) return nullptr;
    const PlacedState& placed = state_at<T>(place);
    const PlaceBits at = PlaceBits::of(place.slot());
    if (placed.create(at) == 0) {
      note_if_lost<T>(placed, at);
      return nullptr;
    }
    return construct<T>(place.slot(), std::forward<Args>(args)...);
  }

  /// Creates the T at a slot, if T has an object at every place. @return true
  template <class T>
  __device__ static bool create_first(std::uint64_t slot) {
    construct<T>(slot);
    return true;
  }

  /// Creates `T(args...)` at those of some places of a block at which `create` would do so. @return these places
  template <class T, class... Args>
  __device__ static std::uint64_t create_where(PlaceBlock block, std::uint64_t places, const Args&... args) {
    check_listed<A, T>();
    check_constructible<T, const Args&...>();
    const PlacedState& placed = state_at<T>(block.place(0));
    const std::uint64_t wanted = places & placed.shape.places(block) & ~placed.seen[block.word()];
    if (wanted == 0) return 0;
    if constexpr (kChecked) {
      if (!Checks<A>::template begin_create<T>()) return 0;
    }
    const std::uint64_t created = placed.create({block.word(), wanted});
    if (created != wanted) note_if_lost<T>(placed, {block.word(), wanted & ~created});
    for_each_slot(block, created, [&](std::uint64_t slot) { construct<T>(slot, args...); });
    return created;
  }

  /// Destroys the Ts that the loop sees at some places of a block. @return the places at which this call destroyed one
  template <class T>
  __device__ static std::uint64_t destroy_where(PlaceBlock block, std::uint64_t places) {
    check_listed<A, T>();
    const PlacedState& placed = state_at<T>(block.place(0));
    const std::uint64_t there = places & placed.seen[block.word()];
    if (there == 0) return 0;
    if constexpr (A::kFindsMisuse) {  // checks that a loop runs, once for all of them
      if (!Checks<A>::template may_depart<T>(placed_handle<T>(block.place(lowest_bit(there)).slot()))) return 0;
    }
    const std::uint64_t destroyed = placed.depart({block.word(), there});
    if constexpr (!std::is_trivially_destructible_v<T>) {
      for_each_slot(block, destroyed, [](std::uint64_t slot) { object_at<T>(slot)->~T(); });
    }
    return destroyed;
  }

  /// Destroys a T. @return whether this call did: false if the T had been destroyed or had moved away in this loop
  template <class T>
  __device__ static bool destroy(T* object) {
    bool is_destroyed = false;
    with_class_of(object, [&]<class S>(S* known, Handle handle) {
      if (placed_state<A>(A::template index_of<S>).depart(PlaceBits::of(placed_slot<S>(handle))) == 0) return;
      if constexpr (!std::is_trivially_destructible_v<S>) known->~S();
      is_destroyed = true;
    });
    return is_destroyed;
  }

  /// Moves a T. @return the object at its new place, or null if it was not moved
  template <class T>
  __device__ static T* move(T* object, Place place) {
    if (!place.exists()) return nullptr;
    T* moved = nullptr;
    with_class_of(object, [&]<class S>(S*, Handle handle) {
      const PlacedState& placed = state_at<S>(place);
      const PlaceBits from = PlaceBits::of(placed_slot<S>(handle)), to = PlaceBits::of(place.slot());
      const Handle target = placed_handle<S>(place.slot());
      if constexpr (fits_in_registers<S>()) {
        MovedFields<S> fields(placed.base, handle);  // unused if it does not move
        if (!placed.move(from, to)) return note_if_lost<S>(placed, to);
        fields.write(placed.base, target);
      } else {
        if (!placed.move(from, to)) return note_if_lost<S>(placed, to);
        copy_fields<S>(placed.base, handle, target);
      }
      begin_generation(placed, place.slot());
      moved = object_at<S>(place.slot());  // with the new generation
    });
    return moved;
  }

 protected:
  /// As `state`, for a place of the lattice.
  template <class T>
  __device__ static const PlacedState& state_at(Place place) {
    const PlacedState& placed = state<T>();
    if constexpr (kChecked) check_is_on_lattice(placed, place.word());
    return placed;
  }

  /// In checked builds: records that an object could not arrive at one of these places, if the lattice is divided and
  /// no object was seen there. Other processes may have decided differently.
  template <class T>
  __device__ static void note_if_lost([[maybe_unused]] const PlacedState& placed, [[maybe_unused]] PlaceBits at) {
    if constexpr (A::kFindsMisuse) {
      if (!placed.shape.is_divided()) return;
      std::uint64_t seen = 0;
      for_each_class_at_places<std::conditional_t<is_one_per_place<T>(), RootOf<T>, T>>(
          [&]<class S>(std::type_identity<S>) { seen |= placed_state<A>(A::template index_of<S>).seen[at.word]; });
      const std::uint64_t claimed = placed.claims[at.word].load(Order::relaxed);  // relaxed: as all of Occupancy
      if ((at.mask & claimed & ~seen) != 0) Checks<A>::template note_lost_race<T>();
    }
  }

  template <class S>
  __device__ static void copy_fields(char* base, Handle from, Handle to) {
    for_each_field<S>([&]<class Arrays>(Arrays) {
      using Element = typename Arrays::Element;
      const char* const old = base + (from.block_offset() + from.slot() * sizeof(Element)) + Arrays::kOffset;
      char* const fresh = base + (to.block_offset() + to.slot() * sizeof(Element)) + Arrays::kOffset;
      for (std::size_t i = 0; i < Arrays::kCount; ++i) {
        *reinterpret_cast<Element*>(fresh + i * Arrays::kStride) =
            *reinterpret_cast<const Element*>(old + i * Arrays::kStride);
      }
    });
  }

  template <class T>
  __device__ static T* object_at(std::uint64_t slot) {
    return reinterpret_cast<T*>(placed_handle<T>(slot).bits());
  }

  /// Counts a creation, for statistics.
  template <class T>
  __device__ static void note_created([[maybe_unused]] std::uint64_t slot) {
    // relaxed: read when the device is idle
    if constexpr (counts_placed_v<A>) {
      const std::uint64_t word = Place(slot).word();
      const WordRange& own = state<T>().shape.own_words();
      if (word - own.first < own.words) Tally<>::over(state<T>().created).add(word, 1, Order::relaxed);
    }
  }

  /// Constructs a T in a slot. @pre the caller has claimed the slot
  template <class T, class... Args>
  __device__ static T* construct(std::uint64_t slot, Args&&... args) {
    begin_generation(state<T>(), slot);
    note_created<T>(slot);
    T* const object = object_at<T>(slot);
    using Scope = std::conditional_t<kChecked, ConstructorScope<A, T>, NoScope>;
    [[maybe_unused]] const Scope scope(object);
    if constexpr (sizeof...(Args) == 0) {
      ::new (static_cast<void*>(object)) T;  // not T(): see SoaAllocator::make_new
    } else {
      ::new (static_cast<void*>(object)) T(std::forward<Args>(args)...);
    }
    return object;
  }

  /// Calls a function for some slots of a block. Compilers know the number of iterations, so that they remove a loop
  /// that does nothing.
  template <class F>
  __device__ static void for_each_slot(PlaceBlock block, std::uint64_t slots, const F& f) {
    for (int left = popcount(slots); left > 0; --left) {
      f(block.place(lowest_bit(slots)).slot());
      slots &= slots - 1;
    }
  }

  /// Calls `f(object, handle)` with a pointer to the object's own class, if the object may depart.
  template <class T, class F>
  __device__ static void with_class_of(T* object, const F& f) {
    check_listed_or_base<A, T>();
    check_comes_and_goes<T>();
    if (object == nullptr) return;
    const Handle handle(reinterpret_cast<std::uint64_t>(object));
    if constexpr (A::kFindsMisuse) {
      if (!Checks<A>::template may_depart<T>(handle)) return;
    }
    using Classes = typename A::template Subtypes<T>;
    Classes::for_each([&]<class S>(std::type_identity<S>) {
      if (Classes::size == 1 || handle.type_index() == A::template index_of<S>) f(static_cast<S*>(object), handle);
    });
  }
};

}  // namespace dynasoar::detail
