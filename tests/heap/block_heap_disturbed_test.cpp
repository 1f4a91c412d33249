// The block heap with tiny blocks and with atomics that let others run in between: other threads, at random, which on a
// few processors reaches interleavings that full-size heaps at full speed hardly ever show; or one other request, at a
// place that the test names. A program of its own, on the host only.
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/heap/block_heap.h>

#include "../platform/test_support.h"
#include "heap_check.h"
#include "tiny_heap.h"

namespace block_heap_disturbed_test {

using namespace dynasoar;
using namespace dynasoar::test;

inline thread_local Random disturbance{1};

inline void disturb() {
  if (disturbance.below(10) == 0) std::this_thread::yield();
}

/// Atomics policy: the platform's, but every operation may first let another thread run.
struct DisturbedAtomics : PlatformAtomics {
  template <class T>
  class word {
   public:
    T load(Order order) const { return disturb(), word_.load(order); }
    void store(T value, Order order) { disturb(), word_.store(value, order); }
    T exchange(T value, Order order) { return disturb(), word_.exchange(value, order); }
    T fetch_or(T value, Order order) { return disturb(), word_.fetch_or(value, order); }
    T fetch_and(T value, Order order) { return disturb(), word_.fetch_and(value, order); }
    T fetch_add(T value, Order order) { return disturb(), word_.fetch_add(value, order); }
    void add(T value, Order order) { disturb(), word_.add(value, order); }
    bool compare_exchange(T& expected, T desired, Order order) {
      return disturb(), word_.compare_exchange(expected, desired, order);
    }

