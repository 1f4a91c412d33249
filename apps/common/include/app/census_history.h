/// @file
/// CensusHistory: the numbers of the last steps, counted on the device, as the model names them; censuses_of: those of
/// a StepLog. Used by the implementations of the models for record() and take_history().
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/count_history.h>
#include <app/simulation.h>

namespace app {

/// The number of members of a census.
template <class Census>
inline constexpr int kNumbersOf = static_cast<int>(sizeof(Census) / sizeof(std::uint64_t));

/// A census while the device adds it up: `of[i]` is its i-th member.
template <class Census>
using Tally = Counts<kNumbersOf<Census>>;

/// @tparam Census   a struct whose members are all of type std::uint64_t
template <class Census>
class CensusHistory : public CountHistory<kNumbersOf<Census>> {
 public:
  /// Waits, and returns the censuses since the last call, oldest first.
  std::vector<Census> take(dynasoar::Executor& executor) {
    std::vector<Census> censuses;
    for (const Tally<Census>& tally : CountHistory<kNumbersOf<Census>>::take(executor)) {
      censuses.push_back(std::bit_cast<Census>(tally));
    }
    return censuses;
  }
};

/// Converts rows of a log to censuses. The columns of the log are the members of a census.
template <class Census>
std::vector<Census> censuses_of(const std::vector<Row>& rows) {
  std::vector<Census> censuses;
  for (const Row& row : rows) {
    Tally<Census> tally;
    for (int i = 0; i < kNumbersOf<Census>; ++i)
      tally.of[i] = static_cast<std::uint64_t>(row[static_cast<std::size_t>(i)]);
    censuses.push_back(std::bit_cast<Census>(tally));
  }
  return censuses;
}

}  // namespace app
