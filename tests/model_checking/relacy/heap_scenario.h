/// @file
/// A heap in a scenario, with everything that is checked of it: owners of slots, contents of objects, refusals, and the
/// state at rest.
#pragma once

#include "relacy_atomics.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/heap/block_heap.h>

#include "../../heap/heap_check.h"
#include "../../heap/tiny_heap.h"
#include "explore.h"
#include "heap_script.h"
#include "read_heap.h"
#include "timeline.h"

namespace dynasoar::test {

/// A heap of blocks of few slots and containers of two bits, its threads, and the checks.
///
/// @tparam kTypes   1 or 2; all have the same number of bytes per page, so their objects overlap in memory
template <int kTypes, int kSlots = 2>
class HeapScenario : public Scenario {
 public:
  /// What a scenario consists of.
  struct Setting {
    std::uint32_t pages;
    std::vector<std::uint32_t> blocks_per_page;
    std::uint32_t current_count;
    Script before;  ///< makes objects, which get the numbers 0, 1, ...
    std::vector<Script> threads;
    int few_pages = 2;  ///< as in BlockHeap; 0: pages are never few
  };

  static constexpr int kContainerBits = 2;
  using Tiny = TinyHeap<kTypes, kSlots, kContainerBits, RelacyAtomics>;
  using Heap = typename Tiny::Heap;

  explicit HeapScenario(const Setting& setting)
      : setting_(setting),
        tiny_(setting.pages, setting.blocks_per_page, setting.current_count, setting.few_pages),
        memory_(std::size_t{heap().blocks()} * kSlots),
        owned_(std::size_t{heap().blocks()} * kSlots),
        type_reads_(heap().pages) {
    for (std::uint32_t page = 0; page < heap().pages; ++page) {
      type_reads_[page](Place::here()) = 0;
      heap().page_type[page].guard(type_reads_[page]);
    }
    objects_.reserve(kMostObjects);
    requests_.reserve(kMostObjects);
    refusals_.reserve(kMostObjects);
    for (auto& flag : flags) flag.store(0, Order::relaxed);
    play(setting.before);
    alone_ = false;
  }

  void thread(int index) override { play(setting_.threads[static_cast<std::size_t>(index)]); }

  /// Gives everything back, then fills and empties the heap once more.
  void after() override {
    alone_ = true;
    for (const Refused& refused : refusals_) check_refusal(refused);
    check_at_rest();
    release_all();
    check_unused();
    fill();
    release_all();
    check_unused();
  }

  // The steps of scripts.

  static constexpr std::size_t kNothing = ~std::size_t{0};

  /// Lets threads tell others what they have done. A relaxed flag passes nothing else on.
  std::array<RelacyAtomics::word<std::uint32_t>, 3> flags;
  void raise(std::size_t flag, Order order) { flags[flag].store(1, order); }
  void await(std::size_t flag, Order order) {
    while (flags[flag].load(order) == 0) RelacyAtomics::pause();
  }

  const Heap& heap() const { return tiny_.heap(); }

  /// Allocates. @return the object's number, kNothing if refused
  std::size_t take(int type, std::uint32_t warp_id, int want = 1) {
    const int begin = mark();
    const Moment known = timeline_.now();
    requests_.push_back({type, self(), begin, kStillInProgress});
    const std::size_t request = requests_.size() - 1;
    const Reservation got = heap().allocate(type, want, warp_id);
    if (got.slots == 0) {
      requests_[request].ended = mark();
      if (got.refusal == Refusal::heap_full && !alone_) refusals_.push_back({type, known, timeline_.latest()});
      last_refusal_ = got.refusal;
      return kNothing;
    }
    check_reservation(type, want, got);
    objects_.push_back({type, got, self(), begin, kStillInProgress, kStillInProgress, kNobody, 0});
    const std::size_t number = objects_.size() - 1;
    own(objects_.back(), true);
    write(objects_.back());
    objects_[number].made = requests_[request].ended = mark();
    return number;
  }