   private:
    AtomicWord<T> word_;
  };
  static constexpr std::size_t kLineBytes = 0;
  static constexpr bool kReadsAhead = true;
};
static_assert(dynasoar::AtomicsPolicy<DisturbedAtomics>);

/// Runs once: after the next operation of that name, before its caller goes on.
struct Interruption {
  std::string operation;
  std::function<void()> run;
  static void after(const char* operation) {
    if (next.empty() || next.front().operation != operation) return;
    const auto run = next.front().run;
    next.pop_front();
    std::deque<Interruption> later;
    next.swap(later);  // what is run here is not interrupted, unless it asks to be
    run();
    next.swap(later);
  }
  inline static std::deque<Interruption> next;
};

/// Atomics policy: the platform's, for one thread, with interruptions. Slot bitmaps are known by the orders that only
/// they are changed with, what lists a closed block as the first fetch_or after the closer's fence.
struct ScriptedAtomics : PlatformAtomics {
  template <class T>
  class word : public AtomicWord<T> {
   public:
    T fetch_or(T value, Order order) {
      const T before = AtomicWord<T>::fetch_or(value, order);
      if (sizeof(T) == 8 && order == Order::acquire) Interruption::after("take slots");
      if (closing) closing = false, Interruption::after("list a closed block or page");
      return before;
    }
    void store(T value, Order order) {
      AtomicWord<T>::store(value, order);
      if (sizeof(T) == 8 && order == Order::relaxed) Interruption::after("open a block");
    }
    T fetch_and(T value, Order order) {
      const T before = AtomicWord<T>::fetch_and(value, order);
      if (sizeof(T) == 8 && order == Order::release) Interruption::after("give slots back");
      return before;
    }
  };
  static void fence(Order order) { closing = order == Order::acq_rel; }
  inline static bool closing = false;  ///< a closer is about to list the block, or its page
  static constexpr std::size_t kLineBytes = 0;
  static constexpr Order kFenced = Order::relaxed;
  static constexpr Order kFencedLater = Order::relaxed;
  static constexpr Order kFencedBoth = Order::relaxed;
  static constexpr int kPatience = 4;
  static void pause(int = 0) { Interruption::after("wait"); }
};
static_assert(dynasoar::AtomicsPolicy<ScriptedAtomics>);

/// How the workers of one run behave.
struct Load {
  int workers;
  std::uint32_t most;        ///< slots that a worker may own
  std::uint32_t want;        ///< slots that it asks for at a time, at most
  std::uint32_t operations;  ///< of all workers together
};

struct Outcome {
  std::uint64_t created = 0, refused_full = 0, refused_contended = 0, taken_twice = 0, not_mine = 0, wrong_type = 0;
};

/// Workers reserve and release at random, with a table of owners. @return what happened; nothing is left reserved
template <int kTypes, int kSlots, int kContainerBits>
Outcome run(const TinyHeap<kTypes, kSlots, kContainerBits, DisturbedAtomics>& tiny, const Load& load,
            std::uint64_t seed) {
  const auto& heap = tiny.heap();
  std::vector<std::atomic<int>> owner(std::size_t{heap.blocks()} * kSlots);
  std::vector<Outcome> outcomes(static_cast<std::size_t>(load.workers));
  const auto work = [&](int worker) {
    Random random = Random::of(seed, static_cast<std::uint64_t>(worker));
    disturbance = Random::of(seed + 1, static_cast<std::uint64_t>(worker));
    Outcome& outcome = outcomes[static_cast<std::size_t>(worker)];
    const auto warp_id = static_cast<std::uint32_t>(worker);
    std::vector<Reservation> mine;
    std::uint32_t slots = 0;
    const auto release = [&](std::size_t which) {
      const Reservation reservation = mine[which];
      mine[which] = mine.back();
      mine.pop_back();
      for (std::uint64_t left = reservation.slots; left != 0; left &= left - 1) {
        const int slot = std::countr_zero(left);
        outcome.not_mine += owner[reservation.block * kSlots + static_cast<std::size_t>(slot)].exchange(
                                0, std::memory_order_relaxed) != worker + 1;
        --slots;
      }
      dynasoar::test::release(heap, reservation.block, reservation.slots, warp_id);
    };
    for (std::uint32_t i = 0; i < load.operations / static_cast<std::uint32_t>(load.workers); ++i) {
      const std::uint32_t want = 1 + random.below(load.want);
      if (slots + want <= load.most && random.below(2) == 0) {
        const int type = static_cast<int>(random.below(kTypes));
        const Reservation got = heap.allocate(type, static_cast<int>(want), warp_id);
        if (got.slots == 0) {
          ++(got.refusal == dynasoar::Refusal::heap_full ? outcome.refused_full : outcome.refused_contended);
          continue;
        }
        ++outcome.created;
        outcome.wrong_type += heap.type_of(got.block) != type || std::popcount(got.slots) > static_cast<int>(want) ||
                              (got.slots & ~heap.kAllSlots) != 0;
        for (std::uint64_t left = got.slots; left != 0; left &= left - 1) {
          const int slot = std::countr_zero(left);
          outcome.taken_twice += owner[got.block * kSlots + static_cast<std::size_t>(slot)].exchange(
                                     worker + 1, std::memory_order_relaxed) != 0;
          ++slots;
        }
        mine.push_back(got);
      } else if (!mine.empty()) {
        release(random.below(static_cast<std::uint32_t>(mine.size())));
      }
    }
    while (!mine.empty()) release(0);
  };
  {
    std::vector<std::jthread> team;
    for (int worker = 0; worker < load.workers; ++worker) team.emplace_back(work, worker);
  }
  Outcome sum;
  for (const Outcome& outcome : outcomes) {
    sum.created += outcome.created;
    sum.refused_full += outcome.refused_full;
    sum.refused_contended += outcome.refused_contended;
    sum.taken_twice += outcome.taken_twice;
    sum.not_mine += outcome.not_mine;
    sum.wrong_type += outcome.wrong_type;
  }
  return sum;
}

/// Checks a heap that no thread is changing, and the number of its free pages.
template <class Heap>
void check_at_rest(const Heap& heap, std::uint64_t free_pages) {
  Executor executor(1);
  const HeapCopy copy = copy_heap(executor, heap);
  CHECK(heap_errors(copy) == "");
  CHECK(count_bits(copy.free_pages[0]) == free_pages);
}

template <int kTypes, int kSlots, int kContainerBits>
void check(std::uint32_t pages, const std::vector<std::uint32_t>& blocks_per_page, std::uint32_t current_count,
           Load load, bool always_fits, std::uint64_t seed) {
  CAPTURE(kTypes);
  CAPTURE(kSlots);
  CAPTURE(pages);
  CAPTURE(current_count);
  CAPTURE(load.workers);
  CAPTURE(load.most);
  load.operations /= dynasoar::test::kSlowdown;
  const TinyHeap<kTypes, kSlots, kContainerBits, DisturbedAtomics> tiny(pages, blocks_per_page, current_count);
  const Outcome outcome = run(tiny, load, seed);
  CHECK(outcome.created > 0);
  CHECK(outcome.taken_twice == 0);
  CHECK(outcome.not_mine == 0);
  CHECK(outcome.wrong_type == 0);
  if (always_fits) CHECK(outcome.refused_full == 0);
  CHECK(outcome.refused_contended == 0);
  check_at_rest(tiny.heap(), pages);  // everything was given back
}

TEST_CASE("with threads disturbed at every atomic, one type is never refused a slot while there are free ones") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  check<1, 4, 4>(1, {1}, 1, {3, 1, 1, 600000}, true, seed);
  check<1, 8, 4>(1, {1}, 1, {6, 1, 1, 600000}, true, seed + 1);
  check<1, 4, 4>(3, {1}, 1, {6, 1, 1, 600000}, true, seed + 2);
  check<1, 4, 4>(2, {2}, 2, {6, 2, 1, 600000}, true, seed + 3);
}

