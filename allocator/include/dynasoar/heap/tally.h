/// @file
/// Tally: a counter that thousands of warps add to. Used by BlockHeap for what becomes free and what is taken: with
/// these a request that found nothing proves that there was nothing.
///
/// The count is spread over shards, because all warps would otherwise meet at one address.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/tuning.h>

namespace dynasoar {

/// A view of the shards; the words (`kWords`, zero at first) belong to the caller of `over`.
///
/// @tparam Atomics   atomics policy, see PlatformAtomics
template <AtomicsPolicy Atomics = PlatformAtomics>
class Tally {
 public:
  using Word = typename Atomics::template word<std::uint64_t>;

  static constexpr int kShards = Atomics::kShards;
  static constexpr std::size_t kStride = detail::kWordsPerShard;  // from a shard to the next
  static constexpr std::size_t kWords = kShards * kStride;

  __host__ __device__ static Tally over(Word* words) {
    Tally tally;
    tally.words_ = words;
    return tally;
  }

  /// The word of a shard, for code that adds up a tally while no thread changes it.
  __host__ __device__ const Word& word(int shard) const { return words_[static_cast<std::size_t>(shard) * kStride]; }

  /// Adds to the count, in the shard of `key`.
  __device__ void add(std::uint32_t key, std::uint64_t amount, Order order) const { shard(key).add(amount, order); }

  /// The sum of all shards. Not a snapshot; but as each only grows, equal sums mean equal shards.
  ///
  /// An acquire: a thread that then reads another tally sees in it whatever was added there before what is counted
  /// here.
  /// @par Cost   one load per shard
  __device__ std::uint64_t read() const {
    std::uint64_t count = 0;
    DYNASOAR_UNROLL(8)  // loads that are under way at once
    for (int i = 0; i < kShards; ++i) count += word(i).load(Order::relaxed);
    Atomics::fence(Order::acquire);
    return count;
  }

 private:
  __device__ Word& shard(std::uint32_t key) const { return words_[key % kShards * kStride]; }

  Word* words_;
};

}  // namespace dynasoar
