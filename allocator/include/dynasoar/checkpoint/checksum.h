/// @file
/// checksum: 64 bits that tell whether bytes have changed, as fast as memory is read. Used by checkpoint files.
///
/// Eight lanes take a word each of 64 bytes in turn, so that a processor works on all of them at once. Each step of a
/// lane, and the last steps, which join the lanes, map different values to different values. So a change within one
/// aligned word of 8 bytes is always found; any other goes unnoticed once in 2^64 times, as far as chance goes. It is
/// no protection against people. docs/checkpoints.md defines it for readers of files.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dynasoar::detail {

inline constexpr std::uint64_t kChecksumFactor = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio, odd

/// One step of a lane. A bijection of `state`, and of `word`, if the other stays the same.
constexpr std::uint64_t checksum_step(std::uint64_t state, std::uint64_t word) {
  return std::rotl((state ^ word) * kChecksumFactor, 31);
}

/// The checksum of some bytes. @par Cost   one multiplication per 8 bytes
inline std::uint64_t checksum(const void* data, std::size_t bytes) {
  constexpr int kLanes = 8;
  constexpr std::size_t kStripe = kLanes * sizeof(std::uint64_t);
  static_assert(std::endian::native == std::endian::little, "dynasoar: checkpoints are for little-endian machines");
  std::uint64_t lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = kChecksumFactor * static_cast<std::uint64_t>(i + 1);
  const auto take = [&lanes](const char* stripe) {
    std::uint64_t words[kLanes];
    std::memcpy(words, stripe, kStripe);
    for (int i = 0; i < kLanes; ++i) lanes[i] = checksum_step(lanes[i], words[i]);
  };
  const char* const begin = static_cast<const char*>(data);
  std::size_t done = 0;
  for (; bytes - done >= kStripe; done += kStripe) take(begin + done);
  if (done < bytes) {
    char last[kStripe] = {};  // filled up with zeros: the length, below, tells how many are meant
    std::memcpy(last, begin + done, bytes - done);
    take(last);
  }
  std::uint64_t sum = bytes;
  for (const std::uint64_t lane : lanes) sum = checksum_step(sum, lane);
  return sum ^ sum >> 32;
}

}  // namespace dynasoar::detail
