/// @file
/// loop_over_objects, reduce_objects and submit_reduction on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/loops/leave_parts.h>
#include <dynasoar/loops/object_loop.h>
#include <dynasoar/loops/pair_loops.h>
#include <dynasoar/loops/visited_block.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

// `function` is a copy, which its calls cannot change.
template <class F>
void visit_objects(const ListedBlock& entry, const F function) {
  if constexpr (F::kHasConsecutiveHandles) {
    if (entry.slots == first_bits(64)) {  // the common case, in a form that compilers vectorize
      const std::uint64_t first = function.handle_of_first(entry.block);
      note_visited_block(first);
      for (std::uint64_t slot = 0; slot < 64; ++slot) function.visit(first + slot);
      return;
    }
  }
  for (std::uint64_t left = entry.slots; left != 0; left &= left - 1) {
    function(entry.block, static_cast<std::uint32_t>(lowest_bit(left)));
  }
}

template <class F>
void loop_over_list(Executor& executor, const BlockList& list, const F& function) {
  executor.for_each_index(list.size->blocks, [list, function](std::size_t i) {
    using Pairs = typename F::template Pairs<>;
    if constexpr (std::is_void_v<Pairs>) {
      visit_objects(list.entries[i], function);
    } else {
      visit_pairs(list.entries[i], Pairs{function});
    }
  });
}

template <class A, class... Fs>
void loop_over_objects(Executor& executor, const ObjectLoop<Fs>&... loops) {
  (loop_over_list(executor, loops.list, loops.function), ...);
}

template <class A, class R, class Op, class F>
R reduce_objects(Executor& executor, BlockList list, std::size_t, DeviceArray<char>&, R init, Op op,
                 const F& function) {
  std::vector<R> partial(list.size->blocks, init);
  executor.for_each_index(partial.size(), [&](std::size_t index) {
    const ListedBlock entry = list.entries[index];
    R result = init;
    for (std::uint64_t left = entry.slots; left != 0; left &= left - 1) {
      result = op(result, static_cast<R>(function(entry.block, static_cast<std::uint32_t>(lowest_bit(left)))));
    }
    partial[index] = result;
  });
  R result = init;
  for (const R& part : partial) result = op(result, part);
  return result;
}

template <class A, class R, class Op, class F, class Finish>
std::size_t most_parts(Executor&) {
  return 1;
}

template <class A, class R, class Op, class F, class Finish>
std::size_t submit_reduction(Executor& executor, BlockList list, std::size_t capacity, R* parts, std::size_t before,
                             R init, Op op, const F& function, const Finish& finish) {
  DeviceArray<char> unused;
  parts[before] = reduce_objects<A>(executor, list, capacity, unused, init, op, function);
  if constexpr (!std::is_same_v<Finish, LeaveParts>) {
    R all = init;
    for (std::size_t i = 0; i <= before; ++i) all = op(all, parts[i]);
    finish(0, 1, all);
  }
  return 1;
}

}  // namespace dynasoar::detail
