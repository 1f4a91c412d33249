/// @file
/// Slabs: large pieces of memory that are split into chunks of one size each, with a bitmap that is searched by
/// hashing. Used by Halloc.
///
/// Source: Halloc (Adinetz and Pleiter 2014) as DynaSOAr (section 6) and Vinkler and Havran ("Register Efficient
/// Dynamic Memory Allocator for GPUs", section 4.5) describe it: of each size one slab is the head, which serves all
/// requests until it reaches a fill level and is replaced by another one. A slab that is free may be given another
/// size.
///
/// They leave open, and we chose:
/// - Slabs are as large as 1024 of them fill the heap, but have 64 KiB at least and 2 MiB at most.
/// - The level is 7/8. A chunk is counted before it is looked for, so whoever has been counted will find one soon.
/// Slabs
///   are not filled beyond the level: as the papers note, hashing leaves a part of the heap unused.
/// - A head is replaced by a slab of its size that is less than half full, or free; if there is none, by one below the
///   level. One warp at a time looks for it.
/// - The hash is one of the warp and of the count. It names half a bit field, in which the lanes take neighbours; who
///   finds a bit field full goes on to another one, at a distance that is coprime to their number.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/malloc/bit_fields.h>
#include <dynasoar/malloc/search_turn.h>
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

/// What a slab's word says. All 0: never used.
struct SlabState {
  std::uint32_t split;  ///< 1 + number of the size
  std::uint32_t count;  ///< of chunks taken, and of those that requests try to take

  __device__ static SlabState of(std::uint64_t word) {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint32_t>(word)};
  }
  __device__ std::uint64_t word() const { return std::uint64_t{split} << 32 | count; }
  __device__ bool is_of(std::uint32_t size) const { return split == size + 1; }
};

/// Chunks of one slab that have been counted for the lanes of a warp.
struct SlabGrant {
  std::uint32_t slab;
  std::uint32_t count;   ///< 0: nothing
  std::uint32_t before;  ///< chunks that were counted before
};

/// The slabs of a heap.
///
/// @par Concurrency   everything may overlap; lock-free, with a bound after which a request is refused
class Slabs {
 public:
  static constexpr std::size_t kNoOffset = ~std::size_t{0};

  using Word = AtomicWord<std::uint64_t>;

  /// The slab that serves requests of a size, in a cache line of its own.
  struct alignas(128) Head {
    AtomicWord<std::uint32_t> next;  ///< its number plus 1, or 0
    SearchTurn turn;
    AtomicWord<std::uint32_t> cursor;  ///< where the next search begins
  };

  Slabs() = default;

  /// @param states   [slabs], all 0
  /// @param fields   [slabs * fields_of(slab_bytes)], all 0
  /// @param heads    [SlabChunkSize::kCount], all 0
  Slabs(Word* states, Word* fields, Head* heads, std::uint32_t slabs, std::uint32_t slab_bytes)
      : states_(states), fields_(fields), heads_(heads), slabs_(slabs), slab_bytes_(slab_bytes) {}

  /// Bit fields of a slab, for the smallest chunks.
  __host__ __device__ static std::uint32_t fields_of(std::uint32_t slab_bytes) {
    return slab_bytes / SlabChunkSize::bytes(0) / kFieldBits;
  }

  __host__ __device__ std::size_t bytes() const { return std::size_t{slabs_} * slab_bytes_; }

  /// The slab of a byte of the heap.
  __device__ std::uint32_t slab_at(std::size_t offset) const {
    return static_cast<std::uint32_t>(offset / slab_bytes_);
  }

  /// Counts chunks for up to `wanted` requests, in the head of their size or in the slab that replaces it.
  __device__ SlabGrant reserve(std::uint32_t size, std::uint32_t wanted) const {
    Head& head = heads_[size];
    const std::uint32_t since = head.turn.now();
    for (int round = 0; round < kRounds; ++round) {
      const std::uint32_t next = head.next.load(Order::relaxed);
      SlabGrant grant{};
      if (next != 0) grant = reserve_in(next - 1, size, wanted, limit_of(size));
      if (grant.count != 0) return grant;
      if (head.turn.try_begin()) {
        // Whoever had the turn before may have replaced it.
        const bool is_old = head.next.load(Order::relaxed) == next;
        if (is_old) grant = replace(head, size, wanted);
        head.turn.end(!is_old || grant.count != 0);
        if (is_old) return grant;
      } else {
        if (head.turn.has_failed_since(since)) return {};
        PlatformAtomics::pause(round);
      }
    }
    return {};
  }

  /// Takes a chunk that was counted. @param lane   of the grant's, for whom
  /// @return its offset in the heap, or kNoOffset if others were faster for long
  __device__ std::size_t take(const SlabGrant& grant, std::uint32_t size, std::uint32_t warp,
                              std::uint32_t lane) const {
    const std::uint32_t spots = spots_of(size);
    const std::uint32_t fields = (spots + kFieldBits - 1) / kFieldBits;
    const std::uint32_t start = (hash(warp, grant.before) + lane) % spots;
    std::uint32_t field = start / kFieldBits;
    for (std::uint32_t i = 0; i < kSweeps * fields; ++i) {
      const std::uint32_t left = spots - field * kFieldBits;
      const std::uint64_t valid = first_bits(static_cast<int>(left < kFieldBits ? left : kFieldBits));
      const std::uint64_t bit = claim_bits(field_of(grant.slab, field), valid, start, 1);
      if (bit != 0) {
        const std::uint32_t spot = field * kFieldBits + static_cast<std::uint32_t>(lowest_bit(bit));
        return std::size_t{grant.slab} * slab_bytes_ + spot * SlabChunkSize::bytes(size);
      }
      field = (field + kStep) % fields;
    }
    release(grant.slab, 1);
    return kNoOffset;
  }

