/// @file
/// What checked builds find out about objects that are placed on a lattice. Used by checks.h and placed_objects.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dynasoar/checks/misuse.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/platform/threads.h>

namespace dynasoar::detail {

/// There is nowhere to record what happens without a lattice, so the program ends.
__device__ inline void check_has_lattice(const PlacedState& placed) {
  if (placed.seen != nullptr) return;
  end_program(
      "an object of a placed class is used or created, but there is no Lattice of its class alive (or, in a kernel of "
      "your own: device_pointer() was not called before the launch, in the same file)");
}

/// What is wrong with the use of `handle` as a C*. That an object is gone is found out in the next loop, and only until
/// another one is at its place.
///
/// @tparam A   the allocator
/// @pre the handle is of C or a subclass
template <class A, class C>
__device__ Misuse judge_placed(Handle handle) {
  const int type = handle.type_index();
  const PlacedState& placed = placed_state<A>(type);
  check_has_lattice(placed);
  std::uint64_t bytes = 64;
  A::template Subtypes<C>::for_each([&]<class S>(std::type_identity<S>) {
    if (type == A::template index_of<S>) bytes = placed_block_bytes_v<S>;
  });
  const std::uint64_t word = handle.block_offset() / bytes;
  if (handle.block_offset() % bytes != 0 || word >= placed.shape.words()) return Misuse::foreign_pointer;
  const std::uint64_t taken = placed.seen[word] | placed.arrived[word].load(Order::relaxed);
  return (taken >> handle.slot() & 1) != 0 ? Misuse::none : Misuse::stale_access;
}

}  // namespace dynasoar::detail
