/// @file
/// Checks of checked builds for objects that are placed on a lattice. Used by checks.h and placed_objects.h.
#pragma once

#include <dynasoar/checks/misuse.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/threads.h>

namespace dynasoar::detail {

/// Ends the program if there is no lattice, because misuse could not be recorded then.
__device__ inline void check_has_lattice(const PlacedState& placed) {
  if (placed.has_lattice()) return;
  end_program(
      "an object of a placed class is used or created, but there is no Lattice of its class alive (or, in a kernel of "
      "your own: device_pointer() was not called before the launch, in the same file)");
}

/// Ends the program if a place is certainly not one of the class's own lattice, because its number is too large.
__device__ inline void check_is_on_lattice(const PlacedState& placed, std::uint64_t word) {
  if (word < placed.shape.words()) return;
  end_program(
      "a Place of one lattice is used for a class that is on another, smaller one. A Place is valid on its own lattice "
      "only; convert coordinates with lattice_of<T>().place({x, y, z})");
}

/// The misuse of a pointer to a placed object, or none. A destroyed object is detected only in the next loop.
///
/// @tparam A   the allocator
/// @pre the handle is of a placed class
template <class A>
__device__ Misuse judge_placed(Handle handle) {
  check_has_lattice(placed_state<A>(handle.type_index()));
  if (!A::is_position_of_object(handle)) return Misuse::foreign_pointer;
  return is_placed_object<A>(handle, A::block_of(handle)) ? Misuse::none : Misuse::stale_access;
}

}  // namespace dynasoar::detail
