/// @file
/// KeySort: sorts numbers by small keys. Used by hand-written versions of models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Stable sorts of `count` keys below `keys`, with the numbers 0, 1, 2, ...: CUB's radix sort over as many bits as the
/// keys need, or a counting sort, which each thread of a CPU does for a part of them.
///
/// @par Concurrency   stream-ordered, without waiting for the device; may be recorded
class KeySort {
 public:
  /// @throws Error if there is not enough memory
  KeySort(std::uint32_t count, std::uint32_t keys);

  /// Sorts `keys` with `numbers`, which are 0, 1, 2, ..., into `sorted_keys` and `order`. All are in device memory and
  /// do not overlap.
  void run(Executor& executor, const std::uint32_t* keys, const std::uint32_t* numbers, std::uint32_t* sorted_keys,
           std::uint32_t* order);

 private:
  std::size_t count_;
  std::size_t keys_;
  DeviceArray<char> scratch_;          // on a GPU
  std::vector<std::uint32_t> places_;  // on a CPU, by part and key: first how many, then where the next one goes
};

}  // namespace dynasoar::detail
