/// @file
/// Slabs: large pieces of memory that are split into chunks of one size each, with a bitmap that is searched by
/// hashing. Used by Halloc.
///
/// Source: Halloc (Adinetz and Pleiter 2014) as DynaSOAr (section 6) and Vinkler and Havran ("Register Efficient
/// Dynamic Memory Allocator for GPUs", section 4.5) describe it: one slab of each size is the head, which serves all
/// requests until it reaches a fill level and is replaced by another one. A free slab may get another size.
///
/// These papers leave the following open; this is our choice:
/// - The heap has about 256 slabs, with at least 64 KiB and at most 4 MiB each: simultaneous requests of all warps of a
///   GPU should not use up a head before another one is found.
/// - The level is 7/8. A request is counted before it searches for a chunk, so every counted request will soon find
///   one. Slabs are not filled beyond the level: as the papers note, hashing leaves a part of the heap unused.
/// - A head is replaced by a slab of its size that is less than half full, or by a free slab; if there is none, by a
///   slab below the level. One warp at a time searches for it; the others read only the head's word until then.
/// - A request is counted without a look at the slab, because most heads have room. If the head has no room, the
///   request takes the count back. Until then, the count hides room from others. This has three consequences: a slab
///   that gets another size is no longer the head of its old size; requests look at the slab first while a search runs
///   or after one has failed; and a search that finds nothing searches again.
/// - The sizes of slabs are also in a separate table, which `free` reads. Otherwise it would have to wait for requests,
///   which change the states of slabs all the time.
/// - The hash takes the number of chunks of the slab that have ever been counted, and maps consecutive numbers to
///   different bits. As long as no chunk is freed, every request finds one at the first attempt. A request that finds
///   none continues with other bit fields: first random ones, then all of them.
/// - One lane searches for all lanes of its warp that need the same size, and takes adjacent chunks for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/malloc/back_off.h>
#include <dynasoar/malloc/bit_fields.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/malloc/size_steps.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/bits.h>
#include <dynasoar/platform/config.h>

namespace dynasoar::detail {

/// Sizes of chunks, by number: 16, 32 (number 2), 48, 64, 96, ..., 3072; requests are multiples of 16, so none is for
/// size 1, of 24 bytes.
struct SlabChunkSize : SizeSteps<16> {
  static constexpr std::uint32_t kCount = 16;
};

/// The state in a slab's word. All 0: never used.
struct SlabState {
  static constexpr int kSplitShift = 24;
  static constexpr int kTicketShift = 32;

  std::uint32_t ticket;  ///< chunks counted since the slab was split, including released ones
  std::uint32_t split;   ///< 1 + number of the size
  std::uint32_t count;   ///< taken chunks, and those that requests try to take; may be above the limit for a moment

  __device__ static SlabState of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> kTicketShift),
            static_cast<std::uint32_t>(word >> kSplitShift) & ((1u << (kTicketShift - kSplitShift)) - 1),
            static_cast<std::uint32_t>(word) & ((1u << kSplitShift) - 1)};
  }
  __device__ std::uint64_t word() const {
    return std::uint64_t{ticket} << kTicketShift | std::uint64_t{split} << kSplitShift | count;
  }
  __device__ bool is_of(std::uint32_t size) const { return split == size + 1; }

  /// The number to add to a word to count chunks. The ticket never decreases.
  __device__ static std::uint64_t counting(std::uint32_t chunks) {
    return std::uint64_t{chunks} << kTicketShift | chunks;
  }
};

/// The word of a size: its head, and whether a warp is searching for another one. All 0: there is none.
struct SlabHead {
  static constexpr std::uint32_t kSearched = 1;
  static constexpr std::uint32_t kFailed = 2;
  static constexpr std::uint32_t kOneFailure = 4;

  std::uint32_t next;  ///< number of the head plus 1, or 0
  std::uint32_t turn;  ///< kSearched while a warp searches; kFailed if the last search failed; number of failures

  __device__ static SlabHead of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
  __device__ std::uint64_t word() const { return std::uint64_t{next} << 32 | turn; }
  __device__ bool is_searched() const { return (turn & kSearched) != 0; }
  __device__ bool has_failed() const { return (turn & kFailed) != 0; }

