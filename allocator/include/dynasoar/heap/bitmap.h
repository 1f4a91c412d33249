/// @file
/// Hierarchical bitmap: finds a set bit among millions with a few loads, while other threads set and clear bits. Used
/// by BlockHeap for free pages and for the empty, active and allocated blocks of each type.
///
/// Source: DynaSOAr, sections 4.1 and 5.1. Level 0 holds the bits in containers of kContainerBits. Bit i of level l + 1
/// says whether container i of level l has a bit set. A thread that makes a container non-empty sets the bit above; a
/// thread that empties it clears that bit. So each set above has exactly one matching clear.
///
/// A set that comes before the clear of an earlier change waits for this clear, and a clear waits for its set in the
/// same way. There are no other waits here. The thread that it waits for is only a few atomics away from its change,
/// and BlockTransitions explains why no two threads wait for each other. Meanwhile an upper level may be stale, so a
/// search may miss bits: if `find` fails, this does not prove that all bits are 0.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// No position. A search returns it if the top level shows no bit.
inline constexpr std::uint32_t kNoPosition = ~std::uint32_t{0};

/// No position, because a level below the top was being changed: search again.
inline constexpr std::uint32_t kStalePosition = kNoPosition - 1;

/// Whether a search result is a position. @param position   what a search returned
__host__ __device__ constexpr bool is_position(std::uint32_t position) {
  return position < kStalePosition;
}

/// A view of a hierarchical bitmap. The caller of `over` owns the words.
///
/// @tparam Atomics         atomics policy, see PlatformAtomics
/// @tparam kContainerBits  bits per container, 2 to 64; less than 64 only for model checking
/// @par Concurrency   all operations may overlap. `set` and `clear` of one bit must alternate over time, because they
///                    wait for each other; `try_clear` needs no partner
template <AtomicsPolicy Atomics = PlatformAtomics, int kContainerBits = 64>
class Bitmap {
 public:
  using Word = typename Atomics::template word<std::uint64_t>;

  static_assert(kContainerBits >= 2 && kContainerBits <= 64 && (kContainerBits & (kContainerBits - 1)) == 0,
                "dynasoar: containers have 2, 4, 8, 16, 32 or 64 bits");
  static constexpr int kMaxLevels = kContainerBits == 64 ? 6 : 32;

  /// A bitmap of `size` bits over `words_needed(size)` words. The words must be zero, or have the values of
  /// filled_word.
  __host__ __device__ static Bitmap over(Word* words, std::uint32_t size) {
    Bitmap bitmap;
    bitmap.words_ = words;
    bitmap.size_ = size;
    bitmap.levels_ = 0;
    std::uint32_t begin = 0;
    std::uint32_t bits = size;
    do {
      bitmap.level_begin_[bitmap.levels_++] = begin;
      bits = containers(bits);
      begin += bits;
    } while (bits > 1);
    return bitmap;
  }

  /// A view of the first `size` bits, for bitmaps that grow. The levels do not move, so views of several sizes can be
  /// in use at the same time. In level 0, words beyond `size` bits are not read unless a bit is set there.
  __host__ __device__ Bitmap first(std::uint32_t size) const {
    Bitmap bitmap = *this;
    bitmap.size_ = size;
    return bitmap;
  }

  /// The number of words of a bitmap of `size` bits, over all levels.
  __host__ __device__ static constexpr std::size_t words_needed(std::uint32_t size) {
    std::size_t words = 0;
    std::uint32_t bits = size;
    do {
      bits = containers(bits);
      words += bits;
    } while (bits > 1);
    return words;
  }

  /// The number of containers for `bits` bits; at least one.
  __host__ __device__ static constexpr std::uint32_t containers(std::uint32_t bits) {
    return bits == 0 ? 1 : (bits - 1) / kContainerBits + 1;
  }

  /// The value of word `index` (over all levels) of a bitmap of `size` bits in which the first `set` bits are set. To
  /// start with a filled bitmap, the owner of the words stores these values.
  __host__ __device__ static std::uint64_t filled_word(std::uint32_t size, std::uint32_t set, std::size_t index) {
    std::uint32_t bits = size;
    for (;;) {
      const std::uint32_t words = containers(bits);
      if (index < words) {
        const std::uint64_t first = static_cast<std::uint64_t>(index) * kContainerBits;
        if (first >= set) return 0;
        const std::uint64_t left = set - first;
        return detail::first_bits(left < kContainerBits ? static_cast<int>(left) : kContainerBits);
      }
      index -= words;
      set = set == 0 ? 0 : containers(set);
      bits = words;
    }
  }

  __host__ __device__ std::uint32_t size() const { return size_; }
  __host__ __device__ int levels() const { return levels_; }

