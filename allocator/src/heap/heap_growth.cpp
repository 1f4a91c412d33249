#include <dynasoar/heap/heap_growth.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include <dynasoar/heap/refusal.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

/// Sums of a count in progress; initially zero.
struct RoomCounts {
  AtomicWord<std::uint64_t> free_pages;
  AtomicWord<std::uint32_t> tasks;  ///< number of finished tasks
};

/// Counts the free pages of a heap and the objects refused; the last task to finish writes both into the report.
struct CountRoom {
  AnyHeap::Bits free_pages;
  const AtomicWord<std::uint64_t>* refusals;  ///< [refusal_words(types)]
  std::uint32_t types;
  std::uint32_t tasks;
  std::uint32_t number;  ///< the number of this report
  RoomCounts* counts;
  volatile std::uint64_t* report;  ///< the refusals; then, in one word, the report's number and the free pages

  __device__ void operator()(std::size_t task) const {
    const std::uint32_t containers = free_pages.level_size(0);
    std::uint64_t found = 0;
    DYNASOAR_UNROLL(8)  // overlapping loads
    for (auto i = static_cast<std::uint32_t>(task); i < containers; i += tasks) {
      found += static_cast<std::uint64_t>(popcount(free_pages.container(0, i)));
    }
    if (found > 0) counts->free_pages.fetch_add(found, Order::relaxed);
    // acq_rel: the last task sees the sums of all others.
    if (counts->tasks.fetch_add(1, Order::acq_rel) + 1 != tasks) return;
    report[0] = refused();
    mail_fence();
    report[1] = std::uint64_t{number} << 32 | counts->free_pages.exchange(0, Order::relaxed);
    counts->tasks.store(0, Order::relaxed);
  }

  /// A number that changes whenever there was no room for objects: the number of refused objects, without those that
  /// were refused together (see refusal.h).
  __device__ std::uint64_t refused() const {
    std::uint64_t sum = 0;
    for (std::uint32_t type = 0; type < types; ++type) {
      sum += refusals[type * kRefusals + static_cast<int>(Refusal::heap_full)].load(Order::relaxed) +
             refusals[type * kRefusals + static_cast<int>(Refusal::contended)].load(Order::relaxed) +
             refusals[types * kRefusals + type].load(Order::relaxed);
    }
    return sum;
  }
};

HeapGrowth::HeapGrowth(Executor& executor, HeapMemory& memory)
    : executor_(executor), memory_(memory), counts_(sizeof(RoomCounts) / sizeof(std::uint64_t)), report_(2) {
  static_assert(sizeof(RoomCounts) % sizeof(std::uint64_t) == 0);
  counts_.fill_bytes(0);
  known_ = {memory_.pages(), memory_.pages(), 0};
}

void HeapGrowth::before_loop() {
  if (!can_grow() || executor_.is_recording()) return;
  read_report();
  if (is_plenty() && refused_ == answered_) return;
  if (try_to_grow(2 * memory_.pages())) answered_ = refused_;
}

void HeapGrowth::make_room(std::uint64_t needed) {
  if (!can_grow() || never_fits(needed)) return;
  if (executor_.is_recording()) {
    recorded_ += needed;
    return;
  }
  promised_ += needed;
  read_report();
  if (is_plenty()) return;
  measure();
  known_.promised = promised_ - needed;
  if (known_.free >= needed) return;
  try_to_grow(std::max(2 * memory_.pages(), memory_.pages() - known_.free + needed));
}

void HeapGrowth::after_loop() {
  if (!can_grow() || executor_.is_recording()) return;
  read_report();
  if (!is_requested_ && !is_unchanged()) request_report();
}

std::uint64_t HeapGrowth::take_recorded_pages() {
  return std::exchange(recorded_, 0);
}

bool HeapGrowth::reserve(std::uint64_t needed) {
  measure();
  if (known_.free >= needed) return true;
  const std::uint64_t target = memory_.pages() - known_.free + needed;
  if (target > memory_.limit_pages()) return false;
  grow_to(target);
  out_of_memory_ = false;
  return true;
}