  /// The words of a search: when it begins, and when it ends.
  __device__ SlabHead searched() const { return {next, turn | kSearched}; }
  __device__ SlabHead replaced_by(std::uint32_t slab) const { return {slab + 1, turn & ~(kSearched | kFailed)}; }
  __device__ SlabHead failed() const { return {next, ((turn & ~kSearched) | kFailed) + kOneFailure}; }
  /// The word of a search that has found nothing so far.
  __device__ SlabHead doubted() const { return {next, turn | kSearched | kFailed}; }
  /// The word of a size whose head got another size.
  __device__ SlabHead forgotten() const { return {0, turn}; }

  /// For `has_failed_since`.
  __device__ std::uint32_t searches() const { return turn / kOneFailure + (turn & kSearched); }

  /// Whether a search has failed that began after `since` was searches().
  __device__ bool has_failed_since(std::uint32_t since) const {
    return static_cast<std::int32_t>(turn / kOneFailure - since) > 0;
  }
};

/// Chunks of one slab that have been counted for the lanes of a warp.
struct SlabGrant {
  std::uint32_t slab;
  std::uint32_t count;   ///< 0: nothing
  std::uint32_t ticket;  ///< of the first chunk
};

/// The slabs of a heap.
///
/// @par Concurrency   everything may overlap; lock-free, with a bound after which a request is refused
class Slabs {
 public:
  static constexpr std::size_t kNoOffset = ~std::size_t{0};

  using Word = AtomicWord<std::uint64_t>;
  using Size = AtomicWord<std::uint32_t>;

  /// The SlabHead of a size, in a cache line of its own.
  struct alignas(128) Head {
    Word word;
  };

  Slabs() = default;

  /// @param states, sizes   [slabs], all 0
  /// @param fields   [slabs * fields_of(slab_bytes)], all 0
  /// @param heads    [SlabChunkSize::kCount], all 0
  /// @param slab_bytes   a power of two
  Slabs(Word* states, Size* sizes, Word* fields, Head* heads, std::uint32_t slabs, std::uint32_t slab_bytes)
      : states_(states),
        sizes_(sizes),
        fields_(fields),
        heads_(heads),
        slabs_(slabs),
        slab_bits_(static_cast<std::uint32_t>(highest_bit(slab_bytes))) {}

  /// The number of bit fields of a slab with the smallest chunks.
  __host__ __device__ static std::uint32_t fields_of(std::uint32_t slab_bytes) {
    return slab_bytes / SlabChunkSize::bytes(0) / kFieldBits;
  }

  __host__ __device__ std::size_t bytes() const { return std::size_t{slabs_} << slab_bits_; }

  /// The slab of a byte of the heap.
  __device__ std::uint32_t slab_at(std::size_t offset) const {
    return static_cast<std::uint32_t>(offset >> slab_bits_);
  }

  /// A chunk of a size for each lane. @pre the lanes of the group, and no others, ask for one together
  /// @return the calling lane's offset in the heap, or kNoOffset
  template <class Group>
  __device__ std::size_t take(std::uint32_t size, const Group& group) const {
    const auto rank = static_cast<std::uint32_t>(group.rank());
    const auto lanes = static_cast<std::uint32_t>(group.size());
    std::size_t offset = kNoOffset;
    for (std::uint32_t served = 0; served < lanes;) {
      SlabGrant grant{};
      if (rank == 0) grant = reserve(size, lanes - served);
      grant = {group.broadcast(grant.slab), group.broadcast(grant.count), group.broadcast(grant.ticket)};
      if (grant.count == 0) break;
      const std::uint32_t end = served + grant.count;
      for (std::uint32_t step = 0; served < end; ++step) {
        const std::uint32_t field = field_for(grant, size, step);
        const std::uint64_t bits = group.broadcast(rank == 0 ? claim(grant, size, step, field, end - served) : 0);
        group.synchronize();  // the first lane's acquire holds for the other lanes, too
        const auto taken = static_cast<std::uint32_t>(popcount(bits));
        if (rank - served < taken) {
          const int bit = nth_set_bit(bits, static_cast<int>(rank - served));
          const std::uint32_t spot = field * kFieldBits + static_cast<std::uint32_t>(bit);
          offset = (std::size_t{grant.slab} << slab_bits_) + std::size_t{spot} * SlabChunkSize::bytes(size);
        }
        served += taken;
        if (step < kSweeps * fields_of_size(size)) continue;
        // Other threads were faster in many tries.
        if (rank == 0 && served < end) release(grant.slab, end - served, Order::relaxed);  // they were never used
        served = end;
      }
    }
    return offset;
  }

