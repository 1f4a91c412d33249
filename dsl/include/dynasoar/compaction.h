/// @file
/// What AllocatorHandle::compact is told: CompactionOptions, and `pointers` for arrays of the program's own.
#pragma once

#include <cstddef>

namespace dynasoar {

/// When to compact.
struct CompactionOptions {
  double above = 0;  ///< only classes of which more than this fraction of the slots is free; 0 to 1

  /// @throws Error if `above` is not from 0 to 1
  void check() const;
};

/// Pointers to objects in an array of the program's own, for AllocatorHandle::compact. Made by `pointers`.
template <class U>
struct PointerArray {
  U** data;
  std::size_t size;
};

/// `size` pointers in device memory; null pointers are allowed.
template <class U>
PointerArray<U> pointers(U** data, std::size_t size) {
  return {data, size};
}

}  // namespace dynasoar