TEST_CASE("with threads disturbed at every atomic, no type is refused while there are more pages than reservations") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  check<3, 3, 4>(7, {4, 2, 1}, 1, {6, 1, 1, 600000}, true, seed);
  check<2, 2, 4>(9, {2, 1}, 2, {4, 2, 1, 600000}, true, seed + 1);
}

TEST_CASE("with threads disturbed at every atomic, tiny blocks are never shared, lost or left inconsistent") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  check<3, 2, 4>(3, {4, 2, 1}, 1, {6, 4, 2, 600000}, false, seed);
  check<3, 3, 4>(8, {4, 2, 1}, 3, {8, 8, 3, 600000}, false, seed + 1);
  check<2, 64, 64>(4, {4, 1}, 2, {8, 80, 64, 300000}, false, seed + 2);
  check<4, 3, 8>(40, {8, 4, 2, 1}, 2, {8, 30, 2, 600000}, false, seed + 3);
}

TEST_CASE("with threads disturbed at every atomic, pages of several containers are all given back") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  check<2, 1, 2>(3, {4, 1}, 1, {6, 1, 1, 600000}, false, seed);
  check<3, 2, 4>(5, {10, 3, 1}, 2, {8, 3, 2, 600000}, false, seed + 1);
  check<2, 1, 4>(2, {16, 7}, 1, {8, 2, 1, 600000}, false, seed + 2);
}

/// Two full blocks of one type, the only ones; warp 0 has just filled the second.
class FullHeap {
  using Tiny = TinyHeap<1, 4, 4, ScriptedAtomics>;

 public:
  FullHeap() {
    first_ = heap().allocate(0, 4, 0);
    second_ = heap().allocate(0, 4, 0);
    REQUIRE(std::popcount(first_.slots) == 4);
    REQUIRE(std::popcount(second_.slots) == 4);
  }
  const Tiny::Heap& heap() const { return tiny_.heap(); }
  std::uint32_t first_block() const { return first_.block; }
  std::uint32_t second_block() const { return second_.block; }
  Reservation request() const { return heap().allocate(0, 1, 1); }
  void give_back(std::uint32_t block, std::uint64_t slots, std::uint32_t warp_id = 0) const {
    if (slots != 0) release(heap(), block, slots, warp_id);
  }

  /// That nothing is left behind: everything can be given back and be had again.
  void check_usable(std::uint64_t first_slots, std::uint64_t second_slots) const {
    give_back(first_.block, first_slots);
    give_back(second_.block, second_slots);
    check_at_rest(heap(), 2);
    for (int i = 0; i < 8; ++i) CHECK(request().slots != 0);
    CHECK(request().refusal == Refusal::heap_full);
  }

 private:
  Tiny tiny_{2, {1}, 2};
  Reservation first_{}, second_{};
};

void second_releaser(bool proven_full) {
  CAPTURE(proven_full);
  const FullHeap full;
  if (proven_full) CHECK(full.request().refusal == Refusal::heap_full);
  Reservation got{};
  Interruption::next = {{"give slots back", [&] {
                           full.give_back(full.first_block(), 0b0010, 1);  // the block is not listed yet
                           got = full.request();
                         }}};
  full.give_back(full.first_block(), 0b0001);
  CHECK(Interruption::next.empty());
  if (got.slots == 0) CHECK(got.refusal == Refusal::contended);
  full.give_back(got.block, got.slots, 1);
  full.check_usable(0b1100, 0b1111);
}

TEST_CASE("a slot given back before another is listed with its block does not count as a full heap") {
  second_releaser(false);
  second_releaser(true);
}

