// Fuzz target: the block heap's state machine in one thread, with tiny blocks, against a model that knows which slots
// are owned, and so exactly which requests must be granted.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/heap/block_heap.h>

#include "../heap/heap_check.h"
#include "../heap/tiny_heap.h"
#include "fuzz.h"

namespace {

using namespace dynasoar;
using namespace dynasoar::test;

/// Atomics policy of a thread that is alone: a request is decided in its first round, and nothing ever waits.
struct LonelyAtomics : PlatformAtomics {
  static void fence(Order) {}
  static constexpr int kShards = 2;
  static constexpr std::size_t kLineBytes = 0;
  static constexpr int kPatience = 1;
  static constexpr int kRoundsPerSearch = 1;
  static constexpr Order kFenced = Order::relaxed;
  static constexpr Order kFencedLater = Order::relaxed;
  static constexpr Order kFencedBoth = Order::relaxed;
  static constexpr bool kReadsAhead = true;
  static void pause(int = 0) { fail("a thread waits although it is alone"); }
};
static_assert(dynasoar::AtomicsPolicy<LonelyAtomics>);

/// Which slots are owned. A page belongs to a type as long as one of its slots is owned.
class Model {
 public:
  Model(std::uint32_t pages, std::uint32_t stride, const std::vector<std::uint32_t>& blocks_per_page, int slots)
      : stride_(stride), blocks_per_page_(blocks_per_page), slots_(slots), owned_(pages * stride), pages_(pages) {}

  /// Whether a slot of the type is free, or a page.
  bool has_room(std::size_t type) const {
    const std::uint32_t most = blocks_per_page_[type] * static_cast<std::uint32_t>(slots_);
    return std::any_of(pages_.begin(), pages_.end(), [&](const Page& page) {
      return page.objects == 0 || (page.type == type && page.objects < most);
    });
  }

  void take(std::size_t type, const Reservation& granted, std::uint32_t want) {
    require(granted.block < owned_.size(), "a block that does not exist");
    Page& page = pages_[granted.block / stride_];
    require(granted.block % stride_ < blocks_per_page_[type], "a block that the type's pages do not have");
    require((granted.slots & ~dynasoar::detail::first_bits(slots_)) == 0, "a slot that blocks do not have");
    require(std::popcount(granted.slots) <= static_cast<int>(want), "more slots than asked for");
    require((granted.slots & owned_[granted.block]) == 0, "a slot is handed out twice");
    require(page.objects == 0 || page.type == type, "a slot in a page of another type");
    page.type = type;
    page.objects += static_cast<std::uint32_t>(std::popcount(granted.slots));
    owned_[granted.block] |= granted.slots;
  }

  void give_back(std::uint32_t block, std::uint64_t slots) {
    owned_[block] &= ~slots;
    pages_[block / stride_].objects -= static_cast<std::uint32_t>(std::popcount(slots));
  }

  std::uint64_t owned(std::uint32_t block) const { return owned_[block]; }

  std::size_t free_pages() const {
    return static_cast<std::size_t>(
        std::count_if(pages_.begin(), pages_.end(), [](const Page& page) { return page.objects == 0; }));
  }

 private:
  struct Page {
    std::size_t type = 0;
    std::uint32_t objects = 0;
  };
  std::uint32_t stride_;
  std::vector<std::uint32_t> blocks_per_page_;
  int slots_;
  std::vector<std::uint64_t> owned_;  // by block
  std::vector<Page> pages_;
};

/// Carries out an input's operations on a heap and on the model.
template <int kTypes, int kSlots, int kContainerBits>
class Session {
 public:
  Session(FuzzInput& input, const std::vector<std::uint32_t>& blocks_per_page, std::uint32_t most_pages)
      : input_(input),
        pages_(1 + input.below(most_pages)),
        tiny_(pages_, blocks_per_page, 1 + input.below(4)),
        heap_(tiny_.heap()),
        model_(pages_, heap_.block_stride(), blocks_per_page, kSlots) {}

  void run() {
    while (!input_.empty()) step();
    check();
    while (!held_.empty()) release(held_.size() - 1, held_.back().slots);
    check();
    require(model_.free_pages() == pages_, "the model has lost a page");
  }

 private:
  void step() {
    const std::uint8_t operation = input_.byte();
    switch (operation % 9) {
      case 0:
      case 1:
      case 2: allocate(input_.below(kTypes), 1 + input_.below(kSlots), operation / 8); break;
      case 3: allocate_many(input_.below(kTypes), operation / 8); break;
      case 4:
      case 5: release_some(); break;
      case 6: release_type(input_.below(kTypes)); break;
      case 7: allocate_blocks(input_.below(kTypes), 1 + input_.below(64), operation / 8); break;
      default:
        if (operation / 8 % 4 == 0) check();
        break;
    }
  }

