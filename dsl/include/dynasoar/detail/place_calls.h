/// @file
/// The function objects that loops over placed objects and over places call. Used by Lattice and PlacedRunner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/occupancy.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/heap/placed_objects.h>
#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/loops/visited_block.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/random.h>

namespace dynasoar::detail {

/// Combines the objects of one list with a result.
template <int kList, class Pairs>
__device__ typename Pairs::Result with_list(const Pairs& pairs, const typename Pairs::Request& request,
                                            typename Pairs::Result result) {
  const auto list = Pairs::template list<kList>();
  for (std::uint32_t i = 0; i < length_of(list); ++i) {
    const ListedBlock entry = load_entry(list, i);
    for (std::uint64_t left = entry.slots; left != 0; left &= left - 1) {
      const auto slot = static_cast<std::uint32_t>(lowest_bit(left));
      result = pairs.combined(request, result, pairs.template load<kList>(entry.block, slot));
    }
  }
  return result;
}

/// Carries out a device_reduce that a method of a placed object returns, in the calling thread. (Loops over objects in
/// the heap divide this work among threads.)
///
/// @tparam Pairs   see loops/pair_loops.h
/// @param block, slot   the position of the object
template <class Pairs>
__device__ void look_alone(const Pairs& pairs, std::uint32_t block, std::uint32_t slot) {
  const typename Pairs::Request request = pairs.request(block, slot);
  typename Pairs::Result result = pairs.init(request);
  [&]<int... kList>(std::integer_sequence<int, kList...>) {
    ((result = with_list<kList>(pairs, request, result)), ...);
  }
  (std::make_integer_sequence<int, Pairs::kOthers>{});
  pairs.finish(block, slot, request, result);
}

/// Calls a callable for the T at a slot. If that returns a Reduction, the calling thread carries it out.
template <class T, class Call>
struct PlacedCall {
  SlotCall<T, Call> slot_call;
  __device__ void operator()(std::uint64_t slot) const {
    using Pairs = typename SlotCall<T, Call>::template Pairs<>;
    if constexpr (std::is_void_v<Pairs>) {
      // Not opaque as in SlotCall: the compiler must see the number of the class, with which it finds fields of base
      // classes.
      const std::uint64_t handle = placed_handle<T>(slot).bits();
      [[maybe_unused]] const ScopeFor<typename T::Allocator> scope(handle);
      call_alone(slot_call.call, reinterpret_cast<T*>(handle));
    } else {
      look_alone(Pairs{slot_call}, static_cast<std::uint32_t>(slot / 64), static_cast<std::uint32_t>(slot % 64));
    }
  }

  static constexpr bool kVisitsFullBlocks =
      T::Allocator::kHasConsecutiveHandles && std::is_void_v<typename SlotCall<T, Call>::template Pairs<>>;

  /// The same for all slots of a word, on a CPU: in a form that compilers vectorize, see visited_block.h.
  __device__ void visit_full_block(std::uint64_t word) const {
    const SlotCall<T, Call> copy = slot_call;  // a copy, which the call cannot change
    const std::uint64_t first = placed_handle<T>(word * 64).bits();
    note_visited_block(first);
    for (std::uint64_t slot = 0; slot < 64; ++slot) copy.visit(first + slot);
  }
};

struct PlaceOfSlot {
  using Where = Place;
  __device__ Place operator()(std::uint64_t slot) const { return Place(slot); }
};

/// @tparam kInRows   LatticeShape::has_blocks_in_rows(): a constant, so that a kernel has the code for one case only
template <bool kInRows>
struct BlockOfNumber {
  using Where = PlaceBlock;
  std::uint64_t first;  ///< number of the first block of the loop
  __device__ PlaceBlock operator()(std::uint64_t i) const { return {first + i, kInRows}; }
};

/// Calls a callable for the Place or PlaceBlock with a number, in a loop of allocator type A.
template <class A, class OfNumber, class F, class... Args>
struct PlaceCall {
  using Where = typename OfNumber::Where;
  OfNumber of_number;
  F function;
  std::tuple<Args...> arguments;
  __device__ void operator()(std::uint64_t number) const {
    static_assert(check_call<const F&, Where, Args...>());
    [[maybe_unused]] const ScopeFor<A> scope(0);
    std::tuple<Args...> copy = arguments;
    call(of_number(number), copy, std::index_sequence_for<Args...>{});
  }

