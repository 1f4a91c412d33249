/// @file
/// SearchTurn: of the warps that all find the same thing used up, one searches for more, and the others see what comes
/// of it. Without it, each would start to use up memory of its own. Used by XMalloc.
#pragma once

#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Whose turn it is to search, and how many searches have failed.
///
/// @par Concurrency   nobody has to wait for whoever has the turn: callers do so for a bounded number of looks
class SearchTurn {
 public:
  /// For `has_failed_since`.
  __device__ std::uint32_t now() const { return (word_.load(Order::relaxed) + 1) >> 1; }

  /// Whether a search has failed that began after `since` was now().
  __device__ bool has_failed_since(std::uint32_t since) const {
    return static_cast<std::int32_t>((word_.load(Order::relaxed) >> 1) - since) > 0;
  }

  /// Takes the turn if nobody has it. Who searches finds memory through words of its own, which order it.
  __device__ bool try_begin() {
    std::uint32_t found = word_.load(Order::relaxed);
    return (found & 1) == 0 && word_.compare_exchange(found, found + 1, Order::relaxed);
  }

  /// Gives the turn back. @pre it is the caller's
  __device__ void end(bool found) { word_.fetch_add(found ? 0u - 1u : 1u, Order::relaxed); }

 private:
  AtomicWord<std::uint32_t> word_;  // twice the failed searches; odd while somebody searches
};

}  // namespace dynasoar::detail
