/// @file
/// ScatterPages: pages that are split into chunks of one size, and the fill levels of regions of pages. Used by
/// ScatterMalloc, which chooses the page to try.
///
/// Source: ScatterAlloc (Steinberger et al. 2012), sections 5.2, 5.4, 6.1 and 6.2. The first request that finds a page
/// free sets its chunk size. A request increments the count of chunks before it searches for a chunk, so every counted
/// request will find one.
///
/// Differences to the paper, and choices that it leaves open:
/// - Chunk size and count are one word. The chunk size can only change while the count is 0, so no page has to be
///   locked for that; and the operation that increments the count returns the current chunk size. The word also has the
///   number of chunks, because divisions take long on a GPU.
/// - A page whose chunks have all been freed keeps its chunk size until a request needs another one. So neither giving
///   back the last chunk nor taking the first one needs an additional change of the word.
/// - Bit fields have 64 bits, so a page of 4096 bytes needs the second level only for chunks below 64 bytes. Its bit
///   fields are at the start of the page. The thread that splits the page clears them before its chunk size becomes
///   visible.
/// - A request waits a limited time while another one clears the bit fields of a page.
/// - A page is split into the largest chunks of which the same number fits.
/// - The search for a free chunk starts at the position of the count, not of the lane's number. On a page without freed
///   chunks, the first try succeeds.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/malloc/bit_fields.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

using ScatterWord = AtomicWord<std::uint64_t>;

/// An entry of the page usage table.
struct ScatterPage {
  ScatterWord state;  ///< ScatterState; all 0: never used
  ScatterWord used;   ///< a bit per chunk or, with two levels, a bit per full bit field
};

/// The layout of a page with chunks of one size. All 0: the page has none.
struct ScatterSplit {
  static constexpr std::uint32_t kPageBytes = 4096;
  static constexpr std::uint32_t kUnit = 16;  ///< chunk sizes are multiples of it
  static constexpr std::uint32_t kBits = 64;  ///< of a bit field

  std::uint32_t chunk;  ///< size in bytes
  std::uint32_t spots;  ///< chunks

  __device__ static ScatterSplit of(std::uint32_t word) { return {word >> 16, word & 0xffff}; }
  __device__ std::uint32_t word() const { return chunk << 16 | spots; }

  /// The split for a request that finds a free page. @param bytes   a multiple of kUnit, at most kPageBytes
  __device__ static ScatterSplit for_request(std::uint32_t bytes) {
    const std::uint32_t spots = kPageBytes / bytes;
    if (spots <= kBits) return {kPageBytes / spots / kUnit * kUnit, spots};
    return {bytes, (kPageBytes - data_of((spots + kBits - 1) / kBits)) / bytes};
  }

  /// Whether this is for_request(bytes).
  __device__ bool is_for(std::uint32_t bytes) const {
    return chunk >= bytes && (spots + 1) * bytes + data() > kPageBytes;  // one more would not fit
  }

  /// The number of bit fields on the page, 0 if the one in the table is enough.
  __device__ std::uint32_t fields() const { return spots <= kBits ? 0 : (spots + kBits - 1) / kBits; }

  /// The offset of the first chunk.
  __device__ std::uint32_t data() const { return data_of(fields()); }

  /// The bits of a field that stand for chunks.
  __device__ std::uint64_t valid(std::uint32_t field) const {
    const std::uint32_t left = spots - field * kBits;
    return first_bits(static_cast<int>(left < kBits ? left : kBits));
  }

 private:
  __device__ static std::uint32_t data_of(std::uint32_t fields) { return (fields * 8 + kUnit - 1) / kUnit * kUnit; }
};

/// The state of a page.
struct ScatterState {
  static constexpr std::uint32_t kSplitting = 1;  ///< in place of the chunk size: bit fields are not cleared yet

  ScatterSplit split;   ///< no chunks until the page is first split
  std::uint32_t count;  ///< number of taken chunks, and of those that requests try to take; 0: the page is free

  __device__ static ScatterState of(std::uint64_t word) {
    return {ScatterSplit::of(static_cast<std::uint32_t>(word >> 32)), static_cast<std::uint32_t>(word)};
  }
  __device__ std::uint64_t word() const { return std::uint64_t{split.word()} << 32 | count; }
  __device__ bool is_free() const { return count == 0 && split.chunk != kSplitting; }
};

