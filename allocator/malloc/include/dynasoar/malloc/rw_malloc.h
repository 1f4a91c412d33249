/// @file
/// RwMalloc: memory of any size, as a run of free units in a bitmap. Warps search for runs at random places.
///
/// Source: Pham et al., "Dynamic Memory Management in Massively Parallel Systems: A Case on GPUs", ICS '22, section 4.3
/// (algorithm 3, RW_malloc): the lanes of a warp read consecutive words of the bitmap, at a random place, and search
/// there for runs that are long enough. Small requests of a warp are combined.
///
/// The paper leaves the following open; this is our choice:
/// - Units have 16 bytes, so that little is wasted. A unit is never shared by two requests.
/// - Requests of a warp are aggregated, from the lowest rank on, as long as they need at most kTogether units in all.
///   If no such run is found in kStepsTogether steps, the lanes make separate requests.
/// - Runs may continue from word to word, from lane to lane and, while all units are free, from one step's region to
///   the next. So a request may be larger than the region of one step, and a single lane can make it, too.
/// - `free` needs the size of the memory: a second bitmap marks the last unit of each allocation, also of the parts of
///   an aggregated request, which are freed separately.
/// - Runs of several words are claimed word by word, by several lanes, and released if another thread was faster with
///   one.
/// - A walk ends after kSteps steps. Then the whole bitmap is swept. If a sweep finds no free run, the result is null.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/lane_random.h>
#include <dynasoar/malloc/malloc_storage.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar {

namespace detail {

/// A bitmap of used units, in which the lanes of a group search for runs of free units together.
///
/// All functions that take a group must be called by all its lanes together, with the same arguments.
class UnitBitmap {
 public:
  using Word = AtomicWord<std::uint64_t>;
  static constexpr std::uint32_t kWordBits = 64;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  UnitBitmap() = default;
  UnitBitmap(Word* used, std::uint32_t words) : used_(used), words_(words) {}

  /// Takes `units` consecutive free units. @return the first one, or kNone if `steps` steps at random places found none
  template <class Group>
  __device__ std::uint32_t walk(const Group& group, std::uint32_t units, int steps, LaneRandom& random) const {
    Place place{group.broadcast(random.below(words_)), {}};
    for (int step = 0; step < steps; ++step) {
      const std::uint32_t first = look(group, place, units);
      if (first != kNone && take(group, first, units)) return first;
      if (first == kNone && place.tail.units > 0) {
        go_on(group, place);
      } else {
        place = {group.broadcast(random.below(words_)), {}};
      }
    }
    return kNone;
  }

  /// Like walk, but searches everywhere. @return kNone if there was no such run, or if other threads were always faster
  template <class Group>
  __device__ std::uint32_t sweep(const Group& group, std::uint32_t units, LaneRandom& random) const {
    // Once around, and further up to the end of a run that begins before the start.
    const std::uint32_t distance = words_ + units / kWordBits + 2;
    const auto lanes = static_cast<std::uint32_t>(group.size());
    for (int sweeps = 0; sweeps < PlatformAtomics::kPatience; ++sweeps) {
      if (sweeps > 0) PlatformAtomics::pause(sweeps);
      bool met = false;
      Place place{group.broadcast(random.below(words_)), {}};
      for (std::uint32_t looked = 0; looked < distance;) {
        const std::uint32_t first = look(group, place, units);
        if (first != kNone) {
          if (take(group, first, units)) return first;
          met = true;
          place.tail = {};
        }
        looked += min(lanes, words_ - place.word);
        go_on(group, place);
      }
      if (!met) return kNone;
    }
    return kNone;
  }

  /// Releases units.
  __device__ void give_back(std::uint32_t first, std::uint32_t units) const {
    for (std::uint32_t word = first / kWordBits; word <= (first + units - 1) / kWordBits; ++word) {
      used_[word].fetch_and(~bits_in(word, first, units), Order::release);  // pairs with take
    }
  }

 private:
  /// Consecutive free units.
  struct Run {
    std::uint32_t first = 0;
    std::uint32_t units = 0;
  };