  /// Releases the lanes' chunks of one slab. @pre the lanes of the group, and no others, release chunks of it together
  template <class Group>
  __device__ void give(std::uint32_t slab, std::size_t offset, const Group& group) const {
    // The size cannot change as long as a chunk has not been released.
    const std::uint32_t size = sizes_[slab].load(Order::relaxed);
    const auto in_slab = static_cast<std::uint32_t>(offset) & (slab_bytes() - 1);
    const std::uint32_t spot = SlabChunkSize::count_in(in_slab, size);
    const std::uint64_t bit = std::uint64_t{1} << spot % kFieldBits;
    // A lane alone calls no collective operation, for which the groups of a warp would wait for each other.
    const bool is_alone = group.size() == 1;
    if (!is_alone) group.synchronize();  // the first lane's fence is for the other lanes' chunks, too
    // Releases the chunks with both changes: with the bits to claim_bits; with the count to split and reserve_in.
    PlatformAtomics::fence(Order::release);
    const std::uint64_t before = field_of(slab, spot / kFieldBits).fetch_and(~bit, PlatformAtomics::kFenced);
    // The chunk had already been released, so it must not be counted. This also waits for the change of the bits.
    if ((before & bit) == 0) states_[slab].add(1, Order::relaxed);
    if (!is_alone) group.synchronize();
    // kCounted: a thread that splits the slab again must also see the changes of the bits. On a GPU, relaxed is enough:
    // the changes of the bits have returned the old bits, so they have been executed.
    if (group.rank() == 0) release(slab, static_cast<std::uint32_t>(group.size()), PlatformAtomics::kCounted);
  }

 private:
  static constexpr std::uint32_t kFieldBits = 64;
  static constexpr int kRounds = 4 * PlatformAtomics::kPatience;  // tries with a head before a request gives up
  static constexpr int kLongestPause = 9;                         // 32 << n ns on a GPU
  static constexpr std::uint32_t kSweeps = 16;    // sweeps over a bitmap in search of a chunk that exists
  static constexpr std::uint32_t kHashes = 16;    // bit fields that a search tries before it continues in order
  static constexpr std::uint32_t kStep = 131101;  // a prime, larger than 4096, the greatest number of bit fields
  static constexpr std::uint32_t kLooks = 8;      // slabs with overlapping loads

  /// A slab that may become the head, with the state that was read.
  struct Candidate {
    std::uint32_t index;  ///< index among those read together; kLooks: there is none
    std::uint64_t word;
  };

  __device__ std::uint32_t slab_bytes() const { return 1u << slab_bits_; }

  __device__ Word& field_of(std::uint32_t slab, std::uint32_t field) const {
    return fields_[std::size_t{slab} * fields_of(slab_bytes()) + field];
  }

  __device__ std::uint32_t spots_of(std::uint32_t size) const { return SlabChunkSize::count_in(slab_bytes(), size); }

  /// number % count, where the count is of chunks of this size in a slab, or of their bit fields. It is a power of two
  /// if the size is one.
  __device__ static std::uint32_t remainder(std::uint32_t number, std::uint32_t count, std::uint32_t size) {
    return size % 2 == 0 ? number & (count - 1) : number % count;
  }

  __device__ std::uint32_t fields_of_size(std::uint32_t size) const {
    return (spots_of(size) + kFieldBits - 1) / kFieldBits;
  }

  /// The maximum number of taken chunks of a slab.
  __device__ std::uint32_t limit_of(std::uint32_t size) const { return spots_of(size) - spots_of(size) / 8; }

