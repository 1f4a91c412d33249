/// @file
/// Tally: a counter that thousands of warps add to, and that shows what has begun but is not counted yet.
/// Used by BlockHeap for objects created and deleted, and for blocks opened and closed: with these a request that found
/// nothing proves that there was nothing.
///
/// The count is spread over shards, because all warps would otherwise meet at one address.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// A view of the shards in memory that somebody else owns (`kWords` words, zero at first).
///
/// A shard's word holds its part of the count in the low 48 bits, and above them how many changes have begun there.
///
/// @tparam Atomics   atomics policy, see PlatformAtomics
template <class Atomics = PlatformAtomics>
class Tally {
 public:
  using Word = typename Atomics::template word<std::uint64_t>;

  static constexpr int kShards = Atomics::kShards;
  static constexpr std::size_t kStride = 12;  // words from a shard to the next: no two of them in one 32-byte sector
  static constexpr std::size_t kWords = kShards * kStride;

  /// What a reader saw.
  struct Reading {
    std::uint64_t count;
    std::uint64_t in_progress;
    /// Whether no change overlaps with the time between the two readings.
    __host__ __device__ bool quiet_since(const Reading& earlier) const {
      return in_progress == 0 && earlier.in_progress == 0 && count == earlier.count;
    }
  };

  __host__ __device__ static Tally over(Word* words) {
    Tally tally;
    tally.words_ = words;
    return tally;
  }

  /// The word of a shard, for those who add up a tally that rests.
  __host__ __device__ const Word& word(int shard) const { return words_[static_cast<std::size_t>(shard) * kStride]; }

  /// Adds to the count, in the shard of `key`.
  __device__ void add(std::uint32_t key, std::uint64_t amount, Order order) const { shard(key).add(amount, order); }

  /// Takes from the count. @pre the shard of `key` counts so many
  __device__ void subtract(std::uint32_t key, std::uint64_t amount, Order order) const {
    shard(key).add(~amount + 1, order);
  }

  /// Announces a change. relaxed: the release of the atomic that makes the change publishes it.
  __device__ void begin(std::uint32_t key) const { shard(key).add(kBegun, Order::relaxed); }

  /// The change is complete. kCounted: a reader that sees it (acquire in read) sees the change; so it does on a GPU if
  /// the atomics that made the change have returned.
  __device__ void end(std::uint32_t key, std::uint64_t amount) const {
    shard(key).add(amount - kBegun, Atomics::kCounted);
  }

  /// A change that had begun found nothing to change. relaxed: there is nothing to publish.
  __device__ void cancel(std::uint32_t key) const { shard(key).add(~kBegun + 1, Order::relaxed); }

  /// Sums over all shards. Not a snapshot; but where nobody subtracts, equal counts mean equal shards, for each only
  /// grows.
  /// @par Cost   one load per shard
  __device__ Reading read() const {
    Reading reading{0, 0};
#if defined(__CUDA_ARCH__)
#pragma unroll 8  // loads that are under way at once
#endif
    for (int i = 0; i < kShards; ++i) {
      const std::uint64_t value = word(i).load(Order::relaxed);
      reading.count += value & (kBegun - 1);
      reading.in_progress += value / kBegun;
    }
    Atomics::fence(Order::acquire);
    return reading;
  }

 private:
  static constexpr std::uint64_t kBegun = std::uint64_t{1} << 48;

  __device__ Word& shard(std::uint32_t key) const {
    return words_[key % kShards * kStride];
  }

  Word* words_;
};

}  // namespace dynasoar