/// Chunks of one page for one or several lanes.
struct ScatterGrant {
  std::uint32_t page = 0;
  std::uint32_t split = 0;  ///< ScatterSplit of the page
  std::uint32_t first = 0;  ///< spot to try first
  std::uint32_t count = 0;  ///< chunks that the page has for the caller
  std::uint64_t bits = 0;   ///< with one level: their bits
};

/// The page usage table and the fill levels of regions and super blocks. Pages are numbered through all super blocks.
///
/// @par Concurrency   everything may overlap; lock-free
class ScatterPages {
 public:
  static constexpr std::uint32_t kPageBytes = ScatterSplit::kPageBytes;
  static constexpr std::uint32_t kRegionPages = 64;
  static constexpr int kRegionLimit = kRegionPages * 9 / 10;  ///< full pages from which on a region is skipped
  static constexpr std::uint32_t kMaxFragmentation = 2;       ///< maximum ratio of a chunk's size to that of a request

  ScatterPages() = default;

  /// @param table, region_fill, block_fill   all 0
  ScatterPages(char* memory, ScatterPage* table, AtomicWord<std::uint32_t>* region_fill,
               AtomicWord<std::uint32_t>* block_fill, std::uint32_t block_regions)
      : memory_(memory),
        table_(table),
        region_fill_(region_fill),
        block_fill_(block_fill),
        block_regions_(block_regions) {}

  __host__ __device__ std::uint32_t block_pages() const { return block_regions_ * kRegionPages; }
  __host__ __device__ std::uint32_t block_regions() const { return block_regions_; }

  /// The number of full pages of a region. It can be below 0 for a moment, if a page becomes full and not full again
  /// before the first change is noted.
  __device__ int full_pages(std::uint32_t region) const {
    return static_cast<int>(region_fill_[region].load(Order::relaxed));
  }

  /// Regions of a super block with more than kRegionLimit full pages.
  __device__ int full_regions(std::uint32_t block) const {
    return static_cast<int>(block_fill_[block].load(Order::relaxed));
  }

  /// The state of a page, for `take`.
  __device__ std::uint64_t look_at(std::uint32_t page) const { return table_[page].state.load(Order::relaxed); }

  /// Takes chunks for up to `wanted` requests of `bytes` bytes from a page, if its chunk size suits them or it is free.
  ///
  /// @param seen    the page's state
  /// @param bytes   a multiple of ScatterSplit::kUnit
  /// @return a grant of count 0 if there are none
  __device__ ScatterGrant take(std::uint32_t page, std::uint64_t seen, std::uint32_t bytes,
                               std::uint32_t wanted) const {
    ScatterGrant grant = reserve(page, seen, bytes, wanted);
    if (grant.count == 0) return grant;
    const ScatterSplit split = ScatterSplit::of(grant.split);
    if (split.fields() != 0) return grant;
    grant.bits = claim_bits(table_[page].used, split.valid(0), grant.first, static_cast<int>(grant.count));
    const auto got = static_cast<std::uint32_t>(popcount(grant.bits));
    if (got < grant.count) cancel(page, grant.count - got);
    grant.count = got;
    return grant;
  }

  /// The memory of one of the lanes of a grant. @return null if other threads were faster in many tries
  __device__ void* memory_of(const ScatterGrant& grant, std::uint32_t lane) const {
    const ScatterSplit split = ScatterSplit::of(grant.split);
    std::uint32_t spot;
    if (split.fields() == 0) {
      spot = static_cast<std::uint32_t>(nth_set_bit(grant.bits, static_cast<int>(lane)));
    } else {
      spot = claim_on_page(grant.page, split, grant.first + lane);
      if (spot == kNoSpot) {
        cancel(grant.page, 1);
        return nullptr;
      }
    }
    return page_memory(grant.page) + split.data() + spot * split.chunk;
  }

