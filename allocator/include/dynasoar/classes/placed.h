/// @file
/// Placed classes: classes of objects that have a place on a lattice. Their state for device code, and the memory of
/// their objects. Used by SoaAllocator, AosAllocator, checks and loops.
///
/// The slot of a placed object is its place: slot s of block b is place 64 b + s. Blocks have the layout of blocks in
/// the heap, but are consecutive in separate memory, which a Lattice owns. Words with a bit for each of 64 places say
/// which places have objects, see classes/occupancy.h. An AosAllocator has a table of handles instead of blocks: see
/// Placement.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/occupancy.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>

namespace dynasoar::detail {

/// The memory in which an allocator keeps placed objects.
enum class Placement {
  in_blocks,  ///< in slots of blocks
  in_pieces  ///< each in a piece of memory that begins with a PlacedHeader; instead of blocks, a table of their handles
};

/// Stands in front of the fields of a placed object in a piece of memory.
struct PlacedHeader {
  std::uint64_t slot;
};

/// Whether the objects of C are placed.
template <class C>
__host__ __device__ constexpr bool is_placed() {
  if constexpr (requires { C::kPlaced; }) {
    return C::kPlaced;
  } else {
    return false;
  }
}

/// Whether a place has room for one object of C's hierarchy only.
template <class C>
__host__ __device__ constexpr bool is_one_per_place() {
  if constexpr (requires { C::kOnePerPlace; }) {
    return C::kOnePerPlace;
  } else {
    return false;
  }
}

/// Whether there is an object of C at every place of its lattice, as long as the lattice exists.
template <class C>
__host__ __device__ constexpr bool is_at_every_place() {
  if constexpr (requires { C::kAtEveryPlace; }) {
    return C::kAtEveryPlace;
  } else {
    return false;
  }
}

/// The first class of C's hierarchy, in a std::type_identity.
template <class C>
constexpr auto root_of() {
  if constexpr (std::is_void_v<typename C::BaseClass>) {
    return std::type_identity<C>();
  } else {
    return root_of<typename C::BaseClass>();
  }
}
template <class C>
using RootOf = typename decltype(root_of<C>())::type;

template <class A, class List>
struct WithoutSubclasses;
template <class A, class... Ts>
struct WithoutSubclasses<A, TypeList<Ts...>> {
  using type = decltype((TypeList<>{} + ... +
                         std::conditional_t<A::template Subtypes<Ts>::size == 1, TypeList<Ts>, TypeList<>>{}));
};

/// A list of the classes of Ts that can be at places: the listed subclasses of T that have no subclasses or, if there
/// are none, T itself.
template <class T>
using ClassesAtPlaces =
    typename WithoutSubclasses<typename T::Allocator, typename T::Allocator::template Subtypes<T>>::type;

/// Calls `f(std::type_identity<S>{})` for each of these classes S.
template <class T, class F>
__host__ __device__ constexpr void for_each_class_at_places(const F& f) {
  ClassesAtPlaces<T>::for_each(f);
}

/// Checks that objects of T can be created, moved and destroyed: neither T nor a subclass of it has an object at every
/// place.
template <class T>
__host__ __device__ constexpr void check_comes_and_goes() {
  for_each_class_at_places<T>([]<class S>(std::type_identity<S>) {
    static_assert(!is_at_every_place<S>(),
                  "dynasoar: this class has an object at every place of its lattice (kAtEveryPlace), from when the "
                  "lattice is made until it is gone. Its objects cannot be created, moved or destroyed, and no place "
                  "is free of them: set fields in a loop over them, or leave kAtEveryPlace out");
  });
}

/// Whether T claims places together with other classes.
template <class T>
__host__ __device__ constexpr bool shares_claims() {
  if constexpr (is_one_per_place<T>()) {
    int classes = 0;
    for_each_class_at_places<RootOf<T>>([&](auto) { ++classes; });
    return classes > 1;
  } else {
    return false;
  }
}

/// Whether any of the classes is placed. @pre they are complete
template <class List>
inline constexpr bool any_placed_v = false;
template <template <class...> class List, class... Ts>
inline constexpr bool any_placed_v<List<Ts...>> = (false || ... || is_placed<Ts>());

/// Whether all of the classes are placed.
template <class List>
inline constexpr bool all_placed_v = false;
template <template <class...> class List, class... Ts>
inline constexpr bool all_placed_v<List<Ts...>> = (true && ... && is_placed<Ts>());

/// The size of a block of placed objects is a multiple of this number of bytes. So the blocks of a class whose only
/// field has one byte are not rounded up to lines. A class has fewer than 2^32 such units on its lattice.
inline constexpr std::size_t kPlacedUnit = 64;

/// Bytes from a block of placed Ts to the next.
template <class T>
inline constexpr std::size_t placed_block_bytes_v =
    ClassLayout<T>::bytes <= kPlacedUnit ? kPlacedUnit
                                         : (ClassLayout<T>::bytes + kPlacedUnit - 1) / kPlacedUnit* kPlacedUnit;

/// The state of a placed class for device code; all null if there is no lattice for the class. If there is an object at
/// every place, there are no words.
struct PlacedState : Occupancy<PlatformAtomics> {
  char* base;                              ///< the blocks or, for objects in pieces, the table
  AtomicWord<std::uint32_t>* generations;  ///< number of objects that each slot has had; null unless checked
  LatticeShape shape;
  AtomicWord<std::uint64_t>* created;  ///< a Tally of created objects; null unless counts_placed_v

