/// @file
/// Loops over pairs on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <dynasoar/loops/block_lists.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/block_sums.h>

namespace dynasoar::detail {

template <int kList, class Pairs>
void visit_list(const Pairs& pairs, int objects, RawArray<typename Pairs::Request, 64>& requests,
                RawArray<typename Pairs::Result, 64>& results) {
  const auto list = Pairs::template list<kList>();
  RawArray<typename Pairs::Source, 64> tile;
  for (std::uint32_t i = 0; i < length_of(list); ++i) {
    const ListedBlock entry = load_entry(list, i);
    int sources = 0;
    for (std::uint64_t left = entry.slots; left != 0; left &= left - 1) {
      tile.make(static_cast<std::size_t>(sources++),
                pairs.template load<kList>(entry.block, static_cast<std::uint32_t>(lowest_bit(left))));
    }
    for (int object = 0; object < objects; ++object) {
      const auto at = static_cast<std::size_t>(object);
      typename Pairs::Result result = results[at];
      for (int s = 0; s < sources; ++s) {
        result = pairs.combined(requests[at], result, tile[static_cast<std::size_t>(s)]);
      }
      results[at] = result;
    }
  }
}

template <class Pairs>
void visit_pairs(const ListedBlock& entry, const Pairs& pairs) {
  RawArray<typename Pairs::Request, 64> requests;
  RawArray<typename Pairs::Result, 64> results;
  int objects = 0;
  for (std::uint64_t left = entry.slots; left != 0; left &= left - 1, ++objects) {
    const auto at = static_cast<std::size_t>(objects);
    requests.make(at, pairs.request(entry.block, static_cast<std::uint32_t>(lowest_bit(left))));
    results.make(at, pairs.init(requests[at]));
  }
  [&]<int... kList>(std::integer_sequence<int, kList...>) {
    (visit_list<kList>(pairs, objects, requests, results), ...);
  }
  (std::make_integer_sequence<int, Pairs::kOthers>{});
  std::size_t at = 0;
  for (std::uint64_t left = entry.slots; left != 0; left &= left - 1, ++at) {
    pairs.finish(entry.block, static_cast<std::uint32_t>(lowest_bit(left)), requests[at], results[at]);
  }
}

}  // namespace dynasoar::detail
