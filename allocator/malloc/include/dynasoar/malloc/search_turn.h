/// @file
/// SearchTurn: if several warps find the same memory used up, only one searches for more, and the others wait for its
/// result. Otherwise each would start to use separate memory. Used by XMalloc.
#pragma once

#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// The turn to search, and the number of failed searches.
///
/// @par Concurrency   no thread has to wait for the thread with the turn; callers wait for a bounded number of rounds
class SearchTurn {
 public:
  /// For `has_failed_since`.
  __device__ std::uint32_t now() const { return (word_.load(Order::relaxed) + 1) >> 1; }

  /// Whether a search has failed that began after `since` was now().
  __device__ bool has_failed_since(std::uint32_t since) const {
    return static_cast<std::int32_t>((word_.load(Order::relaxed) >> 1) - since) > 0;
  }

  /// Takes the turn if no thread has it. relaxed: the search orders the memory that it finds with its own words.
  __device__ bool try_begin() {
    std::uint32_t found = word_.load(Order::relaxed);
    return (found & 1) == 0 && word_.compare_exchange(found, found + 1, Order::relaxed);
  }

  /// Releases the turn. @pre the caller has it
  __device__ void end(bool found) { word_.fetch_add(found ? 0u - 1u : 1u, Order::relaxed); }

 private:
  AtomicWord<std::uint32_t> word_;  // twice the number of failed searches; odd while a thread searches
};

}  // namespace dynasoar::detail
