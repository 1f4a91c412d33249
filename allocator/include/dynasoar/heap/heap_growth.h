/// @file
/// HeapGrowth: when a heap grows, and by how much. Used by AllocatorHandle.
///
/// The host does not wait to find out how much room there is. After a loop, device code counts the free pages and
/// writes a *report* to host memory; before the next loop the host reads the last report that has arrived. There is one
/// report at a time, and none once the heap cannot grow any more.
#pragma once

#include <cstdint>
#include <type_traits>

#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Sums of a count in progress, see heap_growth.cpp.
struct RoomCounts;
struct CountRoom;

/// What HeapGrowth knows, for checkpoints.
struct GrowthNotes {
  std::uint64_t pages, free, promised_by_then;  ///< of the last report
  std::uint64_t promised, refused, answered, changes;
};

/// Lets a heap grow when it must. Nothing of this costs more than a comparison once the heap cannot grow any more.
class HeapGrowth {
 public:
  /// @pre both outlive this
  HeapGrowth(Executor& executor, HeapMemory& memory);

  /// Before a loop: grows if, by the last report, less than a third of the pages is free, or objects were refused.
  /// Does not wait.
  void before_loop();

  /// Before `needed` pages will be asked for: grows so that they are there, if it can. Waits for the device only if, by
  /// the last report, less than a third of the pages would be left. While a step is recorded, only adds them up. Does
  /// nothing if twice as many as the limit allows are needed.
  void make_room(std::uint64_t needed);

  /// After a loop: requests a report, unless one is on its way.
  void after_loop();

  /// Pages that the loops asked for that have been recorded since the last call.
  std::uint64_t take_recorded_pages();

  /// Makes `needed` pages free. Waits for the device. @return whether they are. @throws Error if there is no memory
  bool reserve(std::uint64_t needed);

  /// After objects that take `needed` pages were refused: grows, unless it has done so since; no further than to twice
  /// its size if twice as many as the limit allows are needed. @return whether there is room, for some at least. @pre
  /// the device is idle
  bool answer_refusals(std::uint64_t needed);

  /// @pre the device is idle
  GrowthNotes notes();

  /// Goes on from there. @pre the device is idle
  void restore(const GrowthNotes& notes);

 private:
  /// The room at one moment, and the number of pages that had been promised before.
  struct Room {
    std::uint64_t pages, free, promised;
  };

  bool can_grow() const;
  bool never_fits(std::uint64_t needed) const;
  bool is_plenty() const;
  CountRoom count_room() const;
  bool is_unchanged();
  void request_report();
  void read_report();
  void measure();
  bool try_to_grow(std::uint64_t pages);
  void grow_to(std::uint64_t pages);

  Executor& executor_;
  HeapMemory& memory_;
  DeviceArray<std::uint64_t> counts_;  // a RoomCounts
  MailedWords report_;
  Room known_{};                     // by the last report
  Room requested_{};                 // when the report on its way was requested
  bool is_requested_ = false;        // whether a report is on its way
  std::uint32_t report_number_ = 0;  // of the last report that was requested
  std::uint64_t promised_ = 0;       // pages, since the start
  std::uint64_t recorded_ = 0;       // pages that the step being recorded asks for
  std::uint64_t refused_ = 0;        // objects, by the last report
  std::uint64_t answered_ = 0;       // of these, how many the heap has grown for
  std::uint64_t changes_ = 0;        // of free pages, when is_unchanged last looked
  bool out_of_memory_ = false;
};

/// In the place of a HeapGrowth for a heap that cannot grow.
struct NoGrowth {
  template <class Storage>
  NoGrowth(Executor&, Storage&) {}

  void before_loop() {}
  void make_room(std::uint64_t) {}
  void after_loop() {}
  std::uint64_t take_recorded_pages() { return 0; }
  bool answer_refusals(std::uint64_t) { return false; }
};

/// What lets the heap of allocator A grow.
template <class A>
using GrowthOf = std::conditional_t<A::Storage::kGrows, HeapGrowth, NoGrowth>;

}  // namespace dynasoar::detail
