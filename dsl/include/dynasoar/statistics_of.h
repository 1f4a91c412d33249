/// @file
/// statistics_of: gathers the Statistics of a heap. Used by AllocatorHandle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <dynasoar/allocator/refusal.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/statistics.h>
#include <dynasoar/type_name.h>

namespace dynasoar::detail {

/// The statistics of the heap of allocator A. Waits for the device. @throws Error if it failed
template <class A>
Statistics statistics_of(Executor& executor, const typename A::Storage& storage) {
  const std::vector<std::uint64_t> totals = storage.count_objects(executor);
  const std::vector<std::uint64_t> refusals = storage.refusals();
  const std::vector<std::uint64_t> created = storage.created();
  Statistics result;
  result.heap_bytes = storage.heap_bytes();
  result.heap_limit_bytes = storage.limit_bytes();
  result.growths = storage.growths();
  result.state_bytes = storage.state_bytes();
  result.page_bytes = storage.page_bytes();
  result.pages = storage.pages();
  result.free_pages = storage.count_free_pages();
  A::Types::for_each([&]<class T>(std::type_identity<T>) {
    constexpr auto type = static_cast<std::size_t>(A::template index_of<T>);
    const auto refused = [&](Refusal why) { return refusals[type * kRefusals + static_cast<std::size_t>(why)]; };
    TypeStatistics statistics;
    statistics.name = type_name<T>();
    statistics.objects = totals[2 * type];
    statistics.created = created[type];
    statistics.blocks = totals[2 * type + 1];
    statistics.slots = statistics.blocks * A::kSlotsPerBlock;
    statistics.block_bytes = A::template kBlockBytes<T>;
    statistics.refused_full = refused(Refusal::heap_full);
    statistics.refused_contended = refused(Refusal::contended);
    statistics.refused_on_request = refused(Refusal::on_request);
    statistics.refused_table = refused(Refusal::table_full);
    result.types.push_back(statistics);
  });
  return result;
}

}  // namespace dynasoar::detail
