/// @file
/// Which objects could not be created since the host last looked, and what to tell people about it. Used by
/// AllocatorHandle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator/heap_growth.h>
#include <dynasoar/allocator/refusal.h>
#include <dynasoar/statistics.h>
#include <dynasoar/type_name.h>

namespace dynasoar::detail {

/// Objects that could not be created.
struct Refused {
  std::uint64_t objects = 0;
  std::uint64_t pages = 0;  ///< that those take for which there was no memory
  std::string text;         ///< "Fish: make_new failed 3 times, heap full; Shark: ..."
};

/// Remembers which refusals have been reported.
///
/// @tparam A   the allocator
template <class A>
class RefusalLog {
 public:
  /// Those since the last call. @pre the device is idle
  Refused take(const typename A::Storage& storage) {
    const std::vector<std::uint64_t> refusals = storage.refusals();
    const std::vector<std::uint64_t> before = std::exchange(reported_, refusals);
    constexpr const char* kReasons[kRefusals] = {"heap full", "blocks kept changing hands",
                                                 "as asked for by failing_allocations",
                                                 "so many were created in one loop that the table of objects is full"};
    Refused refused;
    A::Types::for_each([&]<class T>(std::type_identity<T>) {
      constexpr auto type = static_cast<std::size_t>(A::template index_of<T>);
      for (std::size_t why = 0; why < kRefusals; ++why) {
        const std::uint64_t count = refusals[type * kRefusals + why] - before[type * kRefusals + why];
        if (count == 0) continue;
        refused.objects += count;
        if (static_cast<Refusal>(why) != Refusal::on_request)
          refused.pages += GrowthOf<A>::template pages_for<T>(count);
        refused.text += (refused.text.empty() ? "" : "; ") + std::string(type_name<T>()) + ": make_new failed " +
                        std::to_string(count) + " times, " + kReasons[why];
      }
    });
    return refused;
  }

 private:
  std::vector<std::uint64_t> reported_ = std::vector<std::uint64_t>(A::kTypes * kRefusals);
};

/// How large a heap is in which objects could not be created, and what to do about that.
/// @param grows      whether heaps of its allocator can grow
/// @param has_room   whether it has grown, so that there is room for them now
inline std::string heap_note(const Statistics& now, bool grows, bool has_room) {
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.1f", 100 * now.used());
  const std::string size = " (" + std::to_string(now.heap_bytes) + " bytes, " + percent + "% used)";
  if (!grows) return size + "; make the handle with more heap_bytes";
  if (now.growths == 0 && now.heap_bytes == now.heap_limit_bytes) {
    return size + "; make the handle with more heap_bytes, or without a size: then the heap grows";
  }
  if (has_room) return size + "; the heap has grown, and there is room for them now: try again";
  if (now.heap_bytes == now.heap_limit_bytes) {
    return size + "; that is the heap's limit: make the handle with a higher heap_limit_bytes, or delete objects";
  }
  return size + "; there is no memory left for the heap to grow: delete objects, or free memory elsewhere";
}

}  // namespace dynasoar::detail
