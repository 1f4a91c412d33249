/// @file
/// sort_pairs: sorts numbers by keys of 32 or 64 bits. Used by sort.cpp of the heap. KeySort: sorts numbers by small
/// keys. Used by baselines of models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Keys with their numbers, in device memory, and a second pair of arrays: a sort copies back and forth between them.
///
/// @tparam Key   std::uint32_t or std::uint64_t
template <class Key>
struct KeyedNumbers {
  Key* keys[2];
  std::uint32_t* numbers[2];
};

/// The bytes of scratch memory that sort_pairs needs for `count` numbers; 0 on a CPU.
template <class Key>
std::size_t sort_scratch_bytes(std::size_t count);

/// Sorts `count` numbers by the lowest `bits` bits of their keys. Numbers with equal keys keep their order. Uses CUB's
/// radix sort or, on a CPU, a counting sort for every eight bits. The result does not depend on the number of threads.
///
/// @param pairs     the keys and numbers are in `keys[0]` and `numbers[0]`
/// @param scratch   memory of sort_scratch_bytes(count) bytes
/// @return   the index of the arrays that have the result: 0 or 1
/// @par Concurrency   stream-ordered, without waiting for the device
template <class Key>
int sort_pairs(Executor& executor, const KeyedNumbers<Key>& pairs, std::size_t count, int bits, void* scratch,
               std::size_t scratch_bytes);

/// Stable sorts of `count` keys below `keys`, with the numbers 0, 1, 2, ... Uses CUB's radix sort over the bits of the
/// keys or, on a CPU, a counting sort in which each thread handles a part of the keys.
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
  std::vector<std::uint32_t> places_;  // on a CPU, by part and key: first counts, then places
};

}  // namespace dynasoar::detail