  /// The number of containers of a level.
  __host__ __device__ std::uint32_t level_size(int level) const {
    std::uint32_t bits = size_;
    for (int i = 0; i <= level; ++i) bits = containers(bits);
    return bits;
  }

  /// Container `index` of `level`: for enumeration and checks.
  __device__ std::uint64_t container(int level, std::uint32_t index, Order order = Order::relaxed) const {
    return word(level, index).load(order);
  }

  /// Switches a bit from 0 to 1; waits while it is 1, for a thread that is about to clear it.
  ///
  /// @param order   of the access to level 0. With release, a thread that clears the bit with acquire sees the writes
  ///                before this call
  __device__ void set(std::uint32_t position, Order order = Order::release) const {
    const std::uint64_t before = begin_set(position, order);
    if (before == 0 || has(before, position)) settle_set(position, before, order);
  }

  /// Sets all bits of `mask` in the container of `position`. @pre they are all 0 and no other thread sets them
  __device__ void set_many(std::uint32_t position, std::uint64_t mask) const {
    // release: pairs with the acquire in try_clear.
    if (word(0, position / kContainerBits).fetch_or(mask, Order::release) == 0 && levels_ > 1) {
      switch_on(1, position / kContainerBits);
    }
  }

  /// `set` in three parts, for callers that can do other work while an access is in flight. @return the container
  /// before the change, for the other parts
  __device__ std::uint64_t begin_set(std::uint32_t position, Order order) const {
    return word(0, position / kContainerBits).fetch_or(bit(position), order);
  }
  /// Begins the change of level 1 if the container was empty. @return the word of level 1 before, for finish_set
  __device__ std::uint64_t begin_set_above(std::uint32_t position, std::uint64_t before) const {
    if (before != 0 || levels_ == 1) return 0;
    const std::uint32_t index = position / kContainerBits;
    return word(1, index / kContainerBits).fetch_or(bit(index), Order::relaxed);
  }
  __device__ void finish_set(std::uint32_t position, std::uint64_t before, std::uint64_t above, Order order) const {
    const std::uint32_t index = position / kContainerBits;
    if (has(before, position)) {
      settle_set(position, before, order);
    } else if (before == 0 && (above & bit(index)) != 0) {
      switch_on(1, index);  // a thread is about to clear it
    } else if (before == 0 && above == 0) {
      switch_on(2, index / kContainerBits);
    }
  }

  /// `try_clear` in three parts, for the same purpose.
  __device__ std::uint64_t begin_clear(std::uint32_t position, Order order) const {
    return word(0, position / kContainerBits).fetch_and(~bit(position), order);
  }
  __device__ std::uint64_t begin_clear_above(std::uint32_t position, std::uint64_t before) const {
    if (before != bit(position) || levels_ == 1) return 0;
    const std::uint32_t index = position / kContainerBits;
    return word(1, index / kContainerBits).fetch_and(~bit(index), Order::relaxed);
  }
  __device__ void finish_clear(std::uint32_t position, std::uint64_t before, std::uint64_t above) const {
    if (before != bit(position) || levels_ == 1) return;
    const std::uint32_t index = position / kContainerBits;
    if ((above & bit(index)) == 0) {
      switch_off(1, index);  // a thread is about to set it
    } else if (above == bit(index)) {
      switch_off(2, index / kContainerBits);
    }
  }
  /// Whether the bit is set in a container that begin_set or begin_clear has returned.
  __device__ static bool has(std::uint64_t container, std::uint32_t position) {
    return (container & bit(position)) != 0;
  }

  /// Switches a bit from 1 to 0; waits while it is 0, for a thread that is about to set it.
  ///
  /// @param order   of the access to level 0; see try_clear
  __device__ void clear(std::uint32_t position, Order order = Order::acquire) const {
    if (try_clear(position, order)) return;
    do {
      Atomics::pause();
    } while (!try_clear(position, order));
  }

  /// Sets a bit to 0. @return whether it was 1
  ///
  /// @param order   of the access to level 0. With acquire, the caller sees the writes before the `set` (with release)
  ///                that set the bit
  __device__ bool try_clear(std::uint32_t position, Order order = Order::acquire) const {
    const std::uint64_t before = begin_clear(position, order);
    if (before == bit(position)) settle_emptied(position / kContainerBits);
    return has(before, position);
  }

  /// Clears all bits of `mask` in the container of `position` if all of them are set there. @return whether it did
  ///
  /// Its changes of the upper levels are complete when the call returns.
  __device__ bool claim_all(std::uint32_t position, std::uint64_t mask) const {
    const std::uint32_t index = position / kContainerBits;
    std::uint64_t found = word(0, index).load(Order::relaxed);
    // acq_rel: acquire as in try_clear; release keeps earlier changes of the word published. A compare-exchange that
    // fails only means that the word has changed: try again.
    while ((found & mask) == mask) {
      if (word(0, index).compare_exchange(found, found & ~mask, Order::acq_rel)) {
        if (found == mask) settle_emptied(index);
        return true;
      }
    }
    return false;
  }

