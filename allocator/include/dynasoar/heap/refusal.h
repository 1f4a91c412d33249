/// @file
/// Refusal: the reason why an object could not be created. Allocators count refusals; AllocatorHandle reports them as
/// AllocationError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/base/capped.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

enum class Refusal : int {
  heap_full,   ///< there was no memory: in a SoaAllocator, at one moment no page was free, no block of the type empty,
               ///< and every slot of its open blocks taken
  contended,   ///< in all rounds of the request, other requests took the slots that it found
  on_request,  ///< fault injection, in checked builds
  table_full   ///< an AosAllocator's table of objects had no room, because one loop created too many
};
inline constexpr int kRefusals = 4;

/// At least one `make_new` since the last `synchronize()` returned nullptr.
class AllocationError : public Error {
 public:
  AllocationError(const std::string& message, std::uint64_t failures) : Error(message), failures_(failures) {}

  /// Number of objects that were not created.
  std::uint64_t failures() const { return failures_; }

 private:
  std::uint64_t failures_;
};

namespace detail {

/// Number of words that count the refusals of `types` types: kRefusals per type, then one more per type. The latter
/// counts objects that were refused together because the heap is full, in units of 2^32, so that nothing overflows.
constexpr std::size_t refusal_words(std::size_t types) {
  return types * (kRefusals + 1);
}

/// Counts objects as refused because the heap is full. @param words   [refusal_words(types)]
__device__ inline void refuse_together(AtomicWord<std::uint64_t>* words, int types, int type, std::uint64_t objects) {
  constexpr std::uint64_t kUnit = std::uint64_t{1} << 32;
  // relaxed: counts, read when the device is idle.
  if (objects % kUnit != 0) {
    words[type * kRefusals + static_cast<int>(Refusal::heap_full)].add(objects % kUnit, Order::relaxed);
  }
  if (objects >= kUnit) words[types * kRefusals + type].add(objects / kUnit, Order::relaxed);
}

/// The number of objects of a type refused for one reason; the greatest number if there were more.
inline std::uint64_t refused_objects(const std::vector<std::uint64_t>& words, std::size_t type, Refusal why) {
  const std::uint64_t single = words[type * kRefusals + static_cast<std::size_t>(why)];
  if (why != Refusal::heap_full) return single;
  const std::size_t types = words.size() / refusal_words(1);
  const std::uint64_t units = words[types * kRefusals + type];
  return capped_sum(capped_product(units, std::uint64_t{1} << 32), single);
}

}  // namespace detail

}  // namespace dynasoar
