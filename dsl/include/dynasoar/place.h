/// @file
/// Functions for placed objects in device code: make_new_at, at, place_of, is_free, move_to, neighbourhoods; for 64
/// places at once, where, create_where, destroy_where. See docs/how-to/lattices.md. Not included by dynasoar.h, because
/// many programs do not need it.
///
/// Lookups use the occupancy at the start of the running loop. Objects that the loop creates, moves or destroys change
/// the occupancy for later loops.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/detail/taken_words.h>
#include <dynasoar/heap/placed_objects.h>
#include <dynasoar/loops/asked_word.h>
#include <dynasoar/loops/inner_neighbours.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/loops/place_block.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// The geometry of the lattice with the objects of T. @pre the subclasses of T are on one lattice
template <class T>
__device__ const LatticeShape& lattice_of() {
  detail::check_placed<T>();
  const LatticeShape* shape = nullptr;
  detail::for_each_class_at_places<T>([&]<class S>(std::type_identity<S>) {
    if (shape == nullptr) shape = &detail::PlacedObjects<typename T::Allocator>::template state<S>().shape;
  });
  return *shape;
}

/// Calls `f(object)`, with a T*, for the objects of T and its subclasses that were at a place when the loop began.
/// There is at most one of each class. Objects that have been destroyed since are included.
/// @pre the subclasses of T are on one lattice
template <class T, class F>
__device__ void for_each_at(Place place, const F& f) {
  detail::check_placed<T>();
  detail::for_each_class_at_places<T>([&]<class S>(std::type_identity<S>) {
    if (!detail::TakenWords<S>{}.at(place)) return;
    f(reinterpret_cast<T*>(detail::placed_handle<S>(place.slot()).bits()));
  });
}

/// The T that was at a place when the loop began, even if it has been destroyed since; null if there was none. If T has
/// subclasses, their hierarchy must set kOnePerPlace.
template <class T>
__device__ T* at(Place place) {
  detail::check_placed<T>();
  static_assert(T::Allocator::template Subtypes<T>::size == 1 || detail::is_one_per_place<T>(),
                "dynasoar: several objects can be at a place, one of each listed class that derives from this one. "
                "Call for_each_at<Class>(place, f), or write 'static constexpr bool kOnePerPlace = true;' in the first "
                "class of the hierarchy if a place has room for one of them only");
  std::uint64_t found = 0;
  detail::for_each_class_at_places<T>([&]<class S>(std::type_identity<S>) {
    const bool is_there = detail::TakenWords<S>{}.at(place);
    if (detail::kLooksFirst<S> && !is_there) return;  // other builds do not branch
    const std::uint64_t bits = detail::placed_handle<S>(place.slot()).bits();
    found = is_there ? bits : found;
  });
  return reinterpret_cast<T*>(found);
}

/// Whether the place exists and had no object of these classes when the loop began.
/// @pre the classes are on one lattice
template <class... Ts>
__device__ bool is_free(Place place) {
  static_assert(sizeof...(Ts) > 0, "dynasoar: is_free<...> needs to know which classes must not be at the place");
  (detail::check_placed<Ts>(), ...);
  return !detail::TakenWords<Ts...>{}.at(place) && place.exists();
}

/// The place of a placed object. The object may have been destroyed in this loop. @pre the object is not null
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
/// @return the object; null if there is no such place, or if a T was there when the loop began, even if it has left
///         since. Also null if another T was created there or has moved there in this loop, or if a failing move held
///         the place for a moment. If several threads create a T at the same place, at most one succeeds; which one is
///         unspecified
template <class T, class... Args>
__device__ T* make_new_at(Place place, [[maybe_unused]] Args&&... args) {
  detail::check_at_places<T>();
  detail::check_comes_and_goes<T>();
  return detail::PlacedObjects<typename T::Allocator>::template create<T>(place, std::forward<Args>(args)...);
}

/// Moves a placed object to another place, where later loops see it. Use the returned pointer from then on. Until the
/// loop ends, the old pointer may only be used to read fields.
///
/// @return the object at its new place. Null in all cases in which make_new_at returns null for the place, if the
///         object has been destroyed or moved in this loop, or if the pointer is null; nothing has changed then
template <class T>
__device__ T* move_to(T* object, Place place) {
  static_assert(detail::is_placed<T>(), "dynasoar: objects of this class have no place on a lattice");
  return detail::PlacedObjects<typename T::Allocator>::template move<T>(object, place);
}

namespace detail {

/// for_each_neighbour without assumptions about the lattice or the place.
template <class T, class Neighbourhood, class F>
__device__ void for_each_neighbour_anywhere(const LatticeShape& shape, Place place, Neighbourhood neighbourhood,
                                            const F& f) {
  shape.for_each_neighbour(place, neighbourhood, [&](Place next) { for_each_at<T>(next, f); });
}

}  // namespace detail

