/// @file
/// LoopReports: reports problems of loops that have finished: misuse, objects that could not be created, and problems
/// of attachments. Part of AllocatorHandle.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

#include <dynasoar/checks/misuse.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/attachment.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/heap/heap_growth.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/statistics.h>

namespace dynasoar::detail {

/// Throws the misuse that was found, if any. The message names the class or field, the operation, the object, and the
/// object that did it.
/// @param reports   without texts
/// @throws MisuseError
void throw_misuse(const ClassTable& classes, std::vector<MisuseReport> reports);

/// Objects that could not be created.
struct Refused {
  std::uint64_t objects = 0;
  std::uint64_t pages = 0;  ///< pages for the objects for which there was no memory
  std::string text;         ///< "Fish: make_new failed 3 times, heap full; Shark: ..."
};

/// Remembers which refusals have been reported.
class RefusalLog {
 public:
  /// Returns the refusals since the last call. @param refusals   those since the start, see refused_objects
  Refused take(const ClassTable& classes, const std::vector<std::uint64_t>& refusals);

 private:
  std::vector<std::uint64_t> reported_;
};

/// The error for objects that could not be created. The message states the size of the heap, and what to do about it.
/// @param grows      whether heaps of its allocator can grow
/// @param has_room   whether the heap has grown, so that there is room for the objects now
AllocationError allocation_error(const Refused& refused, const Statistics& now, bool grows, bool has_room);

/// @param totals     live objects and blocks, two numbers per class
/// @param refusals   see refused_objects
/// @param created    objects created since the start, one number per class
std::vector<TypeStatistics> type_statistics(const ClassTable& classes, const std::vector<std::uint64_t>& totals,
                                            const std::vector<std::uint64_t>& refusals,
                                            const std::vector<std::uint64_t>& created);

/// The statistics of the objects in a storage. Waits for the device.
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

/// Waits for loops, and throws their problems as exceptions.
///
/// @tparam Memory   a HeapMemory, for which this class is compiled once, in the library; or an AosStorage
/// @tparam Growth   a HeapGrowth or NoGrowth
template <class Memory, class Growth>
class LoopReports {
 public:
  /// @pre all arguments outlive this object
  LoopReports(Executor& executor, const ClassTable& classes, Memory& memory, Growth& growth, OnRefusal on_refusal)
      : executor_(executor), classes_(classes), memory_(memory), growth_(growth), on_refusal_(on_refusal) {}

  /// See AllocatorHandle.
  void synchronize();
  bool retry_with_growth();
  Statistics statistics();

  /// Called when the handle is destroyed: discards errors, but prints misuse.
  void finish() noexcept;

  /// Called after a checkpoint was loaded: forgets all earlier problems, and notifies attachments. @pre the device is
  /// idle
  void restart();

  Attachments& attachments() { return attachments_; }
  const Attachments& attachments() const { return attachments_; }

 private:
  /// Waits, and throws if there was misuse. @return the objects that could not be created since the last call
  Refused take_refused();

  AllocationError error_for(const Refused& refused, bool has_room) {
    return allocation_error(refused, statistics(), Memory::kGrows, has_room);
  }

  Executor& executor_;
  const ClassTable& classes_;
  Memory& memory_;
  Growth& growth_;
  OnRefusal on_refusal_;
  RefusalLog refusals_;
  Attachments attachments_;
};

template <class Memory, class Growth>
Refused LoopReports<Memory, Growth>::take_refused() {
  executor_.synchronize();
  throw_misuse(classes_, memory_.take_misuse());
  return refusals_.take(classes_, memory_.refusals());
}

template <class Memory, class Growth>
void LoopReports<Memory, Growth>::synchronize() {
  const Refused refused = take_refused();
  if (refused.objects > 0) {
    const bool has_room = growth_.answer_refusals(refused.pages);
    if (on_refusal_ == OnRefusal::throw_error) throw error_for(refused, has_room);
  }
  const Shortage shortage = attachments_.loops_done();
  const bool throws = shortage.is_mistake || on_refusal_ == OnRefusal::throw_error;
  if (!shortage.text.empty() && throws) throw Error(shortage.text);
}

template <class Memory, class Growth>
bool LoopReports<Memory, Growth>::retry_with_growth() {
  const Refused refused = take_refused();
  if (refused.objects > 0 && !growth_.answer_refusals(refused.pages)) throw error_for(refused, false);
  const Shortage shortage = attachments_.loops_done();
  if (!shortage.has_room) throw Error(shortage.text);
  return !shortage.text.empty() || refused.objects > 0;
}

template <class Memory, class Growth>
Statistics LoopReports<Memory, Growth>::statistics() {
  executor_.check_may_wait();
  return statistics_of(executor_, classes_, memory_);
}

template <class Memory, class Growth>
void LoopReports<Memory, Growth>::finish() noexcept {
  try {
    executor_.synchronize();
    throw_misuse(classes_, memory_.take_misuse());
  } catch (const MisuseError& error) {
    std::fprintf(stderr, "dynasoar: found when the AllocatorHandle was destroyed: %s\n", error.what());
  } catch (const Error&) {
  }
}

template <class Memory, class Growth>
void LoopReports<Memory, Growth>::restart() {
  static_cast<void>(memory_.take_misuse());
  static_cast<void>(refusals_.take(classes_, memory_.refusals()));
  attachments_.objects_replaced();
}

extern template class LoopReports<HeapMemory, HeapGrowth>;

}  // namespace dynasoar::detail
