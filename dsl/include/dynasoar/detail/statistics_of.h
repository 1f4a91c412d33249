/// @file
/// statistics_of: gathers the Statistics of a heap. Used by AllocatorHandle.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/statistics.h>

namespace dynasoar::detail {

/// @param totals     live objects and blocks, two numbers per class
/// @param refusals   see refused_objects
/// @param created    a number per class
std::vector<TypeStatistics> type_statistics(const ClassTable& classes, const std::vector<std::uint64_t>& totals,
                                            const std::vector<std::uint64_t>& refusals,
                                            const std::vector<std::uint64_t>& created);

/// What is known of the objects in a storage. Waits for the device.
template <class Storage>
Statistics gather_statistics(Executor& executor, const ClassTable& classes, const Storage& storage) {
  const std::vector<std::uint64_t> totals = storage.count_objects(executor);
  Statistics result;
  result.types = type_statistics(classes, totals, storage.refusals(), storage.created());
  result.heap_bytes = storage.heap_bytes();
  result.heap_limit_bytes = storage.limit_bytes();
  result.growths = storage.growths();
  result.state_bytes = storage.state_bytes();
  result.page_bytes = storage.page_bytes();
  result.pages = storage.pages();
  result.free_pages = storage.count_free_pages();
  return result;
}

/// The statistics of a heap. Waits for the device. @throws Error if it failed
Statistics statistics_of(Executor& executor, const ClassTable& classes, const HeapMemory& memory);
template <class Storage>
requires(!std::is_base_of_v<HeapMemory, Storage>) Statistics
    statistics_of(Executor& executor, const ClassTable& classes, const Storage& storage) {
  return gather_statistics(executor, classes, storage);
}

}  // namespace dynasoar::detail