  /// Counts chunks for up to `wanted` requests, in the head of their size or in the slab that replaces it.
  __device__ SlabGrant reserve(std::uint32_t size, std::uint32_t wanted) const {
    Word& word = heads_[size].word;
    std::uint64_t seen = word.load(Order::relaxed);
    const std::uint32_t since = SlabHead::of(seen).searches();
    std::uint32_t full = 0;  // the head that was found full while another warp searches for a new one
    for (int round = 0; round < kRounds; ++round) {
      const SlabHead head = SlabHead::of(seen);
      if (head.next != 0 && !(head.next == full && head.is_searched()) && may_have_room(head, size)) {
        const SlabGrant grant = reserve_in(head.next - 1, size, wanted, limit_of(size));
        if (grant.count != 0) return grant;
      }
      if (head.has_failed_since(since)) return {};
      full = head.next;
      if (!head.is_searched()) {
        if (word.compare_exchange(seen, head.searched().word(), Order::relaxed)) {
          return replace(head, size, wanted);
        }
        continue;
      }
      back_off(round, kLongestPause);
      seen = word.load(Order::relaxed);
    }
    return {};
  }

  /// Whether it makes sense to count chunks in a head. Most heads have room, so this does not look at them: all
  /// requests and releases change the word of the head, and a GPU executes accesses to one word one after the other. It
  /// looks only if the head seemed to be full. Otherwise all those requests would be counted for a moment, and hide
  /// chunks that become free.
  __device__ bool may_have_room(const SlabHead& head, std::uint32_t size) const {
    return (!head.has_failed() && !head.is_searched()) || has_room(head.next - 1, size, limit_of(size));
  }

  __device__ bool has_room(std::uint32_t slab, std::uint32_t size, std::uint32_t limit) const {
    const SlabState state = SlabState::of(states_[slab].load(Order::relaxed));
    return state.is_of(size) && state.count < limit;
  }

  /// Counts up to `wanted` chunks of a slab, up to `limit`.
  __device__ SlabGrant reserve_in(std::uint32_t slab, std::uint32_t size, std::uint32_t wanted,
                                  std::uint32_t limit) const {
    Word& word = states_[slab];
    // Acquires the slab from release: all accesses with older sizes come before, and the bitmap is clear.
    const SlabState before = SlabState::of(word.fetch_add(SlabState::counting(wanted), Order::acquire));
    std::uint32_t got = 0;
    if (before.is_of(size) && before.count < limit) {
      got = wanted < limit - before.count ? wanted : limit - before.count;
    }
    // relaxed: the excess was never used, so no thread needs to acquire it.
    if (got < wanted) release(slab, wanted - got, Order::relaxed);
    return {slab, got, before.ticket};
  }

  /// The bit field of a search's step.
  __device__ std::uint32_t field_for(const SlabGrant& grant, std::uint32_t size, std::uint32_t step) const {
    const std::uint32_t fields = fields_of_size(size);
    const std::uint32_t place = remainder(grant.ticket, spots_of(size), size) / kFieldBits;
    // The first two are those of the tickets. Full fields are adjacent in that order, so the next tries are elsewhere.
    const std::uint32_t hash = step < 2 ? 0 : (grant.ticket + (step < kHashes ? step : kHashes)) * kSpread >> 12;
    const std::uint32_t offset = step < kHashes ? (step < 2 ? step : 0) : step - kHashes;
    return remainder(remainder(place + hash + offset, fields, size) * kStep, fields, size);
  }

  /// Takes up to `wanted` chunks that were counted, from a bit field of their slab. @return their bits
  __device__ std::uint64_t claim(const SlabGrant& grant, std::uint32_t size, std::uint32_t step, std::uint32_t field,
                                 std::uint32_t wanted) const {
    const std::uint32_t left = spots_of(size) - field * kFieldBits;
    // The bits in front of the first ticket's bit are for other tickets.
    const std::uint32_t start = step == 0 ? remainder(grant.ticket, spots_of(size), size) % kFieldBits : 0;
    const std::uint64_t valid = first_bits(static_cast<int>(left < kFieldBits ? left : kFieldBits));
    return claim_bits(field_of(grant.slab, field), valid & ~first_bits(static_cast<int>(start)), start,
                      static_cast<int>(wanted));
  }