  /// Whether all bits of `mask` are set in the container of `position`. This is a read-modify-write that does not
  /// change the word. So if two threads set bits in different containers and then both call it, at least one of them
  /// sees both bits.
  __device__ bool has_all(std::uint32_t position, std::uint64_t mask) const {
    // acq_rel: pairs with another such call for this container. The earlier call publishes the bits that its caller has
    // set.
    return (word(0, position / kContainerBits).fetch_or(0, Order::acq_rel) & mask) == mask;
  }

  /// A container of level 0 and the bits that were set in it when it was read.
  struct Candidates {
    std::uint32_t first;  ///< position of the container's first bit, or kNoPosition or kStalePosition
    std::uint64_t bits;
  };

  /// The words that find_container reads first, for callers that skip the search if no bit is set. They are hints.
  struct Overview {
    std::uint64_t top;     ///< 0 if no bit is set
    std::uint64_t around;  ///< the container of level 1 around `start`; 0 if that is the top
  };

  /// @par Cost   two overlapping loads, or one if there are at most two levels
  __device__ Overview overview(std::uint32_t start) const {
    // relaxed: hints.
    const bool has_middle = levels_ > 2 && start < size_;
    return {word(levels_ - 1, 0).load(Order::relaxed),
            has_middle ? word(1, start / kContainerBits / kContainerBits).load(Order::relaxed) : 0};
  }

  /// Finds a container with set bits. One traversal from the top or, if there are bits around `start`, from there.
  ///
  /// @param start   the position to search first. At each level, the search begins at the bit that the digit of `start`
  ///                names, and continues cyclically. Equal starts search in the same order; different starts spread
  ///                threads over different bits
  /// @par Cost   one load per level; two loads of upper levels overlap
  __device__ Candidates find_container(std::uint32_t start) const { return find_container(start, overview(start)); }

  /// The same, for a caller that has the overview.
  __device__ Candidates find_container(std::uint32_t start, const Overview& seen) const {
    // relaxed: these are only hints. An atomic of the caller, on the block or page for which the bit stands, decides.
    if (seen.top == 0) return {kNoPosition, 0};
    const bool is_near = seen.around != 0;
    int level = is_near ? 1 : levels_ - 1;
    std::uint32_t index = is_near ? start / kContainerBits / kContainerBits : 0;
    std::uint64_t bits = is_near ? seen.around : seen.top;
    for (; level > 0; --level, bits = word(level, index).load(Order::relaxed)) {
      if (bits == 0) return {kStalePosition, 0};
      index = index * kContainerBits + next_bit(bits, digit(start, level));
    }
    return {bits == 0 ? kStalePosition : index * kContainerBits, bits};
  }

  /// A position with a bit that was set when it was read, or kNoPosition or kStalePosition; see find_container.
  __device__ std::uint32_t find(std::uint32_t start) const {
    const Candidates found = find_container(start);
    return is_position(found.first) ? found.first + next_bit(found.bits, digit(start, 0)) : found.first;
  }

  /// The offset, in its container, of the first of `bits` at or after the last digit of `start`, cyclically.
  __device__ static std::uint32_t first_of(std::uint64_t bits, std::uint32_t start) {
    return next_bit(bits, digit(start, 0));
  }

  /// Whether the top shows no bit; may be stale like any upper level.
  __device__ bool seems_empty() const { return word(levels_ - 1, 0).load(Order::relaxed) == 0; }

  /// The position at `fraction` / 2^32 of the size of the bitmap. Random fractions spread searches evenly. Random
  /// digits would not do so if the last container of a level is not full.
  __device__ std::uint32_t position_at(std::uint32_t fraction) const {
    return static_cast<std::uint32_t>((std::uint64_t{fraction} * size_) >> 32);
  }

  /// Clears some set bit. @return its position, or kNoPosition after `tries` searches that found none
  ///
  /// First tries the container of `start`, without a traversal, so a caller that takes neighbouring bits needs one
  /// load.
  /// @pre start < size()
  __device__ std::uint32_t clear_any(std::uint32_t start, int tries) const {
    return clear_any(start, container(0, start / kContainerBits), tries);
  }

  /// The same, for a caller that has read the container of `start` already.
  __device__ std::uint32_t clear_any(std::uint32_t start, std::uint64_t bits, int tries) const {
    if (bits != 0) {
      const std::uint32_t position = start / kContainerBits * kContainerBits + next_bit(bits, start % kContainerBits);
      if (try_clear(position)) return position;
    }
    return clear_elsewhere(start, tries);
  }

