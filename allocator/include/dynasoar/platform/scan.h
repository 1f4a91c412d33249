/// @file
/// PrefixSums: computes for every element of an array the sum of the elements before it. Used by UniformGrid and sorts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Sums over arrays of one length.
///
/// @par Concurrency   stream-ordered, without waiting for the device; may be recorded
/// @par Cost          one kernel, or CUB's two kernels if there are more than 32768 numbers
class PrefixSums {
 public:
  /// @throws Error if there is not enough memory
  explicit PrefixSums(std::size_t count);

  /// sums[i] = numbers[0] + ... + numbers[i - 1], for all i. The arrays may not overlap.
  void run(Executor& executor, const std::uint32_t* numbers, std::uint32_t* sums);

  std::size_t bytes() const { return scratch_.bytes(); }

 private:
  std::size_t count_;
  DeviceArray<char> scratch_;          // on a GPU
  std::vector<std::uint32_t> before_;  // on a CPU: sum of the numbers before each part
};

}  // namespace dynasoar::detail
