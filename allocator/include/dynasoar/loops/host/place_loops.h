/// @file
/// loop_over_slots on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar::detail {

template <class A, class M, class F>
void loop_over_slots(Executor& executor, std::uint64_t words, const M& mask, const F& function) {
  executor.for_each_index(words, [mask, function](std::size_t word) {
    const std::uint64_t selected = mask(word);
    if constexpr (requires { requires F::kVisitsFullBlocks; }) {
      if (selected == first_bits(64)) {
        function.visit_full_block(word);
        return;
      }
    }
    for (std::uint64_t left = selected; left != 0; left &= left - 1) {
      const std::uint64_t slot = std::uint64_t{word} * 64 + static_cast<std::uint64_t>(lowest_bit(left));
      if constexpr (requires { F::kIsConditional; }) {
        if (const auto answer = function.answer(slot)) function.act(slot, answer);
      } else {
        function(slot);
      }
    }
  });
}

}  // namespace dynasoar::detail
