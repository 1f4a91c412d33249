/// @file
/// CensusHistory: the numbers of the last steps, counted on the device, as the model names them. Used by the
/// implementations of the models for record() and take_history().
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include <app/simulation.h>
#include <dynasoar/program/count_history.h>

namespace app {

/// How many numbers a census has.
template <class Census>
inline constexpr int kNumbersOf = static_cast<int>(sizeof(Census) / sizeof(std::uint64_t));

/// A census while the device adds it up: `of[i]` is its i-th member.
template <class Census>
using Tally = dynasoar::program::Counts<kNumbersOf<Census>>;

/// @tparam Census   a struct whose members are all of type std::uint64_t
template <class Census>
class CensusHistory : public dynasoar::program::CountHistory<kNumbersOf<Census>> {
 public:
  /// Waits, and returns what was counted since the last call, oldest first.
  std::vector<Census> take(dynasoar::Executor& executor) {
    std::vector<Census> censuses;
    for (const Tally<Census>& tally : dynasoar::program::CountHistory<kNumbersOf<Census>>::take(executor)) {
      censuses.push_back(std::bit_cast<Census>(tally));
    }
    return censuses;
  }
};

}  // namespace app
