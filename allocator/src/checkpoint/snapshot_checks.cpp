#include <dynasoar/checkpoint/snapshot_checks.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include <dynasoar/classes/handle.h>

namespace dynasoar::detail {

namespace {

class SnapshotChecks {
 public:
  SnapshotChecks(const HeapSnapshot& snapshot, const ClassTable& classes)
      : snapshot_(snapshot),
        numbers_(snapshot.numbers),
        blocks_(snapshot.blocks),
        classes_(classes),
        types_(classes.classes.size()),
        stride_(classes.block_stride) {}

  /// Finds the first contradiction. Each check relies on those before it.
  const char* first_contradiction() {
    using Checks = SnapshotChecks;
    for (const auto check : {&Checks::in_numbers, &Checks::in_blocks, &Checks::in_counters, &Checks::in_proofs,
                             &Checks::in_hints, &Checks::in_owners, &Checks::in_lists, &Checks::in_tags}) {
      if (const char* const what = (this->*check)(); what != nullptr) return what;
    }
    return nullptr;
  }

 private:
  static constexpr std::size_t kShards = HeapSnapshot::kShards;
  static constexpr std::size_t kSeen = HeapSnapshot::kSeen;
  static constexpr std::size_t kOfType = HeapSnapshot::kCountersOfType;

  /// Totals of the blocks of a class.
  struct Found {
    std::uint64_t blocks = 0, full_blocks = 0, pages = 0;
  };

  std::uint32_t page_of(const SavedBlock& block) const { return block.number / stride_; }

  /// Whether a class may have a block with this number, in pages below `pages`.
  bool may_have(std::size_t type, std::uint64_t block, std::uint64_t pages) const {
    return block / stride_ < pages && block % stride_ < classes_[type].blocks_per_page;
  }

  /// The open block with this number, or null.
  const SavedBlock* find(std::uint64_t number) const {
    const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), number,
                                     [](const SavedBlock& block, std::uint64_t n) { return block.number < n; });
    return at != blocks_.end() && at->number == number ? &*at : nullptr;
  }

  const char* in_numbers() {
    const std::uint64_t pages = numbers_.pages;
    if (pages < types_ || pages > (AnyHeap::kHalfFree - 1) / stride_ ||
        pages > Handle::kMaxHeapBytes / classes_.page_bytes) {
      return "its heap has a size that no heap has";
    }
    if (numbers_.used_pages > pages) return "its heap has more used pages than pages";
    if (numbers_.used_pages != (blocks_.empty() ? 0 : page_of(blocks_.back()) + std::uint64_t{1})) {
      return "its last used page has no block";
    }
    const bool is_clean = numbers_.first_generation == 0 && numbers_.attempts == 0;
    if (numbers_.is_checked > 1 || (numbers_.is_checked == 0 && !is_clean) ||
        numbers_.first_generation > std::numeric_limits<std::uint32_t>::max()) {
      return "it is of no kind of build";
    }
    const GrowthNotes& growth = numbers_.growth;
    if (growth.pages > pages || growth.free > growth.pages || growth.answered > growth.refused) {
      return "its heap cannot have grown like that";
    }
    return nullptr;
  }

  const char* in_blocks() {
    found_.resize(types_);
    const SavedBlock* last = nullptr;
    for (const SavedBlock& block : blocks_) {
      if (block.type >= types_) return "a block is of no class";
      if (!may_have(block.type, block.number, numbers_.used_pages)) return "a block has a number that no block has";
      if (last != nullptr && last->number >= block.number) return "its blocks are in another order";
      const bool is_full = block.slots == AnyHeap::kAllSlots;
      if (block.slots == 0) return "a block has no objects";
      if (block.owned > 1 || (block.owned == 1 && is_full)) return "a block has an owner that it cannot have";
      const bool is_new_page = last == nullptr || page_of(*last) != page_of(block);
      if (!is_new_page && last->type != block.type) return "a page has blocks of two classes";
      Found& found = found_[block.type];
      ++found.blocks;
      found.full_blocks += is_full;
      found.pages += is_new_page;
      used_pages_ += is_new_page;
      last = &block;
    }
    return nullptr;
  }

