/// @file
/// HeapSize: the initial size and the limit of a heap. AllocatorHandle passes it to an allocator's Storage.
#pragma once

#include <cstddef>
#include <optional>

namespace dynasoar::detail {

/// As in HandleOptions.
struct HeapSize {
  std::optional<std::size_t> bytes;
  std::optional<std::size_t> limit;

  static constexpr std::size_t kDefault = std::size_t{256} << 20;  ///< initial bytes if no size is given
};

}  // namespace dynasoar::detail