  /// The region that a group searches: a word for each lane, from `word` on; and the free units directly before it.
  struct Place {
    std::uint32_t word;
    Run tail;
  };

  __device__ static std::uint32_t min(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

  /// The bits of a word for the units of a run.
  __device__ static std::uint64_t bits_in(std::uint32_t word, std::uint32_t first, std::uint32_t units) {
    const std::uint32_t begin = word * kWordBits;
    const std::uint32_t from = first > begin ? first - begin : 0;
    const std::uint32_t to = min(first + units - begin, kWordBits);
    return first_bits(static_cast<int>(to)) & ~first_bits(static_cast<int>(from));
  }

  /// The number of set bits in a row, from the lowest on.
  __device__ static std::uint32_t ones_from_bottom(std::uint64_t mask) {
    return static_cast<std::uint32_t>(~mask == 0 ? 64 : lowest_bit(~mask));
  }

  /// The same, from the highest bit on.
  __device__ static std::uint32_t ones_from_top(std::uint64_t mask) {
    return static_cast<std::uint32_t>(~mask == 0 ? 64 : 63 - highest_bit(~mask));
  }

  /// The bits of `free` that have units - 1 set bits right above them.
  __device__ static std::uint64_t starts_of_runs(std::uint64_t free, std::uint32_t units) {
    if (units > kWordBits) return 0;
    for (std::uint32_t known = 1; known < units;) {  // every remaining bit stands for this number
      const std::uint32_t more = min(known, units - known);
      free &= free >> more;
      known += more;
    }
    return free;
  }

  __device__ void advance(Place& place, std::uint32_t words) const {
    place.word += words;
    if (place.word >= words_) place = {};
  }

  template <class Group>
  __device__ void go_on(const Group& group, Place& place) const {
    advance(place, static_cast<std::uint32_t>(group.size()));
  }

  /// Searches for a run that begins in the region, or in the tail. @return its first unit; or kNone, in which case the
  /// tail becomes the free units at the end of the region
  template <class Group>
  __device__ std::uint32_t look(const Group& group, Place& place, std::uint32_t units) const {
    const auto rank = static_cast<std::uint32_t>(group.rank());
    const std::uint32_t word = place.word + rank;
    const std::uint64_t free = word < words_ ? ~used_[word].load(Order::relaxed) : 0;
    const std::uint64_t whole = group.ballot(~free == 0);  // completely free words
    const std::uint32_t bottom = ones_from_bottom(free);
    const std::uint32_t top = ones_from_top(free);
    const std::uint32_t behind = free_behind(group, whole, bottom);

    std::uint32_t first = kNone;
    const std::uint64_t starts = starts_of_runs(free, units);
    if (rank == 0 && place.tail.units > 0 && place.tail.units + bottom + (~free == 0 ? behind : 0) >= units) {
      first = place.tail.first;
    } else if (starts != 0) {
      first = word * kWordBits + static_cast<std::uint32_t>(lowest_bit(starts));
    } else if (top > 0 && top + behind >= units) {
      first = (word + 1) * kWordBits - top;
    }
    const std::uint32_t found = group.ballot(first != kNone);
    if (found != 0) return group.shuffle(first, lowest_bit(found));
    place.tail = tail_of(group, place, whole, top);
    return kNone;
  }

  /// The free units that follow this lane's word without a gap, up to the end of the region.
  template <class Group>
  __device__ static std::uint32_t free_behind(const Group& group, std::uint64_t whole, std::uint32_t bottom) {
    const int words = lowest_bit(~(whole >> (group.rank() + 1)));
    const int end = group.rank() + 1 + words;
    const std::uint32_t rest = group.shuffle(bottom, end < group.size() ? end : 0);
    return static_cast<std::uint32_t>(words) * kWordBits + (end < group.size() ? rest : 0);
  }

  /// The free units at the end of the region, including the tail before it if all of the region is free.
  template <class Group>
  __device__ static Run tail_of(const Group& group, const Place& place, std::uint64_t whole, std::uint32_t top) {
    const auto lanes = static_cast<std::uint32_t>(group.size());
    const std::uint32_t end = (place.word + lanes) * kWordBits;
    const std::uint64_t partly = first_bits(group.size()) & ~whole;
    const int last_partly = partly != 0 ? highest_bit(partly) : 0;
    const std::uint32_t rest = group.shuffle(top, last_partly);
    std::uint32_t units;
    if (partly == 0) {
      units = place.tail.units + lanes * kWordBits;
    } else {
      units = (lanes - 1 - static_cast<std::uint32_t>(last_partly)) * kWordBits + rest;
    }
    return {end - units, units};
  }

  /// Marks units as used, if all of them are free. Each lane marks some of the words.
  template <class Group>
  __device__ bool take(const Group& group, std::uint32_t first, std::uint32_t units) const {
    const auto lanes = static_cast<std::uint32_t>(group.size());
    const std::uint32_t begin = first / kWordBits + static_cast<std::uint32_t>(group.rank());
    const std::uint32_t end = (first + units - 1) / kWordBits + 1;
    bool all = true;
    std::uint32_t word = begin;
    for (; word < end && all; word += lanes) {
      const std::uint64_t bits = bits_in(word, first, units);
      const std::uint64_t found = used_[word].fetch_or(bits, Order::acquire) & bits;  // pairs with give_back
      all = found == 0;
      if (!all) used_[word].fetch_and(~bits | found, Order::relaxed);
    }
    if (group.ballot(!all) == 0) {
      group.synchronize();  // other lanes will use units that one lane has acquired
      return true;
    }
    if (!all) word -= lanes;  // that one has been undone
    while (word > begin) {
      word -= lanes;
      used_[word].fetch_and(~bits_in(word, first, units), Order::relaxed);
    }
    return false;
  }

  Word* used_;
  std::uint32_t words_;
};

}  // namespace detail

/// Memory of any size.
///
/// @par Concurrency   everything may overlap. Threads never wait for each other. A request ends with a sweep that finds
///                    no run of its length, or after PlatformAtomics::kPatience sweeps in which other threads were
///                    faster. Runs that other threads claim for a moment and then release count as used
/// @par Cost          for all small requests of a warp together: a load and two atomic operations for each word of the
///                    bitmap, and one atomic operation for each request; `free`: two atomic operations
class RwMalloc {
 public:
  static constexpr MallocProperties kProperties{"rw-malloc", true, false, true};

