/// @file
/// HeapGrowth: decides when a heap grows, and by how much. Used by AllocatorHandle.
///
/// The host does not wait for the amount of free memory. After a loop, device code counts the free pages and writes a
/// *report* to host memory. Before the next loop, the host reads the last report that has arrived. There is one report
/// at a time, and none once the heap cannot grow any more.
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

/// The state of HeapGrowth, for checkpoints.
struct GrowthNotes {
  std::uint64_t pages, free, promised_by_then;  ///< of the last report
  std::uint64_t promised, refused, answered, changes;
};

/// Lets a heap grow when necessary. Once the heap cannot grow any more, each call costs no more than a comparison.
class HeapGrowth {
 public:
  /// @pre both arguments outlive this object
  HeapGrowth(Executor& executor, HeapMemory& memory);

  /// Called before a loop: grows if less than a third of the pages is free, or if objects were refused, according to
  /// the last report. Does not wait.
  void before_loop();

  /// Called before loops ask for `needed` pages: grows so that they are free, if possible. Waits for the device only if
  /// less than a third of the pages would be left, according to the last report. While a step is recorded, only adds up
  /// these numbers. Does nothing if more than twice the limit is needed.
  void make_room(std::uint64_t needed);

  /// Called after a loop: requests a report, unless one is pending.
  void after_loop();

  /// The number of pages for loops that have been recorded since the last call.
  std::uint64_t take_recorded_pages();

  /// Makes `needed` pages free. Waits for the device. @return whether they are free. @throws Error if there is no
  /// memory
  bool reserve(std::uint64_t needed);

  /// Called after objects that take `needed` pages were refused: grows, unless it has done so since. Grows at most to
  /// twice its size if more than twice the limit is needed.
  /// @return whether there is room, at least for some objects
  /// @pre the device is idle
  bool answer_refusals(std::uint64_t needed);

  /// @pre the device is idle
  GrowthNotes notes();

  /// Restores the state. @pre the device is idle
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
  Room known_{};                     // from the last report
  Room requested_{};                 // when the pending report was requested
  bool is_requested_ = false;        // whether a report is pending
  std::uint32_t report_number_ = 0;  // of the last report that was requested
  std::uint64_t promised_ = 0;       // pages, since the start
  std::uint64_t recorded_ = 0;       // pages that the step being recorded asks for
  std::uint64_t refused_ = 0;        // objects, from the last report
  std::uint64_t answered_ = 0;       // number of these for which the heap has grown
  std::uint64_t changes_ = 0;        // changes of free pages at the last call of is_unchanged
  bool out_of_memory_ = false;
};

/// Replaces HeapGrowth for a heap that cannot grow.
struct NoGrowth {
  template <class Storage>
  NoGrowth(Executor&, Storage&) {}

  void before_loop() {}
  void make_room(std::uint64_t) {}
  void after_loop() {}
  std::uint64_t take_recorded_pages() { return 0; }
  bool answer_refusals(std::uint64_t) { return false; }
};

/// The type that lets the heap of allocator A grow.
template <class A>
using GrowthOf = std::conditional_t<A::Storage::kGrows, HeapGrowth, NoGrowth>;

}  // namespace dynasoar::detail