  /// Releases a chunk of every lane in `group`, all on one page.
  ///
  /// @param offset   of the chunk on the page
  /// @return in the lane of rank 0: whether the page has become free
  template <class Group>
  __device__ bool give(std::uint32_t page, std::uint32_t offset, const Group& group) const {
    // The chunk size cannot change as long as there is a chunk that has not been released.
    const ScatterSplit split = ScatterState::of(table_[page].state.load(Order::relaxed)).split;
    const std::uint32_t spot = (offset - split.data()) / split.chunk;
    const std::uint64_t bit = std::uint64_t{1} << spot % ScatterSplit::kBits;
    // A lane alone calls no collective operation, for which the groups of a warp would wait for each other.
    const bool is_alone = group.size() == 1;
    if (!is_alone) group.synchronize();  // the first lane's fence is for the other lanes' chunks, too
    // Releases the chunks with both changes: with the bits to claim_bits, with the count to split_page.
    PlatformAtomics::fence(Order::release);
    std::uint32_t given;
    if (split.fields() == 0) {
      const std::uint64_t bits = is_alone ? bit : group.combine(bit);
      if (group.rank() != 0) return false;
      given = static_cast<std::uint32_t>(popcount(table_[page].used.fetch_and(~bits, PlatformAtomics::kFenced) & bits));
    } else {
      free_on_page(page, split, spot / ScatterSplit::kBits, bit);
      if (!is_alone) group.synchronize();
      if (group.rank() != 0) return false;
      given = static_cast<std::uint32_t>(group.size());
    }
    // kCounted: a thread that splits the page again must also see the changes of the bits. On a GPU, relaxed is enough:
    // the changes of the bits have returned the old bits, so they have been executed.
    return release(page, given, PlatformAtomics::kCounted);
  }

 private:
  static constexpr std::uint32_t kNoSpot = 0xFFFFFFFFu;

  /// The number of times that a request looks at a page that another request splits, before it tries the next page.
  /// benchmarks/LOG.md, 2026-11-29 ("the authors' allocators, again"): with 0, requests for 16 bytes took 12 times as
  /// long.
  static constexpr int kSplitPatience = 8;

  __device__ char* page_memory(std::uint32_t page) const { return memory_ + std::size_t{page} * kPageBytes; }

  __device__ ScatterWord* fields_of(std::uint32_t page) const {
    return reinterpret_cast<ScatterWord*>(page_memory(page));
  }

  __device__ static bool suits(std::uint32_t chunk, std::uint32_t bytes) {
    return chunk >= bytes && chunk <= bytes * kMaxFragmentation;
  }

  /// Counts up to `wanted` chunks of a page as taken. @param found   the page's state
  __device__ ScatterGrant reserve(std::uint32_t page, std::uint64_t found, std::uint32_t bytes,
                                  std::uint32_t wanted) const {
    ScatterWord& word = table_[page].state;
    if (ScatterState::of(found).is_free() && !ScatterState::of(found).split.is_for(bytes)) {
      const ScatterGrant grant = split_page(page, ScatterSplit::for_request(bytes), wanted, found);
      if (grant.count != 0) return grant;
    }
    // Look at the page several times while another lane splits it. Otherwise, each lane of a warp would split a
    // separate page. Only pages of small chunks take time to be split. No pause in between, because lanes may diverge
    // there.
    const int looks = bytes < ScatterSplit::kPageBytes / ScatterSplit::kBits ? kSplitPatience : 0;
    for (int i = 0; i < looks && ScatterState::of(found).split.chunk == ScatterState::kSplitting; ++i) {
      found = word.load(Order::relaxed);
    }
    const ScatterState state = ScatterState::of(found);
    if (!suits(state.split.chunk, bytes) || state.count >= state.split.spots) return {};
    wanted = min_of(wanted, state.split.spots - state.count);  // the rest would most likely have to be released again
    // Acquires the page from release and split_page: all accesses with older chunk sizes come before, and bit fields
    // are clear.
    const ScatterState before = ScatterState::of(word.fetch_add(wanted, Order::acquire));
    const std::uint32_t spots = before.split.spots;
    if (before.count < spots && before.count + wanted >= spots) note_full(page);
    std::uint32_t got = 0;
    if (suits(before.split.chunk, bytes) && before.count < spots) got = min_of(wanted, spots - before.count);
    if (got < wanted) cancel(page, wanted - got);
    return {page, before.split.word(), before.count, got, 0};
  }

  /// Splits a free page. @param found   its state; if it has changed, it becomes the new one
  /// @return a grant of count 0 if the state has changed
  __device__ ScatterGrant split_page(std::uint32_t page, const ScatterSplit& split, std::uint32_t wanted,
                                     std::uint64_t& found) const {
    const std::uint32_t count = min_of(wanted, split.spots);
    std::uint64_t state = ScatterState{split, count}.word();
    const std::uint64_t splitting = ScatterState{{ScatterState::kSplitting, 0}, 0}.word();
    // Acquires the page from release: all accesses of the last owners come before, and the bit fields are clear.
    if (!table_[page].state.compare_exchange(found, split.fields() == 0 ? state : splitting, Order::acquire)) return {};
    if (split.fields() != 0) {
      for (std::uint32_t i = 0; i < split.fields(); ++i) fields_of(page)[i].store(0, Order::relaxed);
      // Releases the bit fields to reserve. An addition, because other threads may have been counted in error.
      state += table_[page].state.fetch_add(state - splitting, Order::release) - splitting;
    }
    if (ScatterState::of(state).count >= split.spots) note_full(page);
    return {page, split.word(), 0, count, 0};
  }