  using Storage = detail::MallocStorage<RwMalloc>;

  template <class Warp = PlatformWarp>
  __device__ void* malloc(std::size_t bytes, Warp warp = {}) const {
    if (bytes == 0 || bytes > largest()) return nullptr;
    const auto units = static_cast<std::uint32_t>((bytes + kUnitBytes - 1) / kUnitBytes);
    detail::LaneRandom random = detail::LaneRandom::of_lane(warp.id());
    const std::uint32_t first = take(warp.coalesce(), units, random);
    return first == kNone ? nullptr : heap_ + first * kUnitBytes;
  }

  template <class Warp = PlatformWarp>
  __device__ void free(void* pointer, Warp = {}) const {
    if (pointer == nullptr) return;
    const auto offset = static_cast<std::size_t>(static_cast<char*>(pointer) - heap_);
    const auto first = static_cast<std::uint32_t>(offset / kUnitBytes);
    const std::uint32_t last = last_unit_from(first);
    // Comes before the release in give_back, so the next owner of these units finds no mark on them.
    lasts_[last / kWordBits].fetch_and(~mark(last), Order::relaxed);
    used_.give_back(first, last - first + 1);
  }

  __host__ __device__ std::size_t largest() const { return std::size_t{units_} * kUnitBytes; }

  /// For Storage. @throws Error if not even one unit fits, or there is too little memory
  static RwMalloc make(Executor&, const MallocNeeds& needs, detail::MallocMemory& memory) {
    const std::size_t units = needs.heap_bytes / kUnitBytes;
    if (units == 0) throw Error("dynasoar: the heap is smaller than 16 bytes; ask for more heap_bytes");
    if (units > kMostUnits) throw Error("dynasoar: RwMalloc manages 32 GB at most; ask for less heap_bytes");
    const std::size_t words = (units + kWordBits - 1) / kWordBits;
    std::vector<std::uint64_t> used(words, 0);  // all free
    if (units % kWordBits != 0) used.back() = ~detail::first_bits(static_cast<int>(units % kWordBits));
    RwMalloc made{};
    made.used_ = detail::UnitBitmap(memory.make_table<Word>(used), static_cast<std::uint32_t>(words));
    made.lasts_ = memory.make_table<Word>(words);
    made.heap_ = memory.make_heap(units * kUnitBytes);
    made.units_ = static_cast<std::uint32_t>(units);
    return made;
  }

