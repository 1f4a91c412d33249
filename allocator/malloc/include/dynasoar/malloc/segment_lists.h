/// @file
/// SegmentLists: a heap of consecutive segments, and lists of the free ones, in bins by size. Used by ListMalloc.
///
/// Source: ScatterAlloc (Steinberger et al. 2012), section 4. A request finds a free segment in the lists that is large
/// enough, and splits it. A freed segment is merged with its successor in memory, if that is free.
///
/// Differences to the paper, and choices that it leaves open:
/// - Segments are counted in units of 64 bytes. Their descriptions are in separate tables and not in front of the
///   segments, so that a thread that follows a list never reads memory that belongs to a user meanwhile.
/// - If a segment is split, the caller gets the end. The rest keeps its position in its list.
/// - Only the state of a segment decides who owns it, and changes with one compare-and-swap. Lists may contain segments
///   that have been taken, merged, or changed in size since. Such entries are corrected when they reach the list's
///   head. Lists are stacks; their heads carry a tag that changes with each removal, against ABA.
/// - There is a bin for the sizes from each power of two to the next (section 8 has ten bins, the last for all larger
///   sizes: there, small segments at the front of the list hide the others). In the bin of its own size, a request
///   tries several segments; in the bins of larger sizes, it tries the first one. If none fits, it merges segments of
///   any bin with their successors until one is large enough. The number of these segments is bounded.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/malloc/back_off.h>
#include <dynasoar/malloc/neighbours.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// The state of a unit. All 0 if no segment starts here.
struct SegmentState {
  enum Use : std::uint32_t { kInside, kTaken, kFree };

  std::uint32_t size;  ///< of the segment that starts here, in units
  Use use;
  bool listed;  ///< in a list, or held by a thread that will put it there or clear this

  __host__ __device__ static SegmentState of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word), static_cast<Use>(word >> 33), (word >> 32 & 1) != 0};
  }
  __host__ __device__ std::uint64_t word() const {
    return std::uint64_t{use} << 33 | std::uint64_t{listed} << 32 | size;
  }
  __device__ bool is_free() const { return use == kFree; }
};

/// Adjacent segments of the same size.
struct SegmentRun {
  std::uint32_t unit;   ///< first unit of the first one
  std::uint32_t count;  ///< 0: nothing
};

/// Several sets of lists over one heap.
///
/// A loop without a bound repeats a compare-and-swap that has failed because that of another thread succeeded.
///
/// @par Concurrency   everything may overlap; lock-free
class SegmentLists {
 public:
  static constexpr std::uint32_t kUnitBytes = 64;
  static constexpr std::uint32_t kBins = 31;  // there are less than 2^31 units
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  using State = AtomicWord<std::uint64_t>;
  using Link = AtomicWord<std::uint32_t>;

  /// A list's first segment, and a count of removals.
  struct Head {
    std::uint32_t unit;
    std::uint32_t tag;