  /// Subtracts from the count chunks that were counted, but never used. The order is relaxed because no thread needs to
  /// acquire them.
  __device__ void cancel(std::uint32_t page, std::uint32_t count) const { release(page, count, Order::relaxed); }

  /// Subtracts `count` chunks from the count. @return whether the page has become free
  __device__ bool release(std::uint32_t page, std::uint32_t count, Order order) const {
    ScatterWord& word = table_[page].state;
    // Releases the chunks to the thread that splits the page again.
    const ScatterState before = ScatterState::of(word.fetch_add(std::uint64_t{0} - count, order));
    const std::uint32_t spots = before.split.spots;
    if (spots == 0) return false;
    if (before.count >= spots && before.count - count < spots) note_not_full(page);
    return before.count == count;
  }

  __device__ void note_full(std::uint32_t page) const {
    const std::uint32_t region = page / kRegionPages;
    const auto before = static_cast<int>(region_fill_[region].fetch_add(1, Order::relaxed));
    if (before == kRegionLimit) block_fill_[region / block_regions_].fetch_add(1, Order::relaxed);
  }

  __device__ void note_not_full(std::uint32_t page) const {
    const std::uint32_t region = page / kRegionPages;
    const auto before = static_cast<int>(region_fill_[region].fetch_add(0u - 1u, Order::relaxed));
    if (before == kRegionLimit + 1) block_fill_[region / block_regions_].fetch_add(0u - 1u, Order::relaxed);
  }

  /// A free chunk of a page with bit fields, for a caller that has been counted, so there is one.
  __device__ std::uint32_t claim_on_page(std::uint32_t page, const ScatterSplit& split, std::uint32_t start) const {
    constexpr int kRounds = 256;
    for (int round = 0; round < kRounds; ++round) {
      // The first round skips fields that are marked as full.
      const std::uint64_t passed_over = round == 0 ? table_[page].used.load(Order::relaxed) : 0;
      for (std::uint32_t i = 0; i < split.fields(); ++i) {
        const std::uint32_t field = (start / ScatterSplit::kBits + i) % split.fields();
        if ((passed_over >> field & 1) != 0) continue;
        const std::uint64_t bit = claim_bits(fields_of(page)[field], split.valid(field), start, 1);
        if (bit == 0) continue;
        note_field(page, split, field);
        return field * ScatterSplit::kBits + static_cast<std::uint32_t>(lowest_bit(bit));
      }
      PlatformAtomics::pause(round);
    }
    return kNoSpot;
  }

  /// Marks a bit field that has become full in the page's first level.
  __device__ void note_field(std::uint32_t page, const ScatterSplit& split, std::uint32_t field) const {
    const ScatterWord& bits = fields_of(page)[field];
    if (bits.load(Order::relaxed) != split.valid(field)) return;
    // acquire: pairs with the release in free_on_page. A thread that has already cleared the mark has freed a chunk of
    // the field before, and this is seen below. So a field that is not full does not keep its mark, and the first level
    // of a free page is clear.
    table_[page].used.fetch_or(std::uint64_t{1} << field, Order::acquire);
    if (bits.load(Order::relaxed) != split.valid(field)) {
      table_[page].used.fetch_and(~(std::uint64_t{1} << field), Order::release);
    }
  }

  /// @pre after a release fence, for claim_bits
  __device__ void free_on_page(std::uint32_t page, const ScatterSplit& split, std::uint32_t field,
                               std::uint64_t bit) const {
    const std::uint64_t before = fields_of(page)[field].fetch_and(~bit, PlatformAtomics::kFenced);
    if (before != split.valid(field)) return;
    // release: pairs with the acquire in note_field, which must see that the chunk's bit is cleared.
    table_[page].used.fetch_and(~(std::uint64_t{1} << field), Order::release);
    PlatformAtomics::fence(Order::release);  // for split_page: before the change of the count that follows
  }

  __device__ static std::uint32_t min_of(std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }

  char* memory_;
  ScatterPage* table_;                      // [pages]
  AtomicWord<std::uint32_t>* region_fill_;  // [regions] full pages
  AtomicWord<std::uint32_t>* block_fill_;   // [super blocks] regions over the limit
  std::uint32_t block_regions_;
};

}  // namespace dynasoar::detail