/// Calls `f(object)`, with a T*, for the objects of T and its subclasses that were at the places of a neighbourhood
/// when the loop began. Visits the neighbourhood row by row, along x first, and leaves out the place itself.
///
/// @par Cost   least if T is final and has an object at every place (kAtEveryPlace): no branches and no divisions,
///             except near the edges and on lattices that have packed rows or three axes
/// @pre the subclasses of T are on one lattice
template <class T, class Neighbourhood, class F>
[[gnu::always_inline]] __device__ inline void for_each_neighbour(Place place, Neighbourhood neighbourhood, const F& f) {
  detail::check_placed<T>();
  const LatticeShape& shape = lattice_of<T>();
  if constexpr (detail::is_at_every_place<T>() && !detail::kLooksFirst<T> && std::is_final_v<T>) {
    const bool is_inside = detail::InnerNeighbours<detail::placed_block_bytes_v<T>>::for_each(
        shape, place, neighbourhood,
        [&](std::uint64_t position) { f(reinterpret_cast<T*>(detail::placed_handle_at<T>(position).bits())); });
    if (is_inside) return;
  }
  detail::for_each_neighbour_anywhere<T>(shape, place, neighbourhood, f);
}

/// The number of places of a neighbourhood that had a T when the loop began. @par Cost reads one or two words per row
/// @pre the subclasses of T are on one lattice
template <class T, class Neighbourhood = Moore<>>
__device__ int count_neighbours(Place place, Neighbourhood neighbourhood = {}) {
  detail::check_placed<T>();
  const LatticeShape& shape = lattice_of<T>();
  const detail::TakenWords<T> taken;
  int count = 0;
  if constexpr (std::is_same_v<Neighbourhood, VonNeumann<>>) {  // rows are so short that whole words do not pay off
    count = static_cast<int>(taken.at(shape.left(place))) + static_cast<int>(taken.at(shape.right(place))) +
            static_cast<int>(taken.at(shape.up(place))) + static_cast<int>(taken.at(shape.down(place)));
    if (shape.axes() > 2) {
      count += static_cast<int>(taken.at(shape.front(place))) + static_cast<int>(taken.at(shape.back(place)));
    }
  } else {
    shape.for_each_row(place, neighbourhood, taken, [&](const detail::RowOfPlaces& row, LatticeVector, int) {
      count += detail::popcount(row.found);
    });
  }
  return count;
}

/// The same for several classes at once, which takes less time than separate calls:
///
///     const auto [red, blue] = dynasoar::count_each_neighbours<Red, Blue>(place);
///
/// @pre the classes are on one lattice
template <class... Ts, class Neighbourhood = Moore<>>
__device__ std::array<int, sizeof...(Ts)> count_each_neighbours(Place place, Neighbourhood neighbourhood = {}) {
  (detail::check_placed<Ts>(), ...);
  std::array<int, sizeof...(Ts)> counts{};
  lattice_of<detail::FirstOf<Ts...>>().for_each_row(place, neighbourhood, [&](const auto& look_at, LatticeVector, int) {
    std::size_t i = 0;
    ((counts[i++] += detail::popcount(look_at(detail::TakenWords<Ts>{}).found)), ...);
  });
  return counts;
}

/// The number of places of a neighbourhood that are free of the classes Ts. @pre the classes are on one lattice
template <class... Ts, class Neighbourhood>
__device__ int count_free_neighbours(Place place, Neighbourhood neighbourhood) {
  (detail::check_placed<Ts>(), ...);
  int count = 0;
  lattice_of<detail::FirstOf<Ts...>>().for_each_row(
      place, neighbourhood, detail::TakenWords<Ts...>{},
      [&](const detail::RowOfPlaces& row, LatticeVector, int) { count += detail::popcount(row.exist & ~row.found); });
  return count;
}

/// A random place of a neighbourhood that is free of the classes Ts. If there is none, the result is no place. All free
/// places have the same probability. On a periodic axis that is shorter than the neighbourhood, several offsets can
/// lead to a place, which is then more probable.
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

/// A condition for Lattice::parallel_for_free_if and parallel_for_if: finds the agents that ask for a place. To ask for
/// the next place in a Direction, an agent stores the direction in a field. Any other number asks for no place.
///
///     ocean.parallel_for_free_if(dynasoar::AskedFrom<Fish, &Fish::direction_>{}, Take{});
///
/// The result is a std::uint32_t. Bit d is set if the next place in Direction d has a T that asks for this place, where
/// d is one of the four directions of a plane. The action is called with the result if any bit is set.
///
/// @tparam T        a placed class without subclasses
/// @tparam kField   a field of T, or of its base class, that holds an integer or a Direction
/// @par Cost   on a GPU, each place looks at its four neighbours. On a CPU, the neighbours of 64 places are examined
///             together, which takes much less time
template <class T, auto kField>
struct AskedFrom {
  using Field = std::remove_cvref_t<decltype((std::declval<const T&>().*kField).get())>;
  static_assert((std::is_integral_v<Field> && !std::is_same_v<Field, bool>) || std::is_same_v<Field, Direction>,
                "dynasoar: AskedFrom needs a field that holds the direction of the place that an agent asks for, an "
                "integer or a Direction");

