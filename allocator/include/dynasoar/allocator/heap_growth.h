/// @file
/// HeapGrowth: when a heap grows, and by how much. Used by AllocatorHandle.
///
/// The host need not wait to know how much room there is: after a loop, device code counts the free pages and mails the
/// number, and the host looks at the last one that arrived before it submits the next loop. A heap that cannot grow any
/// more is not asked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <dynasoar/allocator/refusal.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Sums of a count in progress; zero at first.
struct RoomCounts {
  AtomicWord<std::uint64_t> free_pages;
  AtomicWord<std::uint32_t> tasks;  ///< that are done
};

/// Counts the free pages of a heap and the objects refused; the last one to finish mails both.
template <class Heap>
struct MailRoom {
  typename Heap::Bits free_pages;
  const AtomicWord<std::uint64_t>* refusals;  ///< [types * kRefusals]
  std::uint32_t types;
  std::uint32_t tasks;
  std::uint32_t number;  ///< of this letter
  RoomCounts* counts;
  volatile std::uint64_t* mail;  ///< refusals; then, together, the letter's number and the free pages

  __device__ void operator()(std::size_t task) const {
    const std::uint32_t containers = free_pages.level_size(0);
    std::uint64_t found = 0;
#if defined(__CUDA_ARCH__)
#pragma unroll 8  // loads that are under way at once
#endif
    for (auto i = static_cast<std::uint32_t>(task); i < containers; i += tasks) {
      found += static_cast<std::uint64_t>(popcount(free_pages.container(0, i)));
    }
    if (found > 0) counts->free_pages.fetch_add(found, Order::relaxed);
    // acq_rel: the last one sees what all others have added.
    if (counts->tasks.fetch_add(1, Order::acq_rel) + 1 != tasks) return;
    mail[0] = refused();
    mail_fence();
    mail[1] = std::uint64_t{number} << 32 | counts->free_pages.exchange(0, Order::relaxed);
    counts->tasks.store(0, Order::relaxed);
  }

  /// Objects for which there was no room.
  __device__ std::uint64_t refused() const {
    std::uint64_t sum = 0;
    for (std::uint32_t type = 0; type < types; ++type) {
      sum += refusals[type * kRefusals + static_cast<int>(Refusal::heap_full)].load(Order::relaxed) +
             refusals[type * kRefusals + static_cast<int>(Refusal::contended)].load(Order::relaxed);
    }
    return sum;
  }
};

/// What HeapGrowth knows, for checkpoints.
struct GrowthNotes {
  std::uint64_t pages, free, promised_by_then;  ///< of the last letter
  std::uint64_t promised, refused, answered, changes;
};

/// Lets a heap grow when it must. Nothing of this costs more than a comparison once the heap cannot grow any more.
///
/// @tparam Storage   a HeapStorage
template <class Storage>
class HeapGrowth {
 public:
  /// Pages that so many objects of T take, and some more, because warps fill blocks of their own.
  template <class T>
  static std::uint64_t pages_for(std::size_t objects) {
    constexpr std::size_t kMost = std::size_t{1} << 40;
    const std::size_t pages = Storage::template bytes_for<T>(std::min(objects, kMost)) / Storage::page_bytes();
    return pages + pages / 8 + 1;
  }

  /// @pre both outlive this
  HeapGrowth(Executor& executor, Storage& storage) : executor_(executor), storage_(storage), counts_(1), mail_(2) {
    counts_.fill_bytes(0);
    known_ = {storage.pages(), storage.pages(), 0};
  }

  /// Before a loop: grows if, by the last letter, less than a third of the pages is free, or something was refused.
  /// Does not wait.
  void before_loop() {
    if (!can_grow() || executor_.is_recording()) return;
    open_mail();
    if (is_plenty() && refused_ == answered_) return;
    if (try_to_grow(2 * storage_.pages())) answered_ = refused_;
  }

  /// Before `needed` pages will be asked for: grows so that they are there, if it can. Waits for the device only if, by
  /// the last letter, less than a third of the pages would be left. While a step is recorded, only adds them up.
  void make_room(std::uint64_t needed) {
    if (!can_grow()) return;
    if (executor_.is_recording()) {
      recorded_ += needed;
      return;
    }
    promised_ += needed;
    open_mail();
    if (is_plenty()) return;
    measure();
    known_.promised = promised_ - needed;
    if (known_.free >= needed) return;
    try_to_grow(std::max(2 * storage_.pages(), storage_.pages() - known_.free + needed));
  }

  /// After a loop: asks for a letter, unless one is on its way.
  void after_loop() {
    if (!can_grow() || executor_.is_recording()) return;
    open_mail();
    if (!is_asked_ && !has_no_news()) send_for_letter();
  }

  /// Pages that the loops asked for that have been recorded since the last call.
  std::uint64_t take_recorded_pages() { return std::exchange(recorded_, 0); }

  /// Makes `needed` pages free. Waits for the device. @return whether they are. @throws Error if there is no memory
  bool reserve(std::uint64_t needed) {
    measure();
    if (known_.free >= needed) return true;
    const std::uint64_t target = storage_.pages() - known_.free + needed;
    if (target > storage_.limit_pages()) return false;
    grow_to(target);
    out_of_memory_ = false;
    return true;
  }