  /// Frees an object.
  void give(std::size_t number, std::uint32_t warp_id) {
    Object& object = objects_[number];
    read(object);
    own(object, false);
    object.leaving = mark();
    object.releaser = self();
    object.released = kStillInProgress;
    const std::uint32_t block = object.reservation.block;
    const std::uint64_t taken = heap().taken(block);
    heap().release(block, heap().type_of(block), object.reservation.slots, warp_id, taken);
    objects_[number].released = mark();
  }

  /// Numbers of objects. (A vector's memory would be Relacy's, in a thread.)
  struct Numbers {
    std::array<std::size_t, kContainerBits * kSlots> all;
    std::size_t size = 0;
    const std::size_t* begin() const { return all.data(); }
    const std::size_t* end() const { return all.data() + size; }
  };

  /// Allocates whole blocks; every slot is an object of its own. @return their numbers
  Numbers take_blocks(int type, std::uint32_t warp_id, int want = 2) {
    const int begin = mark();
    requests_.push_back({type, self(), begin, kStillInProgress});
    const std::size_t request = requests_.size() - 1;
    const typename Heap::Blocks got = heap().allocate_blocks(type, want, warp_id);
    expect(std::popcount(got.bits) <= want, "there are too many blocks");
    Numbers numbers;
    for (std::uint64_t left = got.bits; left != 0; left &= left - 1) {
      const std::uint32_t block = got.first + static_cast<std::uint32_t>(std::countr_zero(left));
      for (std::uint64_t slot = 1; slot < Heap::kAllSlots; slot *= 2) {
        numbers.all[numbers.size++] = objects_.size();
        objects_.push_back({type, {block, slot, {}}, self(), begin, kStillInProgress, kStillInProgress, kNobody, 0});
        own(objects_.back(), true);
      }
    }
    for (const std::size_t number : numbers) {
      check_reservation(type, 1, objects_[number].reservation);
      write(objects_[number]);
    }
    requests_[request].ended = mark();
    for (const std::size_t number : numbers) objects_[number].made = requests_[request].ended;
    return numbers;
  }

  /// Allocates whole blocks, and frees their slots one by one.
  void take_and_give_blocks(int type, std::uint32_t warp_id, int want = 2) {
    for (const std::size_t number : take_blocks(type, warp_id, want)) give(number, warp_id);
  }

  /// Allocates and frees.
  void take_and_give(int type, std::uint32_t warp_id, int want = 1) {
    const std::size_t object = take(type, warp_id, want);
    if (object != kNothing) give(object, warp_id);
  }

  /// Allocates an object, allocates and frees another one, and frees the first.
  void take_and_give_around(int type, std::uint32_t warp_id) {
    const std::size_t object = take(type, warp_id);
    take_and_give(type, warp_id);
    if (object != kNothing) give(object, warp_id);
  }

 private:
  static constexpr std::size_t kMostObjects = 64;
  static constexpr int kStillInProgress = 1 << 20;
  static constexpr int kAlone = -1;  // before the threads start and after they have ended, the program itself acts
  static constexpr int kNobody = -2;

  struct Object {
    int type;
    Reservation reservation;
    int taker;     ///< thread that allocated it, or kAlone
    int begun;     ///< the event at which that began
    int made;      ///< the event at which that was complete
    int leaving;   ///< the event at which its release began
    int releaser;  ///< thread that freed it, kAlone or kNobody
    int released;  ///< the event at which that was complete
  };
  struct Request {
    int type, thread, begun, ended;
  };
  struct Refused {
    int type;
    Moment first, last;
  };

  void play(const Script& script) {
    for (const Step& step : script) play(step);
  }