  template <class... Args>
  __device__ std::uint32_t operator()(Place place, const Args&...) const {
    detail::check_at_places<T>();
    std::uint32_t from = 0;
    for (std::uint32_t d = 0; d < detail::kPlaneDirections; ++d) {
      const auto direction = static_cast<Direction>(d);
      const T* const agent = at<T>(lattice_of<T>().neighbour(place, direction));
      from |= static_cast<std::uint32_t>(agent != nullptr && asks(agent, direction)) << d;
    }
    return from;
  }

  /// For the library: the results for some places of a word, on a CPU.
  __device__ static detail::AskedWord answers(std::uint64_t word, std::uint64_t places) {
    return detail::find_askers(
        lattice_of<T>(), word, places, detail::TakenWords<T>{}, [](std::uint64_t slot, Direction direction) {
          return asks(reinterpret_cast<const T*>(detail::placed_handle<T>(slot).bits()), direction);
        });
  }

 private:
  /// Whether an agent asks for a place. `direction` leads from the place to the agent.
  __device__ static bool asks(const T* agent, Direction direction) {
    return static_cast<std::uint32_t>((agent->*kField).get()) == static_cast<std::uint32_t>(opposite(direction));
  }
};

// Sets of places. Lattice::parallel_for_blocks gives each thread a block of 64 places, and a set of them is a word: bit
// i stands for the i-th place. Combine sets with &, | and ~.

/// The places of a block at which there was any of the classes when the loop began. @pre the classes are on one lattice
template <class... Ts>
__device__ std::uint64_t where(PlaceBlock block) {
  static_assert(sizeof...(Ts) > 0, "dynasoar: where<...> needs to know which classes to look for");
  (detail::check_placed<Ts>(), ...);
  return detail::TakenWords<Ts...>{}(block.number());
}

/// The places of a block whose neighbour at a distance had an object of any of the classes when the loop began. Bit i
/// is set if the neighbour of the i-th place had one. There are no objects beyond a bounded edge; periodic axes wrap.
///
/// @pre the classes are on one lattice; distances along each axis are less than 2^30
/// @par Cost   reads two words for the next place in a direction, if rows are padded or if there is only one row
template <class... Ts>
[[gnu::always_inline]] __device__ inline std::uint64_t where(PlaceBlock block, LatticeVector distance) {
  static_assert(sizeof...(Ts) > 0, "dynasoar: where<...> needs to know which classes to look for");
  (detail::check_placed<Ts>(), ...);
  return detail::BlockNeighbours::find(lattice_of<detail::FirstOf<Ts...>>(), block, distance,
                                       detail::TakenWords<Ts...>{});
}

/// The same for the next place in a direction.
template <class... Ts>
__device__ std::uint64_t where(PlaceBlock block, Direction direction) {
  return where<Ts...>(block, vector_of(direction));
}

/// Computes a set place by place: bit i of the result is `f(i, whether bit i of places is set)`, 0 <= i < 64, including
/// bits that stand for no place.
///
/// @par Cost   64 calls. On a CPU, g++ vectorizes them if `f` is straight-line 32-bit arithmetic on values that it
///             captures by copy
template <class F>
[[gnu::always_inline]] __host__ __device__ inline std::uint64_t map_places(std::uint64_t places, const F& f) {
  return detail::map_bits(places, f);
}

/// Creates `T(args...)` at those places of a set at which make_new_at would create one. Skips the others, and bits that
/// stand for no place.
///
/// @return the places at which this call has created an object
/// @par Cost   one atomic operation for all of them, two with kOnePerPlace, and none if all are taken
template <class T, class... Args>
__device__ std::uint64_t create_where(PlaceBlock block, std::uint64_t places, [[maybe_unused]] const Args&... args) {
  detail::check_at_places<T>();
  detail::check_comes_and_goes<T>();
  return detail::PlacedObjects<typename T::Allocator>::template create_where<T>(block, places, args...);
}

/// Destroys the Ts that were at the places of a set when the loop began.
///
/// @return the places at which this call has destroyed an object, without those where another call in this loop had
///         destroyed or moved it before
/// @par Cost   one atomic operation for all of them, and none if there are no objects
template <class T>
__device__ std::uint64_t destroy_where(PlaceBlock block, std::uint64_t places) {
  detail::check_at_places<T>();
  detail::check_comes_and_goes<T>();
  return detail::PlacedObjects<typename T::Allocator>::template destroy_where<T>(block, places);
}

}  // namespace dynasoar