  std::uint64_t sum(std::size_t first) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kShards; ++i) sum += snapshot_.counters[first + i];
    return sum;
  }

  std::uint64_t empty_blocks(std::size_t type) const {
    const std::uint64_t per_page = classes_[type].blocks_per_page;
    return per_page > 1 ? found_[type].pages * per_page - found_[type].blocks : 0;
  }

  /// Checks the counters, on which a heap relies to decide that it is full.
  const char* in_counters() {
    if (snapshot_.counters.size() != HeapSnapshot::counters_for(types_)) return "it has another number of counters";
    for (std::size_t type = 0; type < types_; ++type) {
      const std::size_t opened = type * kOfType + 2 * kShards;  // behind created and deleted
      if (sum(opened) - sum(opened + kShards) != found_[type].blocks) return "its counters do not match its blocks";
      const std::size_t emptied = opened + 2 * kShards;
      if (sum(emptied) - sum(emptied + kShards) != empty_blocks(type)) {
        return "its counters do not match its empty blocks";
      }
    }
    const std::size_t freed = types_ * kOfType;
    if (sum(freed) - sum(freed + kShards) != numbers_.pages - used_pages_) return "its counters do not match its pages";
    return nullptr;
  }

  /// Checks the proofs that the heap is full: see fullness.h.
  const char* in_proofs() {
    for (std::size_t type = 0; type < types_; ++type) {
      const std::uint64_t proof = snapshot_.counters[(type + 1) * kOfType - 1];
      const std::uint64_t now = 1 + sum(types_ * kOfType) + sum(type * kOfType + kShards);
      const bool is_full =
          used_pages_ == numbers_.pages && empty_blocks(type) == 0 && found_[type].full_blocks == found_[type].blocks;
      if (proof > now || (proof == now && !is_full)) return "it says that a heap is full that is not";
    }
    return nullptr;
  }

  const char* in_hints() {
    const std::uint64_t count = numbers_.current_count;
    const std::vector<std::uint32_t>& hints = snapshot_.hints;
    if (count == 0 || count > hints.size() || hints.size() != count * (1 + types_)) {
      return "it has another number of hints";
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (hints[i] >= numbers_.pages) return "a hint names a page that does not exist";
    }
    for (std::size_t i = count; i < hints.size(); ++i) {
      if (hints[i] == kNoPosition) continue;
      if (!may_have(i / count - 1, hints[i] & ~AnyHeap::kHalfFree, numbers_.pages)) {
        return "a hint names a block that does not exist";
      }
    }
    return nullptr;
  }

  /// Checks owners: free slots of a block that is owned, but is not the current block of a warp, would never be found.
  const char* in_owners() {
    std::vector<std::vector<std::uint32_t>> current(types_);
    const std::size_t count = numbers_.current_count;
    for (std::size_t i = count; i < snapshot_.hints.size(); ++i) {
      if (snapshot_.hints[i] != kNoPosition) {
        current[i / count - 1].push_back(snapshot_.hints[i] & ~AnyHeap::kHalfFree);
      }
    }
    for (auto& of_type : current) std::sort(of_type.begin(), of_type.end());
    for (const SavedBlock& block : blocks_) {
      if (block.owned == 0) continue;
      const auto& of_type = current[block.type];
      if (!std::binary_search(of_type.begin(), of_type.end(), block.number))
        return "a block is owned, but is the current block of no warp";
    }
    return nullptr;
  }

  const char* in_lists() {
    std::size_t at = 0;
    for (std::size_t type = 0; type < types_; ++type) {
      if (snapshot_.lists.size() - at < kSeen + 1) return "a list is missing";
      if (const char* const what = in_list(type, at); what != nullptr) return what;
    }
    return at == snapshot_.lists.size() ? nullptr : "it has more lists than classes";
  }

  /// Checks a list. @param[in,out] at   the beginning of the list, and then its end
  const char* in_list(std::size_t type, std::size_t& at) {
    const std::uint64_t* const seen = snapshot_.lists.data() + at;
    at += kSeen;
    const std::uint64_t count = snapshot_.lists[at++];
    if (count > (snapshot_.lists.size() - at) / 2) return "a list is longer than the file";
    const bool is_new = is_up_to_date(type, seen);
    if (is_new && count != found_[type].blocks) return "a list has another length than there are blocks";
    std::vector<std::uint64_t> listed;
    for (const std::size_t end = at + 2 * count; at < end; at += 2) {
      const std::uint64_t slots = snapshot_.lists[at], block = snapshot_.lists[at + 1];
      if (slots == 0 || !may_have(type, block, numbers_.pages)) return "a list names a block that does not exist";
      if (is_new) {
        const SavedBlock* const open = find(block);
        if (open == nullptr || open->type != type || open->slots != slots) return "a list names objects that are not";
      }
      listed.push_back(block);
    }
    std::sort(listed.begin(), listed.end());
    const bool is_twice = std::adjacent_find(listed.begin(), listed.end()) != listed.end();
    return is_twice ? "a list has a block twice" : nullptr;
  }

  /// Whether loops visit a list without making it again: no object has been created or deleted since it was made.
  bool is_up_to_date(std::size_t type, const std::uint64_t* seen) const {
    const std::uint64_t* const created = snapshot_.counters.data() + type * kOfType;
    const std::uint64_t* const deleted = created + kShards;
    for (std::size_t i = 0; i < kShards; ++i) {
      if (seen[2 * i] != created[i] || seen[2 * i + 1] != deleted[i]) return false;
    }
    return true;
  }

  /// Checks the tags of a checked build: the slots with objects are those that the tags mark as alive.
  const char* in_tags() {
    if (numbers_.is_checked == 0) return snapshot_.tags.empty() ? nullptr : "it has tags, but is of no checked build";
    auto open = blocks_.begin();
    const SavedTags* last = nullptr;
    for (const SavedTags& tags : snapshot_.tags) {
      if (tags.block / stride_ >= numbers_.pages) return "a tag is of a block that does not exist";
      if (last != nullptr && last->block >= tags.block) return "its tags are in another order";
      last = &tags;
      const bool is_open = open != blocks_.end() && open->number == tags.block;
      if (!are_at_rest(tags)) return "its tags are of no objects";
      if (slots_alive(tags) != (is_open ? open->slots : 0)) return "its tags are of other objects";
      if (is_open) ++open;
    }
    return open == blocks_.end() ? nullptr : "objects have no tags";
  }

  /// Whether tags are possible between loops: each object was created in some loop, and none is being destroyed.
  static bool are_at_rest(const SavedTags& tags) {
    return std::all_of(std::begin(tags.tags), std::end(tags.tags), [](std::uint32_t bits) {
      const Tag tag(bits);
      return tag.before_destruction().bits() == bits && (tag.was_ever_used() || !tag.is_alive());
    });
  }

  static std::uint64_t slots_alive(const SavedTags& tags) {
    std::uint64_t alive = 0;
    for (std::size_t slot = 0; slot < kSlotsPerBlock; ++slot) {
      alive |= std::uint64_t{Tag(tags.tags[slot]).is_alive()} << slot;
    }
    return alive;
  }

  const HeapSnapshot& snapshot_;
  const HeapNumbers& numbers_;
  const std::vector<SavedBlock>& blocks_;
  const ClassTable& classes_;
  std::size_t types_;
  std::uint32_t stride_;
  std::vector<Found> found_;      // by class
  std::uint64_t used_pages_ = 0;  // number of pages with a block
};

}  // namespace

const char* contradiction_in(const HeapSnapshot& snapshot, const ClassTable& classes) {
  return SnapshotChecks(snapshot, classes).first_contradiction();
}

}  // namespace dynasoar::detail