  void play(const Step& step) {
    const auto number = static_cast<std::size_t>(step.what);
    switch (step.kind) {
      case Step::kTake: take(step.what, step.warp_id, step.want); return;
      case Step::kGive: give(number, step.warp_id); return;
      case Step::kTakeAndGive: take_and_give(step.what, step.warp_id, step.want); return;
      case Step::kTakeAndGiveAround: take_and_give_around(step.what, step.warp_id); return;
      case Step::kTakeBlocks: take_blocks(step.what, step.warp_id, step.want); return;
      case Step::kTakeAndGiveBlocks: take_and_give_blocks(step.what, step.warp_id, step.want); return;
      case Step::kRaise: raise(number, step.order); return;
      case Step::kAwait: await(number, step.order); return;
    }
  }

  int self() const { return alone_ ? kAlone : rl::ctx().current_thread(); }
  int mark() { return alone_ ? 0 : timeline_.mark(); }

  void check_reservation(int type, int want, const Reservation& got) const {
    expect(std::popcount(got.slots) <= want && (got.slots & ~Heap::kAllSlots) == 0, "a reservation has the wrong size");
    expect(got.block < heap().blocks(), "a reserved block does not exist");
    expect(heap().type_of(got.block) == type, "a reserved block has another type");
    expect((got.block & (heap().block_stride() - 1)) < heap().types[type].blocks_per_page,
           "a reserved block is none of the page's");
  }

  void own(const Object& object, bool begin) {
    for (std::uint64_t left = object.reservation.slots; left != 0; left &= left - 1) {
      bool& owned = owned_[object.reservation.block * kSlots + static_cast<std::size_t>(std::countr_zero(left))].value;
      expect(owned != begin, begin ? "a slot is handed out twice" : "a slot is given back twice");
      owned = begin;
    }
  }

  /// Visits the memory of an object: types with fewer blocks per page have larger ones.
  template <class Visit>
  void visit(const Object& object, Visit visit) {
    const std::uint32_t stride = heap().block_stride();
    const std::uint32_t size = stride / heap().types[object.type].blocks_per_page;
    const std::uint32_t page = object.reservation.block / stride, block = object.reservation.block % stride;
    for (std::uint64_t left = object.reservation.slots; left != 0; left &= left - 1) {
      const auto slot = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::uint32_t first = page * stride * kSlots + (block * kSlots + slot) * size;
      for (std::uint32_t i = first; i < first + size; ++i) visit(memory_[i]);
    }
  }
  int content(const Object& object) const {
    return static_cast<int>(&object - objects_.data()) * kTypes + object.type + 1;
  }
  void write(const Object& object) {
    visit(object, [&](rl::var<int>& cell) { cell(Place::here()) = content(object); });
  }
  void read(const Object& object) {
    visit(object, [&](rl::var<int>& cell) {
      expect(static_cast<int>(cell(Place::here())) == content(object), "an object's memory was overwritten");
    });
  }

  /// A refusal is right if at some moment that the request may have seen no page was free, and all slots in the pages
  /// of the type were taken. Objects count from the beginning of the request that gets them to the end of the release.
  void check_refusal(const Refused& refused) const {
    const auto full = [&](const Moment& moment) {
      for (std::uint32_t page = 0; page < heap().pages; ++page) {
        if (!page_unavailable(page, refused.type, moment)) return false;
      }
      return true;
    };
    expect(timeline_.any_between(refused.first, refused.last, full),
           "a request was refused although the heap was not full");
  }

  bool page_unavailable(std::uint32_t page, int type, const Moment& moment) const {
    std::array<std::uint64_t, 4> taken{};  // by block of the page
    bool other = false, own = false;       // whether objects of another type, of this one, show whose page it is
    for (const Object& object : objects_) {
      if (object.reservation.block / heap().block_stride() != page || !has_begun(object, moment)) continue;
      other = other || (object.type != type && (!has_ended(object, moment) || may_be_held(object.type, moment)));
      own = own || (object.type == type && surely_exists(object, moment));
      if (object.type == type && !has_ended(object, moment)) {
        taken[object.reservation.block % heap().block_stride()] |= object.reservation.slots;
      }
    }
    if (other && !own) return true;
    for (std::uint32_t i = 0; i < heap().types[type].blocks_per_page; ++i) {
      if (taken[i] != Heap::kAllSlots) return false;
    }
    return true;
  }