 private:
  using Word = detail::UnitBitmap::Word;
  static constexpr std::size_t kUnitBytes = 16;
  static constexpr std::uint32_t kWordBits = detail::UnitBitmap::kWordBits;
  static constexpr std::uint32_t kNone = detail::UnitBitmap::kNone;
  static constexpr std::uint32_t kTogether =
      2048;                                  // units: the number of bits that a warp of 32 lanes reads in one step
  static constexpr int kStepsTogether = 16;  // steps of a walk for several requests
  static constexpr int kSteps = 128;         // steps of a walk for one request
  // 32 GB; the sum of a warp's requests fits into 32 bits.
  static constexpr std::size_t kMostUnits = std::size_t{1} << 31;

  __device__ static std::uint64_t mark(std::uint32_t unit) { return std::uint64_t{1} << unit % kWordBits; }

  /// Takes units for every lane of the group. @return the first unit of the calling lane, or kNone
  template <class Group>
  __device__ std::uint32_t take(const Group& group, std::uint32_t units, detail::LaneRandom& random) const {
    std::uint32_t first = kNone;
    bool waits = true;
    bool together = true;
    // Each round serves or refuses at least one lane, except the round that ends the aggregation.
    while (group.ballot(waits) != 0) {
      const LaneSums sums = group.sums(!waits ? 0 : units <= kTogether ? units : kTogether + 1);
      const bool served = waits && (sums.before == 0 || (together && sums.before + units <= kTogether));
      const std::uint32_t lanes = group.ballot(served);  // the first waiting lanes
      const std::uint32_t wanted = group.shuffle(sums.before + units, detail::highest_bit(lanes));
      const bool alone = detail::popcount(lanes) == 1;
      const std::uint32_t run =
          alone ? take_one(group, wanted, random) : used_.walk(group, wanted, kStepsTogether, random);
      if (run == kNone && !alone) {
        together = false;
      } else if (run == kNone) {
        waits = waits && units < wanted;  // larger requests of other lanes fail, too
      } else if (served) {
        first = run + sums.before;
        const std::uint32_t last = first + units - 1;
        lasts_[last / kWordBits].fetch_or(mark(last), Order::relaxed);  // for the free of this memory
        waits = false;
      }
    }
    return first;
  }

  template <class Group>
  __device__ std::uint32_t take_one(const Group& group, std::uint32_t units, detail::LaneRandom& random) const {
    const std::uint32_t first = used_.walk(group, units, kSteps, random);
    return first != kNone ? first : used_.sweep(group, units, random);
  }

  /// The last unit of the memory that begins with `first`. @pre it is in use
  __device__ std::uint32_t last_unit_from(std::uint32_t first) const {
    std::uint32_t word = first / kWordBits;
    std::uint64_t marks = lasts_[word].load(Order::relaxed) & (~std::uint64_t{0} << first % kWordBits);
    while (marks == 0 && (word + 1) * kWordBits < units_) marks = lasts_[++word].load(Order::relaxed);
    return word * kWordBits + static_cast<std::uint32_t>(detail::lowest_bit(marks));
  }

  detail::UnitBitmap used_;
  Word* lasts_;  // a bit for each unit, set for the last unit of each allocation
  char* heap_;
  std::uint32_t units_;
};

static_assert(DeviceMalloc<RwMalloc>);

}  // namespace dynasoar
