/// @file
/// What device code does with objects that are placed on a lattice: make_new_at, at, place_of, is_free, move_to,
/// neighbourhoods. See docs/how-to/lattices.md. Not in dynasoar.h, because many programs have no use for it.
///
/// Lookups use the occupancy at the start of the running loop; later loops see what it creates, moves and destroys.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/checks/placed_checks.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/heap/placed_objects.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

namespace detail {

/// T is listed and placed and has no listed subclasses, so its type alone identifies the objects.
template <class T>
__host__ __device__ constexpr void check_at_places() {
  static_assert(is_placed<T>(),
                "dynasoar: this class is not placed on a lattice. Write 'static constexpr bool kPlaced = true;' in it, "
                "behind 'public:'");
  check_listed<typename T::Allocator, T>();
  static_assert(T::Allocator::template Subtypes<T>::size == 1,
                "dynasoar: other listed classes derive from this one, and any of them may be at the place. Name one of "
                "them that has no subclasses");
}

/// A word with the places where a loop sees any of the classes.
template <class... Ts>
struct TakenWords {
  __device__ std::uint64_t operator()(std::uint64_t word) const {
    return (std::uint64_t{0} | ... | seen<Ts>(static_cast<std::uint32_t>(word))[static_cast<std::uint32_t>(word)]);
  }

  /// Whether a loop sees any of them at a place. Reads also if it does not exist, instead of branching, and in all
  /// words, so that all reads are on their way at the same time.
  __device__ bool at(Place place) const {
    return (static_cast<int>(place.exists()) &
            (0 | ... | static_cast<int>(has_bit(seen<Ts>(place.word()), place.slot())))) != 0;
  }

 private:
  template <class T>
  __device__ static const std::uint64_t* seen(std::uint32_t word) {
    const PlacedState& placed = PlacedObjects<typename T::Allocator>::template state<T>();
    if constexpr (kChecked) check_is_on_lattice(placed, word);
    return placed.seen;
  }
};

template <class... Ts>
using FirstOf = std::tuple_element_t<0, std::tuple<Ts...>>;

}  // namespace detail

/// The lattice that objects of T are on, for its geometry.
template <class T>
__device__ const LatticeShape& lattice_of() {
  detail::check_at_places<T>();
  return detail::PlacedObjects<typename T::Allocator>::template state<T>().shape;
}

/// The T that was at a place when the loop began, even if it has been destroyed since; otherwise null.
template <class T>
__device__ T* at(Place place) {
  detail::check_at_places<T>();
  const std::uint64_t bits = detail::placed_handle<T>(place.slot()).bits();
  return reinterpret_cast<T*>(detail::TakenWords<T>{}.at(place) ? bits : 0);
}

/// Whether there is such a place, and there was none of these classes at it when the loop began.
/// @pre the classes are on one lattice
template <class... Ts>
__device__ bool is_free(Place place) {
  static_assert(sizeof...(Ts) > 0, "dynasoar: is_free<...> needs to know which classes must not be at the place");
  (detail::check_at_places<Ts>(), ...);
  return !detail::TakenWords<Ts...>{}.at(place) && place.exists();
}

/// Where a placed object is. Valid also for one that has been destroyed in this loop. @pre the object is not null
template <class T>
__device__ Place place_of(const T* object) {
  static_assert(detail::is_placed<T>(), "dynasoar: objects of this class have no place on a lattice");
  using Allocator = typename T::Allocator;
  using Classes = typename Allocator::template Subtypes<T>;
  const detail::Handle handle(reinterpret_cast<std::uint64_t>(object));
  std::uint64_t slot = 0;
  Classes::for_each([&]<class S>(std::type_identity<S>) {
    if (Classes::size == 1 || handle.type_index() == Allocator::template index_of<S>) {
      slot = detail::placed_slot<S>(handle);
    }
  });
  return Place(slot);
}

/// Creates a T at a place, which later loops see.
///
/// @return the object; null if there is no such place, if a T was there when the loop began, whether or not it still
///         is, if another one was created there or has moved there in this loop, or if a move that fails held the place
///         for a moment. Of several threads that create a T at a place, at most one gets it: which one is unspecified
template <class T, class... Args>
__device__ T* make_new_at(Place place, Args&&... args) {
  detail::check_at_places<T>();
  return detail::PlacedObjects<typename T::Allocator>::template create<T>(place, std::forward<Args>(args)...);
}

/// Moves a placed object to another place, for later loops. From then on, use the pointer that is returned: through the
/// old one, fields may only be read, until the loop ends.
///
/// @return the object at its new place; null if there is no such place, if it is or was taken or held for a moment as
///         for make_new_at, if the object has been destroyed or moved in this loop, or if the pointer is null. Then
///         nothing has changed
template <class T>
__device__ T* move_to(T* object, Place place) {
  static_assert(detail::is_placed<T>(), "dynasoar: objects of this class have no place on a lattice");
  return detail::PlacedObjects<typename T::Allocator>::template move<T>(object, place);
}

/// How many of the places of a neighbourhood had a T when the loop began. @par Cost   a word or two per row
template <class T, class Neighbourhood = Moore<>>
__device__ int count_neighbours(Place place, Neighbourhood neighbourhood = {}) {
  detail::check_at_places<T>();
  int count = 0;
  lattice_of<T>().for_each_row(
      place, neighbourhood, detail::TakenWords<T>{},
      [&](const detail::RowOfPlaces& row, LatticeVector, int) { count += detail::popcount(row.found); });
  return count;
}

/// How many of the places of a neighbourhood are free of the classes Ts. @pre the classes are on one lattice
template <class... Ts, class Neighbourhood>
__device__ int count_free_neighbours(Place place, Neighbourhood neighbourhood) {
  (detail::check_at_places<Ts>(), ...);
  int count = 0;
  lattice_of<detail::FirstOf<Ts...>>().for_each_row(
      place, neighbourhood, detail::TakenWords<Ts...>{},
      [&](const detail::RowOfPlaces& row, LatticeVector, int) { count += detail::popcount(row.exist & ~row.found); });
  return count;
}

/// A place of a neighbourhood that is free of the classes Ts; none if there is none. All have the same probability; on
/// a periodic axis that is shorter than the neighbourhood, a place is drawn more often if several offsets lead to it.
///
/// @param random   a random number, of 32 bits
/// @pre the classes are on one lattice
template <class... Ts, class Neighbourhood>
__device__ Place random_free_neighbour(Place place, Neighbourhood neighbourhood, std::uint32_t random) {
  const int count = count_free_neighbours<Ts...>(place, neighbourhood);
  auto left = static_cast<int>(std::uint64_t{random} * static_cast<std::uint32_t>(count) >> 32);
  const LatticeShape& shape = lattice_of<detail::FirstOf<Ts...>>();
  Place chosen;
  if (count == 0) return chosen;
  shape.for_each_row(place, neighbourhood, detail::TakenWords<Ts...>{},
                     [&](const detail::RowOfPlaces& row, LatticeVector distance, int reach) {
                       const std::uint64_t free = row.exist & ~row.found;
                       const int here = detail::popcount(free);
                       if (left >= 0 && left < here) {
                         distance.x = detail::nth_set_bit(free, left) - reach;
                         chosen = shape.neighbour(place, distance);
                       }
                       left -= here;
                     });
  return chosen;
}

}  // namespace dynasoar