 private:
  template <std::size_t... I>
  __device__ void call(Where where, [[maybe_unused]] std::tuple<Args...>& copy, std::index_sequence<I...>) const {
    function(where, std::get<I>(copy)...);
  }
};

/// A Density as a predicate.
struct ChosenPlaces {
  LatticeShape shape;
  Density density;
  __device__ bool operator()(Place place) const { return density.chooses(shape.number(place)); }
};

/// Creates a T at a place if a predicate is true for it.
template <class T, class Predicate, class... Args>
struct NewAtPlace {
  Predicate predicate;
  std::tuple<Args...> arguments;
  __device__ void operator()(std::uint64_t slot) const {
    using A = typename T::Allocator;
    static_assert(check_call<const Predicate&, Place>());
    [[maybe_unused]] const ScopeFor<A> scope(0);
    if (predicate(Place(slot))) create(slot, std::index_sequence_for<Args...>{});
  }

 private:
  template <std::size_t... I>
  __device__ void create(std::uint64_t slot, std::index_sequence<I...>) const {
    PlacedObjects<typename T::Allocator>::template create<T>(Place(slot), std::get<I>(arguments)...);
  }
};

/// The objects of a class that loops see, as a mask for loop_over_slots. Not for classes with objects at all places.
struct SeenWords {
  static constexpr bool kSelectsFew = true;
  const std::uint64_t* seen;
  __device__ std::uint64_t operator()(std::uint64_t word) const { return seen[word]; }
};

/// The places of a lattice, as a mask.
struct AllPlaces {
  static constexpr bool kSelectsFew = false;
  PlacesOfWords places;
  __device__ std::uint64_t operator()(std::uint64_t word) const { return places(word); }
};

/// The places of the lattice of T as a mask, for a loop over the objects of T. Reads the bound state, as methods do.
template <class T>
struct PlacesOf {
  static constexpr bool kSelectsFew = false, kIsOfObjects = true;
  __device__ std::uint64_t operator()(std::uint64_t word) const {
    return placed_state<typename T::Allocator>(T::Allocator::template index_of<T>).shape.places_of_word(word);
  }
};

/// The places without objects of some classes, as a loop sees them.
template <std::size_t kClasses>
struct FreePlaces {
  static constexpr bool kSelectsFew = true;
  LatticeShape shape;
  const std::uint64_t* seen[kClasses];
  __device__ std::uint64_t operator()(std::uint64_t word) const {
    std::uint64_t taken = 0;
    for (std::size_t i = 0; i < kClasses; ++i) taken |= seen[i][word];
    return shape.places_of_word(word) & ~taken;
  }
};

/// The places of objects that were destroyed or moved away in the last loop.
struct DepartedWords {
  static constexpr bool kSelectsFew = true;
  Occupancy<PlatformAtomics> placed;
  __device__ std::uint64_t operator()(std::uint64_t word) const { return placed.departed[word].load(Order::relaxed); }
};

/// The places of all objects, including those that were destroyed or moved away in the last loop.
struct ArrivedWords {
  static constexpr bool kSelectsFew = true;
  Occupancy<PlatformAtomics> placed;
  __device__ std::uint64_t operator()(std::uint64_t word) const {
    return placed.seen[word] | placed.arrived[word].load(Order::relaxed);
  }
};

/// Frees the memory of the T at a slot, for an allocator with objects in pieces. Repeated calls do nothing. There may
/// be no memory to free if T has an object at every place and memory was short.
template <class T>
struct ReleasePiece {
  __device__ void operator()(std::uint64_t slot) const {
    using A = typename T::Allocator;
    std::uint64_t& entry = placed_table(placed_state<A>(A::template index_of<T>))[slot];
    if (entry != 0) A::release_piece(reinterpret_cast<T*>(entry));
    entry = 0;
  }
};

/// Creates the T at a slot, for a T with an object at every place. @return whether there was memory for it
template <class T>
struct CreateAtEveryPlace {
  static_assert(std::is_default_constructible_v<T>,
                "dynasoar: the lattice creates an object of this class at every place (kAtEveryPlace), so the class "
                "needs a public constructor without arguments. In it, place_of(this) says where the object is; set "
                "what depends on anything else in a loop over the objects, once there is a lattice");

  AtomicWord<std::uint32_t>* has_failed;  ///< null if the creation cannot fail
  __device__ void operator()(std::uint64_t slot) const {
    [[maybe_unused]] const ScopeFor<typename T::Allocator> scope(0);
    if (PlacedObjects<typename T::Allocator>::template create_first<T>(slot)) return;
    has_failed->store(1, Order::relaxed);  // relaxed: read when the device is idle
  }
};

}  // namespace dynasoar::detail
