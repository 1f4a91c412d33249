/// @file
/// checksum: a 64-bit checksum that detects changed bytes at the speed of reading memory. Used by checkpoint files.
///
/// Eight lanes each take one word of every 64 bytes, so that a processor works on all of them at once. Each step of a
/// lane, and each of the last steps, which join the lanes, maps different values to different values. Therefore a
/// change within one aligned word of 8 bytes is always detected. Other random changes are missed with a probability of
/// 2^-64. The checksum does not protect against forged files. docs/checkpoints.md defines it for readers of files.
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
    char last[kStripe] = {};  // padded with zeros; the length is added below
    std::memcpy(last, begin + done, bytes - done);
    take(last);
  }
  std::uint64_t sum = bytes;
  for (const std::uint64_t lane : lanes) sum = checksum_step(sum, lane);
  return sum ^ sum >> 32;
}

}  // namespace dynasoar::detail
