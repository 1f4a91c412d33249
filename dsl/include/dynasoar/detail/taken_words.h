/// @file
/// TakenWords: the places of a lattice at which the running loop sees objects of some classes. Used by place.h.
#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>

#include <dynasoar/checks/placed_checks.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/heap/placed_objects.h>
#include <dynasoar/loops/places.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Checks that T is placed, and that it or subclasses of it are listed.
template <class T>
__host__ __device__ constexpr void check_placed() {
  check_listed_or_base<typename T::Allocator, T>();
  static_assert(is_placed<T>(),
                "dynasoar: this class is not placed on a lattice. Write 'static constexpr bool kPlaced = true;' in it, "
                "behind 'public:'");
}

/// Checks that T can have objects at places: it has no listed subclasses.
template <class T>
__host__ __device__ constexpr void check_at_places() {
  check_placed<T>();
  check_listed<typename T::Allocator, T>();
  static_assert(T::Allocator::template Subtypes<T>::size == 1,
                "dynasoar: other listed classes derive from this one. Objects at places are of classes without "
                "subclasses: name one of these");
}

/// Words with the places at which a loop sees objects of any of the classes.
template <class... Ts>
struct TakenWords {
  __device__ std::uint64_t operator()(std::uint64_t word) const {
    return (std::uint64_t{0} | ... | seen_in_word<Ts>(static_cast<std::uint32_t>(word)));
  }

  /// Whether a loop sees any of them at a place. Does not branch, but reads the words of all classes, even if the place
  /// does not exist, so that all loads are in flight at the same time.
  __device__ bool at(Place place) const {
    return (static_cast<int>(place.exists()) & (0 | ... | is_seen<Ts>(place))) != 0;
  }

  /// Bit i: whether a loop sees any of the classes at `slot + i`. @pre count <= 32, all in one row of the lattice
  __device__ std::uint32_t window(std::uint64_t slot, int count) const {
    return (std::uint32_t{0} | ... | seen_from<Ts>(slot, count));
  }

 private:
  template <class T>
  __device__ static std::uint32_t seen_from(std::uint64_t slot, int count) {
    std::uint32_t taken = 0;
    for_each_state<T>(static_cast<std::uint32_t>(slot / 64), [&]<class S>(const PlacedState& placed) {
      taken |= is_at_every_place<S>() ? ~std::uint32_t{0} : bits_from(placed.seen, slot, count);
    });
    return taken;
  }

  template <class T>
  __device__ static std::uint64_t seen_in_word(std::uint32_t word) {
    std::uint64_t taken = 0;
    for_each_state<T>(word, [&]<class S>(const PlacedState& placed) { taken |= seen_in<S>(placed, word); });
    return taken;
  }

  template <class T>
  __device__ static int is_seen(Place place) {
    int taken = 0;
    for_each_state<T>(place.word(), [&]<class S>(const PlacedState& placed) {
      taken |= static_cast<int>(is_at_every_place<S>() || has_bit(placed.seen, place.slot()));
    });
    return taken;
  }

  /// Calls `f<S>(state)` with the state of each class S that T stands for.
  template <class T, class F>
  __device__ static void for_each_state([[maybe_unused]] std::uint32_t word, const F& f) {
    for_each_class_at_places<T>([&]<class S>(std::type_identity<S>) {
      const PlacedState& placed = PlacedObjects<typename T::Allocator>::template state<S>();
      if constexpr (kChecked) check_is_on_lattice(placed, word);
      f.template operator()<S>(placed);
    });
  }
};

/// Whether code must check that an object is at a place before it computes the pointer. This is the case if there is a
/// table of pointers: without the check, a thread could read an entry while another thread writes it.
template <class T>
inline constexpr bool kLooksFirst = kChecked || T::Allocator::kPlacement == Placement::in_pieces;

template <class... Ts>
using FirstOf = std::tuple_element_t<0, std::tuple<Ts...>>;

}  // namespace dynasoar::detail