  bool allocate(std::uint32_t type, std::uint32_t want, std::uint32_t warp_id) {
    const Reservation granted = heap_.allocate(static_cast<int>(type), static_cast<int>(want), warp_id);
    if (granted.slots == 0) {
      require(granted.refusal == Refusal::heap_full, "a request is refused as contended although the thread is alone");
      require(!model_.has_room(type), "a request is refused although there is room");
      return false;
    }
    require(model_.has_room(type), "a request is granted although there is no room");
    model_.take(type, granted, want);
    require(heap_.type_of(granted.block) == static_cast<int>(type), "a slot of a block of another type");
    held_.push_back({granted.block, granted.slots, type});
    return true;
  }

  /// Whole blocks; there need not be any.
  void allocate_blocks(std::uint32_t type, std::uint32_t want, std::uint32_t warp_id) {
    const auto blocks = heap_.allocate_blocks(static_cast<int>(type), static_cast<int>(want), warp_id);
    require(dynasoar::detail::popcount(blocks.bits) <= static_cast<int>(want), "there are more blocks than asked for");
    for (std::uint64_t left = blocks.bits; left != 0; left &= left - 1) {
      const std::uint32_t block = blocks.first + static_cast<std::uint32_t>(dynasoar::detail::lowest_bit(left));
      model_.take(type, {block, dynasoar::detail::first_bits(kSlots), {}}, kSlots);
      require(heap_.type_of(block) == static_cast<int>(type), "a block of another type");
      held_.push_back({block, dynasoar::detail::first_bits(kSlots), type});
    }
  }

  /// Requests one after the other, up to a full heap.
  void allocate_many(std::uint32_t type, std::uint32_t warp_id) {
    const std::uint32_t most = input_.below(256);
    for (std::uint32_t i = 0; i < most && allocate(type, kSlots, warp_id); ++i) {
    }
  }

  void release(std::size_t which, std::uint64_t slots) {
    Held& held = held_[which];
    dynasoar::test::release(heap_, held.block, slots, input_.byte());
    model_.give_back(held.block, slots);
    held.slots &= ~slots;
    if (held.slots != 0) return;
    held = held_.back();
    held_.pop_back();
  }

  /// Some or all slots of a reservation.
  void release_some() {
    if (held_.empty()) return;
    const std::size_t which = input_.below(std::min<std::size_t>(held_.size(), 65536));
    const std::uint64_t all = held_[which].slots;
    const std::uint64_t some = all & (std::uint64_t{input_.byte()} * 0x0101010101010101u);
    release(which, some != 0 ? some : all);
  }

  /// Everything of a type, so that its pages can become another's.
  void release_type(std::uint32_t type) {
    for (std::size_t i = held_.size(); i-- > 0;) {
      if (held_[i].type == type) release(i, held_[i].slots);
    }
  }

  void check() {
    const HeapCopy copy = dynasoar::test::copy_heap(executor_, heap_);
    if (const std::string errors = dynasoar::test::heap_errors(copy); !errors.empty()) fail(errors);
    require(dynasoar::test::count_bits(copy.free_pages[0]) == model_.free_pages(), "the number of free pages is wrong");
    for (std::uint32_t block = 0; block < heap_.blocks(); ++block) {
      require(dynasoar::test::taken_slots(copy, block) == model_.owned(block),
              "slots are taken but not owned, or owned but not taken");
    }
  }

  struct Held {
    std::uint32_t block;
    std::uint64_t slots;
    std::uint32_t type;
  };
  FuzzInput& input_;
  std::uint32_t pages_;
  TinyHeap<kTypes, kSlots, kContainerBits, LonelyAtomics> tiny_;
  const typename TinyHeap<kTypes, kSlots, kContainerBits, LonelyAtomics>::Heap& heap_;
  Model model_;
  dynasoar::Executor executor_{1};
  std::vector<Held> held_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  switch (input.below(8)) {
    case 0: Session<1, 4, 4>(input, {1}, 6).run(); break;
    case 1: Session<1, 1, 4>(input, {4}, 6).run(); break;
    case 2: Session<2, 2, 4>(input, {2, 1}, 12).run(); break;
    case 3: Session<3, 3, 4>(input, {4, 2, 1}, 20).run(); break;
    case 4: Session<3, 2, 2>(input, {2, 2, 1}, 9).run(); break;
    case 5: Session<4, 3, 8>(input, {8, 5, 3, 1}, 40).run(); break;
    case 6: Session<2, 64, 64>(input, {4, 1}, 8).run(); break;
    default: Session<3, 8, 16>(input, {16, 3, 1}, 70).run(); break;
  }
  return 0;
}
