/// @file
/// Ledger: tells a request that found nothing whether it may believe that there is nothing.
/// Used by BlockHeap to tell a full heap from one whose blocks were just changing hands.
///
/// Blocks and pages on their way from one bitmap to another are in none, so a search that sees only full blocks proves
/// nothing by itself. Every such change is therefore bracketed: `begin` before the block leaves the first bitmap, `end`
/// when it is in the second. A search is conclusive if nothing was in transit when it began and nothing has begun
/// since. The counts are spread over shards, because every opened block would otherwise meet at one address.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// A view of the counters in memory that somebody else owns (`kWords` words, zero at first).
///
/// A shard's word holds the number of changes in progress in its low half and the number of completed ones, modulo
/// 2^32, in its high half.
///
/// @tparam Atomics   atomics policy, see PlatformAtomics
/// @tparam kShards   counters that changes are spread over
template <class Atomics = PlatformAtomics, int kShards = 128>
class Ledger {
 public:
  using Word = typename Atomics::template word<std::uint64_t>;

  static constexpr std::size_t kStride = 16;  // words: one shard per 128-byte line
  static constexpr std::size_t kWords = kShards * kStride;

  /// What a reader saw.
  struct Reading {
    std::uint64_t in_progress;
    std::uint64_t completed;
    __host__ __device__ bool quiet_since(const Reading& earlier) const {
      return in_progress == 0 && earlier.in_progress == 0 && completed == earlier.completed;
    }
  };

  __host__ __device__ static Ledger over(Word* words) {
    Ledger ledger;
    ledger.words_ = words;
    return ledger;
  }

  /// A change begins. relaxed: the release of the atomic that takes the block out of its bitmap publishes it.
  __device__ void begin(std::uint32_t who) const { shard(who).add(1, Order::relaxed); }

  /// The change is complete. release: a reader that sees it (acquire in read) sees the block in its new place.
  __device__ void end(std::uint32_t who) const { shard(who).add(kCompleted - 1, Order::release); }

  /// A change that had begun found nothing to change. relaxed: there is nothing to publish.
  __device__ void cancel(std::uint32_t who) const { shard(who).add(~std::uint64_t{0}, Order::relaxed); }

  /// A change that was one atomic has happened. relaxed: it only makes older proofs void, and must be seen no earlier
  /// than the caller's own return is.
  __device__ void note(std::uint32_t who) const { shard(who).add(kCompleted, Order::relaxed); }

  /// Sums over all shards. Equal sums of completed changes mean equal shards, for each only grows.
  ///
  /// Not a snapshot, yet two readings that are quiet prove that the heap was quiet between them: a change that begins
  /// after the first and is not seen by the second has taken nothing out of a bitmap that the reader has read.
  __device__ Reading read() const {
    Reading reading{0, 0};
    for (int i = 0; i < kShards; ++i) {
      const std::uint64_t value = words_[static_cast<std::size_t>(i) * kStride].load(Order::acquire);
      reading.in_progress += value & (kCompleted - 1);
      reading.completed += value >> 32;
    }
    return reading;
  }

 private:
  static constexpr std::uint64_t kCompleted = std::uint64_t{1} << 32;

  __device__ Word& shard(std::uint32_t who) const { return words_[(who % kShards) * kStride]; }

  Word* words_;
};

}  // namespace dynasoar
