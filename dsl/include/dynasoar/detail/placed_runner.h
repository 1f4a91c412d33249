/// @file
/// PlacedRunner: the part of LoopRunner for placed classes. A Lattice adds its classes to it.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/detail/conditional_calls.h>
#include <dynasoar/detail/place_calls.h>
#include <dynasoar/detail/placed_classes.h>
#include <dynasoar/loops/place_loops.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// @tparam A   the allocator
template <class A>
class PlacedRunner final : public PlacedClasses {
 public:
  explicit PlacedRunner(Executor& executor) : PlacedClasses(executor, class_table_v<A>), executor_(executor) {}

  /// @throws Error if objects of T are on a lattice
  template <class T>
  void check_may_place() const {
    check_may_add(kIndex<T>);
  }

  /// Adds T: from now on, its objects are on a lattice and take `bytes` bytes of it. @pre check_may_place
  template <class T>
  void place(const PlacedState& state, std::size_t bytes) {
    add(kIndex<T>, state, bytes);
    bind<T>(state);
  }

  /// Sets the words that loops over objects of T visit. @pre there is a lattice
  template <class T>
  void set_range(const WordRange& range) {
    PlacedClasses::set_range(kIndex<T>, range);
  }

  /// Removes T: its objects are no longer on a lattice. Waits for loops.
  template <class T>
  void displace() noexcept {
    try {
      if constexpr (kInPieces && is_at_every_place<T>()) {
        release<T>(AllPlaces{state(kIndex<T>).shape.places_of_words()});
      } else if constexpr (kInPieces) {
        release<T>(ArrivedWords{state(kIndex<T>)});
      }
    } catch (...) {
      // The memory stays with the allocator.
    }
    try {
      executor_.wait();
    } catch (...) {
      // The next function that waits reports the error.
    }
    remove(kIndex<T>);
    bind<T>({});
  }

  /// Called before loops over T and its subclasses are submitted.
  /// @throws Error if any of them is placed and has no lattice
  template <class T>
  void check_have_lattices() const {
    A::template Subtypes<T>::for_each([&]<class S>(std::type_identity<S>) {
      if constexpr (is_placed<S>()) static_cast<void>(state(kIndex<S>));
    });
  }

  /// Calls a callable for the objects of T and its subclasses, in one kernel. @pre before_loop()
  /// @throws Error if there is no lattice for them
  template <class T, class Call>
  void loop_over_objects(const Call& call) const {
    loop_over_objects_of(call, ClassesAtPlaces<T>{});
  }

 private:
  static constexpr bool kInPieces = A::kPlacement == Placement::in_pieces;

  template <class T>
  static constexpr std::size_t kIndex = static_cast<std::size_t>(A::template index_of<T>);

  /// Tells device code where the objects are.
  template <class T>
  static void bind(const PlacedState& state) {
    Binding<PlacedStates<A>>::state.of[kIndex<T>] = state;
    ++Binding<PlacedStates<A>>::generation;
  }

  void release_departed() override {
    if constexpr (kInPieces) {
      A::Types::for_each([&]<class T>(std::type_identity<T>) {
        if constexpr (is_placed<T>() && !is_at_every_place<T>()) {
          if (is_on_lattice(kIndex<T>)) release<T>(DepartedWords{state(kIndex<T>)});
        }
      });
    }
  }

  /// Frees the memory of the Ts that a mask selects.
  template <class T, class Mask>
  void release(const Mask& mask) {
    loop_over_slots<A>(executor_, SlotLoop{WordRange{0, state(kIndex<T>).shape.words()}, mask, ReleasePiece<T>{}});
  }

  /// @tparam Ts   classes with objects at places
  template <class Call, class... Ts>
  void loop_over_objects_of(const Call& call, TypeList<Ts...>) const {
    loop_over_slots<A>(executor_, slot_loop<Ts>(call)...);
  }

  template <class T, class Call>
  auto slot_loop(const Call& call) const {
    if constexpr (is_at_every_place<T>()) {
      return slot_loop_of<T>(PlacesOf<T>{}, call);
    } else {
      return slot_loop_of<T>(SeenWords{state(kIndex<T>).seen}, call);
    }
  }

  template <class T, class Mask, class Call>
  auto slot_loop_of(const Mask& objects, const Call& call) const {
    if constexpr (is_conditional_v<Call>) {
      return SlotLoop{range(kIndex<T>), objects, ConditionalPlacedCall<T, Call>{call}};
    } else {
      return SlotLoop{range(kIndex<T>), objects, PlacedCall<T, Call>{{call}}};
    }
  }

  Executor& executor_;
};

}  // namespace dynasoar::detail