TEST_CASE("slots that a warp takes to close a block and has to give back do not count as a full heap") {
  const FullHeap full;
  full.give_back(full.first_block(), 0b0111);
  Reservation kept{}, got{};
  Interruption::next = {// The block is empty; before it is closed, another warp takes a slot there.
                        {"give slots back", [&] { kept = full.request(); }},
                        // The closing warp has taken the other slots, which makes the block look full.
                        {"take slots", [&] { got = full.request(); }}};
  full.give_back(full.first_block(), 0b1000);
  CHECK(Interruption::next.empty());
  CHECK(kept.block == full.first_block());
  CHECK(std::popcount(kept.slots) == 1);
  if (got.slots == 0) CHECK(got.refusal == Refusal::contended);
  full.give_back(got.block, got.slots, 1);
  full.check_usable(kept.slots, 0b1111);
}

TEST_CASE("a warp takes a block of the page that another warp of its group is getting, not a page of its own") {
  const TinyHeap<1, 4, 4, ScriptedAtomics> tiny(2, {2}, 1);
  const auto& heap = tiny.heap();
  auto& fetching = heap.types[0].fetching[0];
  fetching.store(1, Order::relaxed);
  Reservation other{};
  Interruption::next = {{"wait", [&] {
                           fetching.store(0, Order::relaxed);
                           other = heap.allocate(0, 4, 1);
                         }}};
  const Reservation got = heap.allocate(0, 4, 0);
  REQUIRE(Interruption::next.empty());
  CHECK(std::popcount(got.slots) == 4);
  CHECK(got.block / heap.block_stride() == other.block / heap.block_stride());
  check_at_rest(heap, 1);
}

TEST_CASE("a warp does not wait for ever for another warp's page, nor for one that there is not") {
  const TinyHeap<1, 4, 4, ScriptedAtomics> tiny(1, {2}, 1);
  const auto& heap = tiny.heap();
  heap.types[0].fetching[0].store(1, Order::relaxed);  // by a warp that never goes on
  for (int block = 0; block < 2; ++block) CHECK(std::popcount(heap.allocate(0, 4, 0).slots) == 4);
  CHECK(heap.allocate(0, 4, 0).refusal == Refusal::heap_full);
}

TEST_CASE("where free pages are plenty, a warp takes one of its own") {
  TinyHeap<1, 4, 4, ScriptedAtomics> tiny(2, {2}, 1);
  auto heap = tiny.heap();
  heap.few_pages = 1;
  heap.types[0].fetching[0].store(1, Order::relaxed);
  Interruption::next = {{"wait", [] { FAIL("waits for another warp"); }}};
  CHECK(std::popcount(heap.allocate(0, 4, 0).slots) == 4);
  Interruption::next.clear();
}

TEST_CASE(
    "a proof that the heap is full does not outlive a page that becomes free and is taken before that is counted") {
  const TinyHeap<2, 4, 4, ScriptedAtomics> tiny(2, {1, 1}, 3);
  const auto& heap = tiny.heap();
  const Reservation all = heap.allocate(0, 4, 0);
  const Reservation other = heap.allocate(1, 1, 0);
  REQUIRE(heap.allocate(0, 1, 2).refusal == Refusal::heap_full);
  Reservation opened{}, got{};
  Interruption::next = {{"list a closed block or page", [&] {  // the other type's page is free, its closer not done
                           Interruption::next = {{"open a block", [&] { got = heap.allocate(0, 1, 2); }}};
                           opened = heap.allocate(0, 1, 1);
                         }}};
  release(heap, other.block, other.slots, 0);
  REQUIRE(Interruption::next.empty());
  CHECK(opened.block == other.block);
  if (got.slots == 0) CHECK(got.refusal == Refusal::contended);
  if (got.slots != 0) release(heap, got.block, got.slots, 2);
  release(heap, opened.block, opened.slots, 1);
  release(heap, all.block, all.slots, 0);
  check_at_rest(heap, 2);
}

TEST_CASE("a heap at rest is full when it is, and no longer when a slot was given back") {
  const FullHeap full;
  CHECK(full.request().refusal == Refusal::heap_full);
  CHECK(full.request().refusal == Refusal::heap_full);
  full.give_back(full.second_block(), 0b0100);
  const Reservation got = full.request();
  CHECK(got.block == full.second_block());
  CHECK(got.slots == 0b0100);
  CHECK(full.request().refusal == Refusal::heap_full);
  full.check_usable(0b1111, 0b1111);
}

}  // namespace block_heap_disturbed_test