  /// Whether a request for another type may hold slots in a block of this one because it followed a stale hint. Then
  /// the page is not free although no object is in it, and a refusal is right.
  bool may_be_held(int type, const Moment& moment) const {
    for (const Request& request : requests_) {
      if (request.type == type || request.thread < 0) continue;
      const int events = moment.events[static_cast<std::size_t>(request.thread)];
      if (request.begun < events && request.ended >= events) return true;
    }
    return false;
  }

  static bool has_begun(const Object& object, const Moment& moment) {
    return object.taker < 0 || object.begun < moment.events[static_cast<std::size_t>(object.taker)];
  }
  /// Whether it has been handed out and its release has not begun.
  static bool surely_exists(const Object& object, const Moment& moment) {
    const auto happened = [&](int thread, int event) {
      return thread == kAlone || (thread >= 0 && event < moment.events[static_cast<std::size_t>(thread)]);
    };
    return happened(object.taker, object.made) && !happened(object.releaser, object.leaving);
  }
  static bool has_ended(const Object& object, const Moment& moment) {
    if (object.releaser < 0) return object.releaser == kAlone;
    return object.released < moment.events[static_cast<std::size_t>(object.releaser)];
  }

  // From here on: when all threads have ended.

  void check_at_rest() const {
    const HeapCopy copy = read_heap(heap(), kContainerBits);
    if (const std::string errors = heap_errors(copy); !errors.empty()) fail(errors);
    for (std::size_t i = 0; i < owned_.size(); ++i) {
      const bool open = is_open(copy, i / kSlots);
      const bool taken = open && (copy.slots[i / kSlots] >> i % kSlots & 1) != 0;
      expect(taken == owned_[i].value, "a slot's bit and its owner differ");
    }
  }

  static bool is_open(const HeapCopy& copy, std::size_t block) {
    for (const HeapCopy::Type& type : copy.types) {
      if (copy.bit(type.allocated, block)) return true;
    }
    return false;
  }

  void check_unused() const {
    const HeapCopy copy = read_heap(heap(), kContainerBits);
    if (const std::string errors = heap_errors(copy); !errors.empty()) fail(errors);
    for (std::uint32_t page = 0; page < heap().pages; ++page) {
      expect(copy.bit(copy.free_pages, page), "all objects were freed, but not all pages are free");
    }
  }

  void release_all() {
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      if (objects_[i].releaser == kNobody) give(i, 0);
    }
    objects_.clear();
  }

  /// Fills the heap with objects of the last type: each slot must be found, and then none.
  void fill() {
    const int type = kTypes - 1;
    const std::uint32_t slots = heap().pages * heap().types[type].blocks_per_page * kSlots;
    for (std::uint32_t i = 0; i < slots; ++i) {
      expect(take(type, 0) != kNothing, "at rest, a request is refused although slots are free");
    }
    expect(take(type, 0) == kNothing, "more slots are handed out than there are");
    expect(last_refusal_ == Refusal::heap_full, "at rest, a heap that is full is not found to be");
    refusals_.clear();
  }

  struct Flag {
    bool value = false;
  };

  const Setting& setting_;
  Tiny tiny_;
  bool alone_ = true;  // before the threads start, and after they have ended
  std::vector<rl::var<int>> memory_;
  std::vector<Flag> owned_;
  std::vector<rl::var<int>> type_reads_;
  std::vector<Object> objects_;
  std::vector<Request> requests_;
  std::vector<Refused> refusals_;
  Refusal last_refusal_ = Refusal::contended;
  Timeline timeline_;
};

}  // namespace dynasoar::test