  /// After objects that take `needed` pages were refused: grows, unless it has done so since. @return whether there is
  /// room for them. @pre the device is idle
  bool answer_refusals(std::uint64_t needed) {
    if (needed == 0) return true;
    if (storage_.growths() == 0 && storage_.pages() == storage_.limit_pages()) return false;
    measure();
    out_of_memory_ = false;  // somebody may have freed some
    const bool is_new = refused_ != answered_;
    answered_ = refused_;
    if (!is_new && known_.free >= needed) return true;
    const bool has_grown = try_to_grow(std::max(2 * storage_.pages(), storage_.pages() - known_.free + needed));
    return has_grown || known_.free >= needed;
  }

  /// @pre the device is idle
  GrowthNotes notes() {
    open_mail();
    return {known_.pages, known_.free, known_.promised, promised_, refused_, answered_, changes_};
  }

  /// Goes on from there. @pre the device is idle
  void restore(const GrowthNotes& notes) {
    open_mail();
    known_ = {notes.pages, notes.free, notes.promised_by_then};
    if (known_.pages > storage_.pages()) {  // those that this heap does not have were free
      known_.free -= std::min(known_.free, known_.pages - storage_.pages());
      known_.pages = storage_.pages();
    }
    promised_ = notes.promised;
    refused_ = notes.refused;
    answered_ = notes.answered;
    changes_ = notes.changes;
    out_of_memory_ = false;
  }

 private:
  /// The room at one moment, and the number of pages that had been promised before.
  struct Room {
    std::uint64_t pages, free, promised;
  };

  // Containers for a task to look at. On a GPU it takes many threads, and their sums meet in one word.
  static constexpr std::uint32_t kContainersPerTask = kCudaBackend ? 16 : 4096;
  static constexpr std::uint32_t kMostTasks = kCudaBackend ? 8192 : 16;

  /// Whether the heap is worth watching: it can grow, and there is memory as far as is known.
  bool can_grow() const { return !out_of_memory_ && storage_.pages() < storage_.limit_pages(); }

  /// Whether a third of the pages is free, as far as is known, what is promised left out.
  bool is_plenty() const {
    const std::uint64_t gained = known_.free + (storage_.pages() - known_.pages);
    const std::uint64_t promised = promised_ - known_.promised;
    return gained > promised && 3 * (gained - promised) >= storage_.pages();
  }

  using Letter = MailRoom<typename Storage::Heap>;

  Letter letter() const {
    const auto& heap = storage_.state().heap;
    const std::uint32_t tasks = std::clamp(heap.free_pages.level_size(0) / kContainersPerTask, 1u, kMostTasks);
    return {heap.free_pages, heap.refusals, Storage::kTypes, tasks, number_, counts_.data(), mail_.data()};
  }

  /// Whether a letter would say what the last one said. The host can see it; where loops run elsewhere it does not
  /// look.
  bool has_no_news() {
    if constexpr (!kCudaBackend) {
      const std::uint64_t changes = storage_.state().heap.changes.read().count;
      return std::exchange(changes_, changes) == changes && letter().refused() == refused_;
    } else {
      return false;
    }
  }

  void send_for_letter() {
    ++number_;
    const Letter question = letter();
    executor_.for_each_index(question.tasks, question);
    asked_ = {storage_.pages(), 0, promised_};
    is_asked_ = true;
  }

  void open_mail() {
    if (!is_asked_) return;
    const std::uint64_t letter = mail_[1];
    if (static_cast<std::uint32_t>(letter >> 32) != number_) return;
    refused_ = mail_[0];
    known_ = asked_;
    known_.free = letter & 0xFFFFFFFFu;
    is_asked_ = false;
  }

  /// Finds out how it is now.
  void measure() {
    executor_.wait();
    send_for_letter();
    executor_.wait();
    open_mail();
  }

  /// Grows to `pages`, or as far as the limit and the memory let it. @return whether it did
  bool try_to_grow(std::uint64_t pages) {
    const std::uint64_t now = storage_.pages();
    std::uint64_t step = std::min(pages, storage_.limit_pages()) - now;
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

  void grow_to(std::uint64_t pages) { storage_.grow_to(executor_, static_cast<std::uint32_t>(pages)); }

  Executor& executor_;
  Storage& storage_;
  DeviceArray<RoomCounts> counts_;
  MailedWords mail_;
  Room known_{};                // of the last letter
  Room asked_{};                // of the one on its way
  bool is_asked_ = false;       // whether there is one
  std::uint32_t number_ = 0;    // of the last one asked for
  std::uint64_t promised_ = 0;  // pages, since the start
  std::uint64_t recorded_ = 0;  // pages that the step being recorded asks for
  std::uint64_t refused_ = 0;   // objects, by the last letter
  std::uint64_t answered_ = 0;  // of these, how many the heap has grown for
  std::uint64_t changes_ = 0;   // of blocks, when news was last looked for
  bool out_of_memory_ = false;
};

/// In the place of a HeapGrowth for a heap that cannot grow.
struct NoGrowth {
  template <class Storage>
  NoGrowth(Executor&, Storage&) {}

  template <class T>
  static std::uint64_t pages_for(std::size_t) {
    return 0;
  }
  void before_loop() {}
  void make_room(std::uint64_t) {}
  void after_loop() {}
  std::uint64_t take_recorded_pages() { return 0; }
  bool answer_refusals(std::uint64_t) { return false; }
};

/// What lets the heap of allocator A grow.
template <class A>
using GrowthOf = std::conditional_t<A::Storage::kGrows, HeapGrowth<typename A::Storage>, NoGrowth>;

}  // namespace dynasoar::detail