  __host__ __device__ bool has_lattice() const { return shape.words() != 0; }

  /// All blocks with the objects that the running loop sees, without ghosts.
  __host__ __device__ AllBlocks blocks() const {
    const WordRange& own = shape.own_words();
    return {seen, static_cast<std::uint32_t>(own.first), static_cast<std::uint32_t>(own.words),
            shape.places_of_words()};
  }
};

/// The objects of T that the running loop sees in a word.
template <class T>
__device__ std::uint64_t seen_in(const PlacedState& placed, std::uint64_t word) {
  if constexpr (is_at_every_place<T>()) {
    return placed.shape.places_of_word(word);
  } else {
    return placed.seen[word];
  }
}

/// Whether creations of placed objects are counted for statistics. Only builds that are slow anyway count them, because
/// an atomic operation per object costs as much as creating it.
template <class A>
inline constexpr bool counts_placed_v = A::kFindsMisuse || kCountsAccesses;

/// Called in checked builds before an object arrives in a slot: makes pointers to earlier objects stale.
__device__ inline void begin_generation([[maybe_unused]] const PlacedState& placed,
                                        [[maybe_unused]] std::uint64_t slot) {
  if constexpr (kChecked) {
    if (placed.generations == nullptr) return;              // there is never another object
    placed.generations[slot].fetch_add(1, Order::relaxed);  // relaxed: as changes of Occupancy
  }
}

/// The states of the placed classes of an allocator, by index: bound like the state of the allocator, see Binding.
template <class A>
struct PlacedStates {
  struct State {
    PlacedState of[A::kTypes];
  };
};

/// The state of the placed class with this index.
template <class A>
__device__ const PlacedState& placed_state(int type) {
  return bound_state<PlacedStates<A>>().of[A::kTypes == 1 ? 0 : type];
}

/// Whether an object of the handle's class, which is placed, can have the handle's position.
/// @param bytes   of a block of the class
template <class A>
__device__ bool is_placed_position(Handle handle, std::uint64_t bytes) {
  const PlacedState& placed = placed_state<A>(handle.type_index());
  return placed.has_lattice() && handle.block_offset() % bytes == 0 &&
         handle.block_offset() / bytes < placed.shape.words();
}

/// The generation in handles of the object that has arrived last in a slot; 0 except in checked builds.
__device__ inline std::uint32_t placed_generation([[maybe_unused]] const PlacedState& placed,
                                                  [[maybe_unused]] std::uint64_t slot) {
  if constexpr (kChecked) {
    if (placed.generations != nullptr) return placed.generations[slot].load(Order::relaxed) % Handle::kGenerations;
  }
  return 0;
}

/// Whether there is an object at the position of a handle, either seen by the loop or arrived in it. Checked builds
/// also check that it is the handle's own object. @pre is_placed_position
template <class A>
__device__ bool is_placed_object(Handle handle, std::uint64_t block) {
  const PlacedState& placed = placed_state<A>(handle.type_index());
  const PlaceBits at{static_cast<std::uint32_t>(block), std::uint64_t{1} << handle.slot()};
  const std::uint64_t objects =
      placed.seen != nullptr ? placed.objects_at(at) : placed.shape.places_of_word(at.word) & at.mask;
  return objects != 0 && placed_generation(placed, block * kSlotsPerBlock + handle.slot()) == handle.generation();
}

/// The handles of objects in pieces, by slot, for objects that the running loop sees or that have arrived in it.
__host__ __device__ inline std::uint64_t* placed_table(const PlacedState& placed) {
  return reinterpret_cast<std::uint64_t*>(placed.base);
}

/// The pointer to the T at a slot. @pre if objects are in pieces, there is a T
template <class T>
__device__ Handle placed_handle(std::uint64_t slot) {
  using A = typename T::Allocator;
  if constexpr (A::kPlacement == Placement::in_pieces) {
    return Handle(placed_table(placed_state<A>(A::template index_of<T>))[slot]);
  }
  const auto block = static_cast<std::uint32_t>(slot / kSlotsPerBlock);  // of fewer than 2^32
  return Handle::make(std::uint64_t{block} * placed_block_bytes_v<T>, static_cast<std::uint32_t>(slot % kSlotsPerBlock),
                      A::template index_of<T>, placed_generation(placed_state<A>(A::template index_of<T>), slot));
}

/// The pointer to the T of a class that has an object at every place.
///
/// @param position   bytes up to its block, plus its slot in it
/// @pre objects are in blocks
template <class T>
__device__ Handle placed_handle_at(std::uint64_t position) {
  return Handle(position ^ Handle::type_bits(T::Allocator::template index_of<T>));  // field() reverses this
}

/// The slot of a T.
template <class T>
__host__ __device__ std::uint64_t placed_slot(Handle object) {
  if constexpr (T::Allocator::kPlacement == Placement::in_pieces) {
    return reinterpret_cast<const PlacedHeader*>(object.bits() & kAddressMask)->slot;
  }
  constexpr std::size_t kUnits = placed_block_bytes_v<T> / kPlacedUnit;
  constexpr bool kIsShift = std::has_single_bit(kUnits);  // then use 64 bits: compilers recognize the block's number
  const auto units =
      static_cast<std::uint32_t>(object.block_offset() / (kIsShift ? kUnits * kPlacedUnit : kPlacedUnit));
  const std::uint32_t block = kIsShift ? units : units / static_cast<std::uint32_t>(kUnits);
  return std::uint64_t{block} * kSlotsPerBlock + object.slot();
}

/// Calls the method or callable of device_do for an object, placed or not.
template <class T, class F, class... Args>
__device__ void visit(T* object, F method, Args&... args) {
  if constexpr (std::is_member_function_pointer_v<F>) {
    (object->*method)(args...);
  } else {
    method(object, args...);
  }
}

/// Calls `f(object)` for all Ts that the running loop sees, in the calling thread.
template <class T, class F>
__device__ void for_each_placed(const F& f) {
  const PlacedState& placed = placed_state<typename T::Allocator>(T::Allocator::template index_of<T>);
  const WordRange& own = placed.shape.own_words();
  for (std::uint64_t word = own.first; word < own.first + own.words; ++word) {
    for (std::uint64_t left = seen_in<T>(placed, word); left != 0; left &= left - 1) {
      f(reinterpret_cast<T*>(placed_handle<T>(word * 64 + static_cast<std::uint64_t>(lowest_bit(left))).bits()));
    }
  }
}

}  // namespace dynasoar::detail
