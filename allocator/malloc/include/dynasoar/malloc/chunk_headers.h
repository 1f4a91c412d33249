/// @file
/// Headers of the chunks of CircularMalloc. A header has the state of a chunk and the beginning of the next one, in two
/// words or fused into one.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", sections 5.2 and 5.3.
///
/// The protocol: the thread that takes a chunk (free -> busy) is the only one to write its header, and those of all
/// units in it, until it is put free again. A header is free only if it is that of a chunk. Other threads may see
/// values of a header in any order. Their conclusions are valid only if `take` succeeds.
#pragma once

#include <cstddef>
#include <cstdint>

#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>

namespace dynasoar {

/// The state of a chunk.
enum class ChunkFlag : std::uint32_t {
  used,  ///< it has an owner, or there is no chunk here
  busy,  ///< its owner is splitting it or joining others to it
  free,  ///< it can be taken
};

/// A header's value.
struct ChunkHeader {
  ChunkFlag flag;
  std::uint32_t next;  ///< first unit of the next chunk
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

  /// The header at `unit`. The two words may have been written at different times.
  __device__ ChunkHeader look(std::uint32_t unit) const {
    return {static_cast<ChunkFlag>(flag(unit).load(Order::relaxed)), next(unit).load(Order::relaxed)};
  }

  /// Takes a free chunk for the caller and makes it busy. @param seen   the header that was read; on success, the
  /// actual one
  __device__ bool take(std::uint32_t unit, ChunkHeader& seen) const {
    auto expected = static_cast<std::uint32_t>(ChunkFlag::free);
    // Acquires all accesses of the chunk's last owner, from the release of put_free; these include `next`.
    if (!flag(unit).compare_exchange(expected, static_cast<std::uint32_t>(ChunkFlag::busy), Order::acquire)) {
      return false;
    }
    seen.next = next(unit).load(Order::relaxed);
    return true;
  }

  /// @pre the unit is in a chunk of the caller
  __device__ void put_used(std::uint32_t unit, std::uint32_t next_chunk) const {
    next(unit).store(next_chunk, Order::relaxed);
    flag(unit).store(static_cast<std::uint32_t>(ChunkFlag::used), Order::relaxed);
  }

  /// @pre the caller owns all units from `unit` to `next_chunk`, and gives them up
  __device__ void put_free(std::uint32_t unit, std::uint32_t next_chunk) const {
    next(unit).store(next_chunk, Order::relaxed);
    set_free(unit, next_chunk);
  }

  /// put_free for a header that leads to `next_chunk` already. There is no other change for which the release has to
  /// wait.
  __device__ void set_free(std::uint32_t unit, std::uint32_t /*next_chunk*/) const {
    flag(unit).store(static_cast<std::uint32_t>(ChunkFlag::free), Order::release);  // for the acquire of `take`
  }

 private:
  __device__ AtomicWord<std::uint32_t>& flag(std::uint32_t unit) const { return words_[std::size_t{unit} * kWords]; }
  __device__ AtomicWord<std::uint32_t>& next(std::uint32_t unit) const {
    return words_[std::size_t{unit} * kWords + 1];
  }

  AtomicWord<std::uint32_t>* words_;
};

/// The flag in the low bits of the word for the beginning of the next chunk: only one word is read or written, but
/// there is room for fewer units.
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

  /// Takes a free chunk for the caller and makes it busy, if its header has not changed.
  __device__ bool take(std::uint32_t unit, const ChunkHeader& seen) const {
    std::uint32_t expected = fused(seen.flag, seen.next);
    // Acquires all accesses of the chunk's last owner, from the release of put_free.
    return words_[unit].compare_exchange(expected, fused(ChunkFlag::busy, seen.next), Order::acquire);
  }

  /// @pre the unit is in a chunk of the caller
  __device__ void put_used(std::uint32_t unit, std::uint32_t next_chunk) const {
    words_[unit].store(fused(ChunkFlag::used, next_chunk), Order::relaxed);
  }

  /// @pre the caller owns all units from `unit` to `next_chunk`, and gives them up
  __device__ void put_free(std::uint32_t unit, std::uint32_t next_chunk) const {
    words_[unit].store(fused(ChunkFlag::free, next_chunk), Order::release);  // for the acquire of `take`
  }

  /// The same: there is only one word.
  __device__ void set_free(std::uint32_t unit, std::uint32_t next_chunk) const { put_free(unit, next_chunk); }

 private:
  static constexpr int kFlagBits = 2;
  static constexpr std::uint32_t kFlag = (1u << kFlagBits) - 1;

  __device__ static std::uint32_t fused(ChunkFlag flag, std::uint32_t next) {
    return next << kFlagBits | static_cast<std::uint32_t>(flag);
  }

  AtomicWord<std::uint32_t>* words_;
};

}  // namespace dynasoar
