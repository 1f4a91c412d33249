/// @file
/// Tally: a counter to which thousands of warps add. BlockHeap uses tallies to count space that becomes free and space
/// that is taken. With them, a request that found no slot proves that there was none.
///
/// The count is spread over shards, because otherwise all warps would access one address.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/backend.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/tuning.h>

namespace dynasoar {

/// A view of the shards. The caller of `over` owns the words (`kWords`, initially zero).
///
/// @tparam Atomics   atomics policy, see PlatformAtomics
template <AtomicsPolicy Atomics = PlatformAtomics>
class Tally {
 public:
  using Word = typename Atomics::template word<std::uint64_t>;

  static constexpr int kShards = Atomics::kShards;
  static constexpr std::size_t kStride = detail::kWordsPerShard;  // words from a shard to the next
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

  /// The sum of all shards. This is not a snapshot; but because each shard only grows, equal sums mean equal shards.
  ///
  /// An acquire: if the calling thread then reads another tally, it sees all additions to that tally that came before
  /// the additions seen here.
  /// @par Cost   one load per shard
  __device__ std::uint64_t read() const {
    std::uint64_t count = 0;
    DYNASOAR_UNROLL(8)  // overlapping loads
    for (int i = 0; i < kShards; ++i) count += word(i).load(Order::relaxed);
    Atomics::fence(Order::acquire);
    return count;
  }

 private:
  __device__ Word& shard(std::uint32_t key) const { return words_[key % kShards * kStride]; }

  Word* words_;
};

}  // namespace dynasoar
