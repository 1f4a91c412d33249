/// @file
/// Headers of the chunks of CircularMalloc: whether a chunk is free, and where the next one begins, in two words or
/// fused into one.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", sections 5.2 and 5.3.
///
/// The protocol: who takes a chunk (free -> busy) is the only one to write its header, and those of all units in it,
/// until it is put free again. A header is free only if it is a chunk's. Other threads may see values of a header in
/// any order; what they conclude from one counts only if `take` succeeds.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// What can be done with a chunk.
enum class ChunkFlag : std::uint32_t {
  used,  ///< nothing: it has an owner, or there is no chunk here
  busy,  ///< wait: its owner splits it or joins others to it
  free,  ///< take it
};

/// A header's value.
struct ChunkHeader {
  ChunkFlag flag;
  std::uint32_t next;  ///< unit where the next chunk begins
};

/// The flag in one word, the next chunk in another.
class TwoWordHeaders {
 public:
  static constexpr const char* kName = "circular";
  static constexpr const char* kNameOfMulti = "circular-multi";
  static constexpr std::size_t kWords = 2;  // per header
  static constexpr std::size_t kMostUnits = 0xffffffff;

  TwoWordHeaders() = default;
  explicit TwoWordHeaders(AtomicWord<std::uint32_t>* words) : words_(words) {}

  /// The header at `unit`; the words may be of different times.
  __device__ ChunkHeader look(std::uint32_t unit) const {
    return {static_cast<ChunkFlag>(flag(unit).load(Order::relaxed)), next(unit).load(Order::relaxed)};
  }

  /// Makes a free chunk busy and the caller's. @param seen   what was seen there; on success, what is there
  __device__ bool take(std::uint32_t unit, ChunkHeader& seen) const {
    auto expected = static_cast<std::uint32_t>(ChunkFlag::free);
    // Acquires what the chunk's last owner did, with the release of put_free; that includes `next`.
    if (!flag(unit).compare_exchange(expected, static_cast<std::uint32_t>(ChunkFlag::busy), Order::acquire)) {
      return false;
    }
    seen.next = next(unit).load(Order::relaxed);
    return true;
  }

  /// @pre the unit is in a chunk of the caller's
  __device__ void put_used(std::uint32_t unit, std::uint32_t next_chunk) const {
    next(unit).store(next_chunk, Order::relaxed);
    flag(unit).store(static_cast<std::uint32_t>(ChunkFlag::used), Order::relaxed);
  }

  /// @pre from `unit` to `next_chunk`, all is the caller's; it is not any more then
  __device__ void put_free(std::uint32_t unit, std::uint32_t next_chunk) const {
    next(unit).store(next_chunk, Order::relaxed);
    flag(unit).store(static_cast<std::uint32_t>(ChunkFlag::free), Order::release);  // for the acquire of `take`
  }

 private:
  __device__ AtomicWord<std::uint32_t>& flag(std::uint32_t unit) const { return words_[std::size_t{unit} * kWords]; }
  __device__ AtomicWord<std::uint32_t>& next(std::uint32_t unit) const {
    return words_[std::size_t{unit} * kWords + 1];
  }

  AtomicWord<std::uint32_t>* words_;
};

/// The flag in the low bits of the word that says where the next chunk begins: one word to read, one to write. There is
/// room for fewer units.
class FusedHeaders {
 public:
  static constexpr const char* kName = "circular-fused";
  static constexpr const char* kNameOfMulti = "circular-fused-multi";
  static constexpr std::size_t kWords = 1;  // per header
  static constexpr std::size_t kMostUnits = (1u << 30) - 1;

  FusedHeaders() = default;
  explicit FusedHeaders(AtomicWord<std::uint32_t>* words) : words_(words) {}

  /// The header at `unit`.
  __device__ ChunkHeader look(std::uint32_t unit) const {
    const std::uint32_t word = words_[unit].load(Order::relaxed);
    return {static_cast<ChunkFlag>(word & kFlag), word >> kFlagBits};
  }

  /// Makes a free chunk busy and the caller's, if it is as it was seen.
  __device__ bool take(std::uint32_t unit, const ChunkHeader& seen) const {
    std::uint32_t expected = fused(seen.flag, seen.next);
    // Acquires what the chunk's last owner did, with the release of put_free.
    return words_[unit].compare_exchange(expected, fused(ChunkFlag::busy, seen.next), Order::acquire);
  }

  /// @pre the unit is in a chunk of the caller's
  __device__ void put_used(std::uint32_t unit, std::uint32_t next_chunk) const {
    words_[unit].store(fused(ChunkFlag::used, next_chunk), Order::relaxed);
  }

  /// @pre from `unit` to `next_chunk`, all is the caller's; it is not any more then
  __device__ void put_free(std::uint32_t unit, std::uint32_t next_chunk) const {
    words_[unit].store(fused(ChunkFlag::free, next_chunk), Order::release);  // for the acquire of `take`
  }

 private:
  static constexpr int kFlagBits = 2;
  static constexpr std::uint32_t kFlag = (1u << kFlagBits) - 1;

  __device__ static std::uint32_t fused(ChunkFlag flag, std::uint32_t next) {
    return next << kFlagBits | static_cast<std::uint32_t>(flag);
  }

  AtomicWord<std::uint32_t>* words_;
};

}  // namespace dynasoar