  /// Clears up to `want` set bits of one container: that of `start` or, if it has none, another one. @return the bits
  /// that this call cleared
  ///
  /// @pre start < size()
  /// @par Cost   one load and one atomic while the container of `start` has bits
  __device__ Candidates clear_some(std::uint32_t start, int want) const {
    Candidates found{start / kContainerBits * kContainerBits, container(0, start / kContainerBits)};
    if (found.bits == 0) found = find_container(position_at(start * kSpread));
    if (found.bits == 0) return found;
    const std::uint64_t mask = detail::lowest_set_bits(found.bits, want);
    // acquire: as in try_clear.
    const std::uint64_t before = word(0, found.first / kContainerBits).fetch_and(~mask, Order::acquire);
    if (before != 0 && (before & ~mask) == 0) settle_emptied(found.first / kContainerBits);
    return {found.first, before & mask};
  }

  /// Whether the bit is set.
  __device__ bool get(std::uint32_t position) const {
    return (word(0, position / kContainerBits).load(Order::relaxed) >> position % kContainerBits & 1) != 0;
  }

  /// A position found by reading all of level 0, or kNoPosition. Stale upper levels cannot hide a bit.
  ///
  /// @par Cost   size / kContainerBits loads
  __device__ std::uint32_t find_exhaustively(std::uint32_t start) const {
    const std::uint32_t count = containers(size_);
    std::uint32_t index = start / kContainerBits % count;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint64_t bits = word(0, index).load(Order::relaxed);
      if (bits != 0) return index * kContainerBits + static_cast<std::uint32_t>(detail::lowest_bit(bits));
      index = index + 1 == count ? 0 : index + 1;
    }
    return kNoPosition;
  }

 private:
  static constexpr int kDigitBits = detail::popcount_constant(kContainerBits - 1);
  static constexpr std::uint32_t kSpread = 2654435761u;  // 2^32 / golden ratio: consecutive multiples lie far apart

  __device__ Word& word(int level, std::uint32_t index) const { return words_[level_begin_[level] + index]; }

  __device__ static std::uint64_t bit(std::uint32_t position) { return std::uint64_t{1} << position % kContainerBits; }

  /// Digit `level` of a position in base kContainerBits.
  __device__ static std::uint32_t digit(std::uint32_t position, int level) {
    return position >> (kDigitBits * level) % 32 & (kContainerBits - 1);
  }

  __device__ static std::uint32_t next_bit(std::uint64_t bits, std::uint32_t start) {
    return static_cast<std::uint32_t>(detail::next_set_bit(bits, static_cast<int>(start)));
  }

  // Functions with loops, which are called only if a rare condition holds: see BlockSearch::try_allocate.

  /// Completes `set` if it found the bit set, or its container empty.
  __device__ void settle_set(std::uint32_t position, std::uint64_t before, Order order) const {
    while ((before & bit(position)) != 0) {
      Atomics::pause();
      before = begin_set(position, order);
    }
    if (before == 0 && levels_ > 1) switch_on(1, position / kContainerBits);
  }

  /// Clears the bits above container `index` of level 0, which the caller has emptied.
  __device__ void settle_emptied(std::uint32_t index) const {
    if (levels_ > 1) switch_off(1, index);
  }

  /// Continues `clear_any` from the top, after one try in its caller's container failed.
  __device__ std::uint32_t clear_elsewhere(std::uint32_t start, int tries) const {
    for (int i = 0; i < tries - 1; ++i) {
      const std::uint32_t position = find(position_at((start + static_cast<std::uint32_t>(i)) * kSpread));
      if (position == kNoPosition) break;
      if (is_position(position) && try_clear(position)) return position;
    }
    return kNoPosition;
  }

  // relaxed from level 1 up: the levels are hints, and each word's own modification order pairs sets with clears.
  __device__ void switch_on(int level, std::uint32_t position) const {
    for (; level < levels_; ++level) {
      const std::uint64_t mask = bit(position);
      std::uint64_t before;
      while (((before = word(level, position / kContainerBits).fetch_or(mask, Order::relaxed)) & mask) != 0) {
        Atomics::pause();
      }
      if (before != 0) return;
      position /= kContainerBits;
    }
  }

  __device__ void switch_off(int level, std::uint32_t position) const {
    for (; level < levels_; ++level) {
      const std::uint64_t mask = bit(position);
      std::uint64_t before;
      while (((before = word(level, position / kContainerBits).fetch_and(~mask, Order::relaxed)) & mask) == 0) {
        Atomics::pause();
      }
      if (before != mask) return;
      position /= kContainerBits;
    }
  }

  Word* words_;
  std::uint32_t level_begin_[kMaxLevels];
  std::uint32_t size_;
  int levels_;
};

}  // namespace dynasoar
