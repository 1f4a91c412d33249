/// @file
/// HeapSize: how large a heap is at first, and how large it may get. Used by AllocatorHandle to tell an allocator's
/// Storage.
#pragma once

#include <cstddef>
#include <optional>

namespace dynasoar::detail {

/// As in HandleOptions.
struct HeapSize {
  std::optional<std::size_t> bytes;
  std::optional<std::size_t> limit;

  static constexpr std::size_t kDefault = std::size_t{256} << 20;  ///< bytes at first if none are given
};

}  // namespace dynasoar::detail