bool HeapGrowth::answer_refusals(std::uint64_t needed) {
  if (needed == 0) return true;
  if (memory_.growths() == 0 && memory_.pages() == memory_.limit_pages()) return false;
  measure();
  out_of_memory_ = false;  // memory may have been freed meanwhile
  const bool is_new = refused_ != answered_;
  answered_ = refused_;
  if (!is_new && known_.free >= needed) return true;
  const std::uint64_t wanted = never_fits(needed) ? 0 : memory_.pages() - known_.free + needed;
  const bool has_grown = try_to_grow(std::max(2 * memory_.pages(), wanted));
  return has_grown || known_.free >= needed;
}

GrowthNotes HeapGrowth::notes() {
  read_report();
  return {known_.pages, known_.free, known_.promised, promised_, refused_, answered_, changes_};
}

void HeapGrowth::restore(const GrowthNotes& notes) {
  read_report();
  known_ = {notes.pages, notes.free, notes.promised_by_then};
  if (known_.pages > memory_.pages()) {  // pages that this heap does not have were free
    known_.free -= std::min(known_.free, known_.pages - memory_.pages());
    known_.pages = memory_.pages();
  }
  promised_ = notes.promised;
  refused_ = notes.refused;
  answered_ = notes.answered;
  changes_ = notes.changes;
  out_of_memory_ = false;
}

/// Whether a request needs much more than the limit of the heap. Growth for it would take all memory without success.
bool HeapGrowth::never_fits(std::uint64_t needed) const {
  return needed / 2 > memory_.limit_pages();
}

/// Whether reports are useful: the heap can grow, and memory is not known to be short.
bool HeapGrowth::can_grow() const {
  return !out_of_memory_ && memory_.pages() < memory_.limit_pages();
}

/// Whether a third of the pages is free according to the last report, without promised pages.
bool HeapGrowth::is_plenty() const {
  const std::uint64_t gained = known_.free + (memory_.pages() - known_.pages);
  const std::uint64_t promised = promised_ - known_.promised;
  return gained > promised && 3 * (gained - promised) >= memory_.pages();
}

CountRoom HeapGrowth::count_room() const {
  const auto& heap = memory_.heap();
  const std::uint32_t tasks = std::clamp(heap.free_pages.level_size(0) / kContainersPerTask, 1u, kMostCountingTasks);
  return {heap.free_pages, heap.refusals,  static_cast<std::uint32_t>(memory_.types()),
          tasks,           report_number_, reinterpret_cast<RoomCounts*>(counts_.data()),
          report_.data()};
}

/// Whether a new report would be the same as the last one. Only a host that runs the loops itself can know this.
bool HeapGrowth::is_unchanged() {
  if constexpr (!kCudaBackend) {
    const auto& heap = memory_.heap();
    const std::uint64_t changes = heap.pages_freed.read() + heap.pages_taken.read();
    return std::exchange(changes_, changes) == changes && count_room().refused() == refused_;
  } else {
    return false;
  }
}

void HeapGrowth::request_report() {
  ++report_number_;
  const CountRoom counting = count_room();
  executor_.for_each_index(counting.tasks, counting);
  requested_ = {memory_.pages(), 0, promised_};
  is_requested_ = true;
}

void HeapGrowth::read_report() {
  if (!is_requested_) return;
  const std::uint64_t word = report_[1];
  if (static_cast<std::uint32_t>(word >> 32) != report_number_) return;
  refused_ = report_[0];
  known_ = requested_;
  known_.free = word & 0xFFFFFFFFu;
  is_requested_ = false;
}

/// Waits for the device and makes `known_` exact.
void HeapGrowth::measure() {
  executor_.wait();
  request_report();
  executor_.wait();
  read_report();
}

/// Grows to `pages`, or as far as the limit and the memory allow. @return whether the heap has grown
bool HeapGrowth::try_to_grow(std::uint64_t pages) {
  const std::uint64_t now = memory_.pages();
  std::uint64_t step = std::min(pages, memory_.limit_pages()) - now;
  if (step == 0) return false;
  do {
    try {
      grow_to(now + step);
      return true;
    } catch (const Error&) {
      step /= 2;
    }
  } while (step > now / 16);
  out_of_memory_ = true;
  return false;
}

void HeapGrowth::grow_to(std::uint64_t pages) {
  memory_.grow_to(executor_, static_cast<std::uint32_t>(pages));
}

}  // namespace dynasoar::detail