  /// Gives back the chunks that lanes have on one slab. @pre the lanes of the group, and no others, give back chunks of
  /// it
  template <class Group>
  __device__ void give(std::uint32_t slab, std::size_t offset, const Group& group) const {
    // The size cannot change as long as a chunk has not been given back.
    const std::uint32_t size = SlabState::of(states_[slab].load(Order::relaxed)).split - 1;
    const std::uint32_t spot = static_cast<std::uint32_t>(offset % slab_bytes_) / SlabChunkSize::bytes(size);
    // Releases the chunk to claim_bits.
    field_of(slab, spot / kFieldBits).fetch_and(~(std::uint64_t{1} << spot % kFieldBits), Order::release);
    group.synchronize();
    if (group.rank() == 0) release(slab, static_cast<std::uint32_t>(group.size()));
  }

 private:
  static constexpr std::uint32_t kFieldBits = 64;
  static constexpr int kRounds = 4 * PlatformAtomics::kPatience;  // looks at a head, until a request gives up
  static constexpr std::uint32_t kSweeps = 16;                    // over a bitmap, in search of a chunk that is there
  static constexpr std::uint32_t kStep = 131101;                  // a prime, larger than any number of bit fields
  static constexpr std::uint32_t kLooks = 8;                      // slabs that are looked at together

  __device__ Word& field_of(std::uint32_t slab, std::uint32_t field) const {
    return fields_[std::size_t{slab} * fields_of(slab_bytes_) + field];
  }

  __device__ std::uint32_t spots_of(std::uint32_t size) const { return slab_bytes_ / SlabChunkSize::bytes(size); }

  /// Chunks of a slab that may be taken.
  __device__ std::uint32_t limit_of(std::uint32_t size) const { return spots_of(size) - spots_of(size) / 8; }

  __device__ static std::uint32_t hash(std::uint32_t warp, std::uint32_t count) {
    constexpr std::uint32_t kFactor = 2654435761u;  // 2^32 / golden ratio: multiples lie evenly apart
    constexpr std::uint32_t kHalfField = 32;
    return ((warp * kFactor ^ count) * kFactor >> 8) * kHalfField;
  }

  /// Counts up to `wanted` chunks of a slab, up to `limit`.
  __device__ SlabGrant reserve_in(std::uint32_t slab, std::uint32_t size, std::uint32_t wanted,
                                  std::uint32_t limit) const {
    Word& word = states_[slab];
    const SlabState state = SlabState::of(word.load(Order::relaxed));
    if (!state.is_of(size) || state.count >= limit) return {};
    // Acquires the slab from release: what happened under an older size is over, the bitmap is clear of it.
    const SlabState before = SlabState::of(word.fetch_add(wanted, Order::acquire));
    std::uint32_t got = 0;
    if (before.is_of(size) && before.count < limit) {
      got = wanted < limit - before.count ? wanted : limit - before.count;
    }
    if (got < wanted) release(slab, wanted - got);
    return {slab, got, before.count};
  }

  /// Looks for another slab, and makes it the head. @return chunks of it, for the caller
  __device__ SlabGrant replace(Head& head, std::uint32_t size, std::uint32_t wanted) const {
    const std::uint32_t start = head.cursor.load(Order::relaxed) + size * kStep;
    for (const std::uint32_t limit : {spots_of(size) / 2, limit_of(size)}) {
      for (std::uint32_t i = 0; i < slabs_; i += kLooks) {
        for (std::uint32_t promising = look_at(start + i, size, limit); promising != 0; promising &= promising - 1) {
          const std::uint32_t slab = (start + i + static_cast<std::uint32_t>(lowest_bit(promising))) % slabs_;
          SlabGrant grant = reserve_in(slab, size, wanted, limit);
          if (grant.count == 0) grant = split(slab, size, wanted);
          if (grant.count == 0) continue;
          head.cursor.fetch_add(i + 1, Order::relaxed);
          head.next.store(slab + 1, Order::relaxed);
          return grant;
        }
      }
    }
    return {};
  }

  /// Which of kLooks slabs are free, or of a size and below a limit. The looks are independent, so that all are under
  /// way at once.
  __device__ std::uint32_t look_at(std::uint32_t first, std::uint32_t size, std::uint32_t limit) const {
    std::uint32_t promising = 0;
    for (std::uint32_t k = 0; k < kLooks; ++k) {
      const auto state = SlabState::of(states_[(first + k) % slabs_].load(Order::relaxed));
      promising |= std::uint32_t{state.count == 0 || (state.is_of(size) && state.count < limit)} << k;
    }
    return promising;
  }

  /// Gives a free slab a size. @return chunks of it; a grant of count 0 if it is not free any more
  __device__ SlabGrant split(std::uint32_t slab, std::uint32_t size, std::uint32_t wanted) const {
    std::uint64_t found = states_[slab].load(Order::relaxed);
    if (SlabState::of(found).count != 0) return {};
    const std::uint32_t count = wanted < limit_of(size) ? wanted : limit_of(size);
    // Acquires the slab from release: what its last owners did with it is over, the bitmap is clear.
    if (!states_[slab].compare_exchange(found, SlabState{size + 1, count}.word(), Order::acquire)) return {};
    return {slab, count, 0};
  }

  /// Counts `count` chunks less.
  __device__ void release(std::uint32_t slab, std::uint32_t count) const {
    // Releases the chunks and their bits to split, and to reserve_in.
    states_[slab].fetch_add(std::uint64_t{0} - count, Order::release);
  }

  Word* states_;
  Word* fields_;
  Head* heads_;
  std::uint32_t slabs_;
  std::uint32_t slab_bytes_;
};

}  // namespace dynasoar::detail
