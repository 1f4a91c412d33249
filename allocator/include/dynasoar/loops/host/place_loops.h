/// @file
/// loop_over_slots on a CPU.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <dynasoar/loops/slot_loop.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

/// Calls a function for the slots that a loop selects in the i-th word of its range.
template <class M, class F>
void visit_slots(const SlotLoop<M, F>& loop, std::uint64_t i) {
  if (i >= loop.range.words) return;
  const std::uint64_t word = loop.range.first + i;
  const F& function = loop.function;
  const std::uint64_t selected = loop.mask(word);
  if constexpr (requires { requires F::kVisitsFullBlocks; }) {
    if (selected == first_bits(64)) {
      function.visit_full_block(word);
      return;
    }
  }
  if constexpr (requires { requires F::kAnswersWords; }) {
    const auto answers = function.answers(word, selected);
    for (std::uint64_t left = answers.asked(); left != 0; left &= left - 1) {
      const int bit = lowest_bit(left);
      function.act(word * 64 + static_cast<std::uint64_t>(bit), answers[bit]);
    }
    return;
  }
  for (std::uint64_t left = selected; left != 0; left &= left - 1) {
    const std::uint64_t slot = word * 64 + static_cast<std::uint64_t>(lowest_bit(left));
    if constexpr (requires { F::kIsConditional; }) {
      if (const auto answer = function.answer(slot)) function.act(slot, answer);
    } else {
      function(slot);
    }
  }
}

template <class A, class... Loops>
void loop_over_slots(Executor& executor, const Loops&... loops) {
  executor.for_each_index(std::max({loops.range.words...}),
                          [... loops = loops](std::size_t i) { (visit_slots(loops, i), ...); });
}

}  // namespace dynasoar::detail