    __host__ __device__ static Head of(std::uint64_t word) {
      return {static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32)};
    }
    __host__ __device__ std::uint64_t word() const { return std::uint64_t{tag} << 32 | unit; }
  };

  SegmentLists() = default;

  /// @param states, links   [units]
  /// @param heads           [sets * kBins]
  /// @param helpers         [sets] the set that is tried first if a set has nothing; numbers from 0 to sets - 1
  /// @param moves           [1] 0
  SegmentLists(State* states, Link* links, State* heads, Link* helpers, State* moves, std::uint32_t units,
               std::uint32_t sets)
      : states_(states), links_(links), heads_(heads), helpers_(helpers), moves_(moves), units_(units), sets_(sets) {}

  __host__ __device__ static std::uint32_t bin_of(std::uint32_t size) {
    return static_cast<std::uint32_t>(highest_bit(size));
  }

  __host__ __device__ std::uint32_t sets() const { return sets_; }

  /// A segment of `size` units for each lane, from the lists of `set` if possible. @pre the lanes of the group, and no
  /// others, ask for this size together
  /// @return the first unit of the calling lane's segment, or kNone
  template <class Group>
  __device__ std::uint32_t take(std::uint32_t set, std::uint32_t size, const Group& group) const {
    const auto rank = static_cast<std::uint32_t>(group.rank());
    const auto lanes = static_cast<std::uint32_t>(group.size());
    std::uint32_t unit = kNone;
    for (std::uint32_t served = 0; served < lanes;) {
      SegmentRun run{};
      if (rank == 0) run = take_run(set, {size, lanes - served});
      run = {group.broadcast(run.unit), group.broadcast(run.count)};
      if (run.count == 0) break;
      group.synchronize();  // the first lane's acquire holds for the other lanes, too
      if (rank - served < run.count) unit = start_segment(run.unit + (rank - served) * size, size);
      served += run.count;
    }
    return unit;
  }

  /// Releases the segments that start at each lane's `unit`, to the lists of `set`. @pre the group has all lanes that
  /// do so together
  template <class Group>
  __device__ void give(std::uint32_t set, std::uint32_t unit, const Group& group) const {
    const std::uint32_t size = SegmentState::of(states_[unit].load(Order::relaxed)).size;
    const auto joined = Neighbours::of(unit, size, group);
    if (group.rank() == 0) begin_move();
    group.synchronize();  // no segment moves before the first lane has announced it
    if (!joined.is_first) set_state(unit, {0, SegmentState::kInside, false}, Order::relaxed);
    group.synchronize();        // the first of each run releases all of it
    std::uint32_t bin = kBins;  // kBins: the segment need not be put into a list
    if (joined.is_first) {
      const std::uint32_t all = joined.size + absorb(unit + joined.size);
      if (!set_state(unit, {all, SegmentState::kFree, true}, Order::release).listed) bin = bin_of(all);
    }
    push_together(set, bin, unit, group.matching(bin));
    group.synchronize();  // all of it is listed
    if (group.rank() == 0) end_move();
  }

 private:
  static constexpr int kRounds = 1 << 16;      // rounds in which other threads were faster, until a request gives up
  static constexpr int kSearches = 64;         // searches during which segments moved, until a request gives up
  static constexpr int kSteps = 16;            // segments of a list that a request tries
  static constexpr int kStepsOfMerging = 256;  // segments that it tries to merge
  static constexpr int kLongestPause = 8;      // 32 << 8 ns on a GPU
  static constexpr int kMerges = 8;            // successors that a segment is merged with at a time

  /// A request.
  struct Wanted {
    std::uint32_t size;   ///< units of a segment
    std::uint32_t count;  ///< segments, if possible
  };

  __device__ State& head_of(std::uint32_t set, std::uint32_t bin) const { return heads_[set * kBins + bin]; }

  // Counts moves in progress and, in the upper half, finished moves.
  __device__ void begin_move() const { moves_->add(1, Order::relaxed); }
  __device__ void end_move() const { moves_->add((std::uint64_t{1} << 32) - 1, Order::release); }

  /// Whether no segment has moved since moves_ was `before`.
  __device__ bool are_at_rest(std::uint64_t before) const {
    PlatformAtomics::fence(Order::acquire);
    return static_cast<std::uint32_t>(before) == 0 && moves_->load(Order::relaxed) == before;
  }

  /// Segments from the lists of `set` if possible.
  ///
  /// A free segment that moves from one list to another is in none of them. So a search without success counts only if
  /// no segment moved meanwhile.
  __device__ SegmentRun take_run(std::uint32_t set, const Wanted& wanted) const {
    for (int round = 0; round < kSearches; ++round) {
      const std::uint64_t before = moves_->load(Order::acquire);
      SegmentRun run = take_listed(set, wanted);
      if (run.count == 0 && are_at_rest(before)) run = merge_in_all(set, wanted.size);
      if (run.count != 0 || are_at_rest(before)) return run;
      PlatformAtomics::pause(round);
    }
    return {};
  }

  /// Segments from the set's own lists or, if there are none, from those of other sets.
  __device__ SegmentRun take_listed(std::uint32_t set, const Wanted& wanted) const {
    const SegmentRun run = take_from(set, wanted);
    if (run.count != 0 || sets_ == 1) return run;
    const std::uint32_t helper = helpers_[set].load(Order::relaxed);
    for (std::uint32_t i = 0; i < sets_; ++i) {
      const std::uint32_t other = (helper + i) % sets_;
      const SegmentRun found = take_from(other, wanted);
      if (found.count == 0) continue;
      if (i > 0) helpers_[set].store(other, Order::relaxed);
      return found;
    }
    return {};
  }

  __device__ SegmentRun take_from(std::uint32_t set, const Wanted& wanted) const {
    for (std::uint32_t bins = bins_in_use(set, bin_of(wanted.size)); bins != 0; bins &= bins - 1) {
      const SegmentRun run = take_from(set, static_cast<std::uint32_t>(lowest_bit(bins)), wanted);
      if (run.count != 0) return run;
    }
    return {};
  }

  /// The bins from `least` on with lists that are not empty. The loads are independent, so they overlap.
  __device__ std::uint32_t bins_in_use(std::uint32_t set, std::uint32_t least) const {
    std::uint32_t used = 0;
    for (std::uint32_t bin = 0; bin < kBins; ++bin) {
      if (bin < least) continue;
      used |= std::uint32_t{Head::of(head_of(set, bin).load(Order::relaxed)).unit != kNone} << bin;
    }
    return used;
  }

  __device__ SegmentRun merge_in_all(std::uint32_t set, std::uint32_t size) const {
    for (std::uint32_t i = 0; i < sets_; ++i) {
      for (std::uint32_t bin = kBins; bin-- > 0;) {
        const std::uint32_t unit = merge_in((set + i) % sets_, bin, size);
        if (unit != kNone) return {unit, 1};
      }
    }
    return {};
  }

  __device__ SegmentRun take_from(std::uint32_t set, std::uint32_t bin, const Wanted& wanted) const {
    for (int round = 0; round < kRounds; ++round) {
      const std::uint32_t head = first_of(set, bin);
      if (head == kNone) return {};
      bool lost = false;
      const SegmentRun run = first_fit(head, wanted, lost);
      if (run.count != 0 || !lost) return run;
      back_off(round, kLongestPause);
    }
    return {};
  }

  /// The first segment of a list, after outdated entries in front of it have been corrected. @return kNone if it is
  /// empty
  __device__ std::uint32_t first_of(std::uint32_t set, std::uint32_t bin) const {
    for (int round = 0, lost = 0; round < kRounds; ++round) {
      // Acquires the links from push.
      const Head head = Head::of(head_of(set, bin).load(Order::acquire));
      if (head.unit == kNone) return kNone;
      const SegmentState state = SegmentState::of(states_[head.unit].load(Order::relaxed));
      if (state.is_free() && bin_of(state.size) == bin) return head.unit;
      if (!put_right(set, bin, head)) back_off(lost++, kLongestPause);
    }
    return kNone;
  }

  /// Takes segments from the first one that is large enough, in the list from `unit` on. `lost` becomes true if another
  /// thread was faster.
  __device__ SegmentRun first_fit(std::uint32_t unit, const Wanted& wanted, bool& lost) const {
    // Segments may move to other lists meanwhile, and the search follows them. This does no harm, because it checks
    // their states.
    for (int step = 0; step < kSteps && unit != kNone; ++step) {
      const std::uint32_t next = links_[unit].load(Order::relaxed);
      std::uint64_t found = states_[unit].load(Order::relaxed);
      const SegmentState state = SegmentState::of(found);
      if (state.is_free() && state.size >= wanted.size) {
        const std::uint32_t room = state.size / wanted.size;
        const std::uint32_t count = room < wanted.count ? room : wanted.count;
        SegmentState rest = state;
        rest.size -= count * wanted.size;
        if (rest.size == 0) rest = {state.size, SegmentState::kTaken, state.listed};
        // Acquires the segment from give and make_free, after all accesses of the last owners.
        if (states_[unit].compare_exchange(found, rest.word(), Order::acquire)) {
          return {rest.use == SegmentState::kTaken ? unit : unit + rest.size, count};
        }
        lost = true;
      }
      unit = next;
    }
    return {};
  }

  /// Merges free segments of a list with their successors until one is large enough, and takes it.
  __device__ std::uint32_t merge_in(std::uint32_t set, std::uint32_t bin, std::uint32_t size) const {
    std::uint32_t unit = first_of(set, bin);
    for (int step = 0; step < kStepsOfMerging && unit != kNone; ++step) {
      const std::uint32_t next = links_[unit].load(Order::relaxed);
      std::uint64_t found = states_[unit].load(Order::relaxed);
      const SegmentState state = SegmentState::of(found);
      const SegmentState taken{state.size, SegmentState::kTaken, state.listed};
      if (state.is_free()) {
        begin_move();
        std::uint32_t got = kNone;
        // Acquires the segment from make_free.
        if (states_[unit].compare_exchange(found, taken.word(), Order::acquire))
          got = grow(set, unit, state.size, size);
        end_move();
        if (got != kNone) return got;
      }
      unit = next;
    }
    return kNone;
  }

  /// Merges the caller's segment, of `own` units, with its successors until it has `size` units. The excess becomes a
  /// free segment again, or all of it if it is too small. @return the first of the `size` units, or kNone
  __device__ std::uint32_t grow(std::uint32_t set, std::uint32_t unit, std::uint32_t own, std::uint32_t size) const {
    std::uint32_t all = own;
    for (std::uint32_t more = 1; more != 0 && all < size; all += more) more = absorb(unit + all);
    if (all == size) return start_segment(unit, size);
    const std::uint32_t rest = all > size ? all - size : all;
    if (all > size) start_segment(unit + rest, size);
    make_free(set, unit, rest);
    return all > size ? unit + rest : kNone;
  }

  /// Takes the free segments from `unit` on for the segment in front of them. @return their size
  __device__ std::uint32_t absorb(std::uint32_t unit) const {
    std::uint32_t size = 0;
    for (int i = 0; i < kMerges && unit + size < units_; ++i) {
      State& word = states_[unit + size];
      std::uint64_t found = word.load(Order::relaxed);
      const SegmentState state = SegmentState::of(found);
      if (!state.is_free()) break;
      // Acquires the segment from make_free.
      const SegmentState inside{0, SegmentState::kInside, state.listed};
      if (!word.compare_exchange(found, inside.word(), Order::acquire)) break;
      size += state.size;
    }
    return size;
  }

  /// Sets the state of a unit that the caller owns, except that `listed` stays true. @return the state before
  __device__ SegmentState set_state(std::uint32_t unit, SegmentState state, Order order) const {
    std::uint64_t found = states_[unit].load(Order::relaxed);
    const bool lists = state.listed;
    // Other threads change this word only to note an outdated entry in a list.
    do {
      state.listed = lists || SegmentState::of(found).listed;
    } while (!states_[unit].compare_exchange(found, state.word(), order));
    return SegmentState::of(found);
  }

  /// Makes a segment of the caller's units from `unit` on. @return unit
  __device__ std::uint32_t start_segment(std::uint32_t unit, std::uint32_t size) const {
    set_state(unit, {size, SegmentState::kTaken, false}, Order::relaxed);
    return unit;
  }

  /// Frees the caller's segment, which now has `size` units, and puts it into a list unless it still is in one.
  __device__ void make_free(std::uint32_t set, std::uint32_t unit, std::uint32_t size) const {
    // Releases the segment to first_fit, merge_in and absorb.
    if (!set_state(unit, {size, SegmentState::kFree, true}, Order::release).listed) push(set, bin_of(size), unit, unit);
  }

  /// Removes the head of a list. If it is free, puts it into the right list for its current size. @return false if
  /// another thread was faster
  __device__ bool put_right(std::uint32_t set, std::uint32_t bin, Head head) const {
    begin_move();
    std::uint64_t found = head.word();
    const Head next{links_[head.unit].load(Order::relaxed), head.tag + 1};
    // relaxed: keeps the release of push for threads that acquire the head.
    const bool removed = head_of(set, bin).compare_exchange(found, next.word(), Order::relaxed);
    if (removed) list_again(set, head.unit);
    end_move();
    return removed;
  }

  /// Puts a segment that was removed from a list into the right list for its current size, if it is free.
  __device__ void list_again(std::uint32_t set, std::uint32_t unit) const {
    std::uint64_t found = states_[unit].load(Order::relaxed);
    for (;;) {
      SegmentState state = SegmentState::of(found);
      if (state.is_free()) return push(set, bin_of(state.size), unit, unit);
      state.listed = false;
      if (states_[unit].compare_exchange(found, state.word(), Order::relaxed)) return;
    }
  }

  /// Puts each lane's segment into the list of `bin`, unless that is kBins. @pre the lanes of the group have the same
  /// bin
  template <class Group>
  __device__ void push_together(std::uint32_t set, std::uint32_t bin, std::uint32_t unit, const Group& group) const {
    if (bin == kBins) return;
    const int last = group.size() - 1;
    const std::uint32_t next = group.shuffle(unit, group.rank() < last ? group.rank() + 1 : last);
    if (group.rank() < last) links_[unit].store(next, Order::relaxed);
    const std::uint32_t end = group.shuffle(unit, last);
    group.synchronize();  // the first lane releases the links
    if (group.rank() == 0) push(set, bin, unit, end);
  }

  /// Puts segments that are linked, from `first` to `last`, into a list.
  __device__ void push(std::uint32_t set, std::uint32_t bin, std::uint32_t first, std::uint32_t last) const {
    State& word = head_of(set, bin);
    std::uint64_t found = word.load(Order::relaxed);
    for (int round = 0;; ++round) {
      const Head head = Head::of(found);
      links_[last].store(head.unit, Order::relaxed);
      // Releases the links to first_of.
      if (word.compare_exchange(found, Head{first, head.tag}.word(), Order::release)) return;
      back_off(round, kLongestPause);
      found = word.load(Order::relaxed);
    }
  }

  State* states_;
  Link* links_;
  State* heads_;
  Link* helpers_;
  State* moves_;
  std::uint32_t units_;
  std::uint32_t sets_;
};

}  // namespace dynasoar::detail