  /// Searches for another slab, makes it the head, and releases the turn. @pre the caller has the turn
  /// @param head   the old head
  /// @return chunks of the new head, for the caller
  __device__ SlabGrant replace(const SlabHead& head, std::uint32_t size, std::uint32_t wanted) const {
    const std::uint32_t start = head.next + size * kStep;  // sizes start apart, behind the old head
    const std::uint32_t half = spots_of(size) / 2;
    const std::uint32_t limits[] = {half, limit_of(size), half, limit_of(size)};
    for (std::uint32_t pass = 0; pass < 4; ++pass) {
      const std::uint32_t limit = limits[pass];
      // Requests that were counted in error hide room for a moment. From now on they look first.
      if (pass == 2) heads_[size].word.store(head.doubted().word(), Order::relaxed);
      for (std::uint32_t i = 0; i < slabs_;) {
        const Candidate candidate = look_at(start + i, size, limit);
        i += candidate.index;
        if (candidate.index == kLooks) continue;
        const std::uint32_t slab = (start + i++) % slabs_;
        SlabGrant grant = split(slab, candidate.word, size, wanted);
        if (grant.count == 0 && has_room(slab, size, limit)) grant = reserve_in(slab, size, wanted, limit);
        if (grant.count == 0) continue;
        // After the change of the slab's state. Otherwise requests would take the new head for one of another size, and
        // search, too.
        heads_[size].word.store(head.replaced_by(slab).word(), Order::release);
        return grant;
      }
    }
    heads_[size].word.store(head.failed().word(), Order::relaxed);
    return {};
  }

  /// The first of kLooks slabs that is free, or that has a size and is below a limit. The loads are independent, so
  /// they overlap.
  __device__ Candidate look_at(std::uint32_t first, std::uint32_t size, std::uint32_t limit) const {
    Candidate found{kLooks, 0};
    for (std::uint32_t k = kLooks; k-- > 0;) {
      const std::uint64_t word = states_[(first + k) % slabs_].load(Order::relaxed);
      const SlabState state = SlabState::of(word);
      if (state.count == 0 || (state.is_of(size) && state.count < limit)) found = {k, word};
    }
    return found;
  }

  /// Sets the size of a free slab. @return chunks of it; a grant of count 0 if it is no longer free
  __device__ SlabGrant split(std::uint32_t slab, std::uint64_t seen, std::uint32_t size, std::uint32_t wanted) const {
    if (SlabState::of(seen).count != 0) return {};
    const std::uint32_t count = wanted < limit_of(size) ? wanted : limit_of(size);
    // acquire: pairs with the release of the count in release. All accesses of the last owners to the slab come before,
    // and the bitmap is clear. No thread can count chunks of a slab without a size.
    if (!states_[slab].compare_exchange(seen, SlabState{0, 0, count}.word(), Order::acquire)) return {};
    const std::uint32_t old = SlabState::of(seen).split;
    if (old != 0 && old != size + 1) forget_head(slab, old - 1);
    sizes_[slab].store(size, Order::relaxed);
    // Releases the size to reserve_in. An addition, because other threads may have been counted in error.
    states_[slab].add(SlabState{count, size + 1, 0}.word(), Order::release);
    return {slab, count, 0};
  }

  /// Lets a size have no head if this slab is the head. While a warp searches for another one, its search decides.
  __device__ void forget_head(std::uint32_t slab, std::uint32_t size) const {
    Word& word = heads_[size].word;
    std::uint64_t seen = word.load(Order::relaxed);
    for (SlabHead head = SlabHead::of(seen); head.next == slab + 1 && !head.is_searched(); head = SlabHead::of(seen)) {
      if (word.compare_exchange(seen, head.forgotten().word(), Order::relaxed)) return;
    }
  }

  /// Subtracts `count` chunks from the count.
  __device__ void release(std::uint32_t slab, std::uint32_t count, Order order) const {
    states_[slab].add(std::uint64_t{0} - count, order);
  }

  Word* states_;
  Size* sizes_;  // [slabs] numbers of their sizes, so that `give` need not read the states, which all requests change
  Word* fields_;
  Head* heads_;
  std::uint32_t slabs_;
  std::uint32_t slab_bits_;
};

}  // namespace dynasoar::detail
