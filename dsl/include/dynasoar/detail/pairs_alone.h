/// @file
/// look_alone: lets an object look at all objects of other lists, in one thread. Used by loops over placed objects,
/// whose methods may return a device_reduce as well; those over objects in the heap share the work among threads, see
/// loops/pair_loops.h.
#pragma once

#include <cstdint>
#include <utility>

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// The result with the objects of one list combined into it.
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

/// @tparam Pairs   see loops/pair_loops.h
/// @param block, slot   of the object
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

}  // namespace dynasoar::detail
