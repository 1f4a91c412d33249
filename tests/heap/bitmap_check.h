/// @file
/// Copies a hierarchical bitmap to the host and checks that each level agrees with the one below.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/heap/bitmap.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::test {

/// A bitmap in host memory: `levels[l][i]` is container i of level l.
template <class Bits>
std::vector<std::vector<std::uint64_t>> download_levels(Executor& executor, const Bits& bitmap) {
  std::vector<std::vector<std::uint64_t>> levels;
  for (int level = 0; level < bitmap.levels(); ++level) {
    DeviceArray<std::uint64_t> words(bitmap.level_size(level));
    executor.for_each_index(words.size(), [bitmap, level, to = words.data()] __device__(std::size_t i) {
      to[i] = bitmap.container(level, static_cast<std::uint32_t>(i));
    });
    executor.synchronize();
    levels.push_back(words.download());
  }
  return levels;
}

inline bool bit_of(const std::vector<std::uint64_t>& containers, std::size_t position, int container_bits) {
  const auto bits = static_cast<std::size_t>(container_bits);
  return (containers[position / bits] >> position % bits & 1) != 0;
}

/// The errors of a bitmap that no thread is changing; empty if there are none.
inline std::string level_errors(const std::vector<std::vector<std::uint64_t>>& levels, std::size_t size,
                                int container_bits = 64) {
  std::string errors;
  std::size_t bits = size;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const std::vector<std::uint64_t>& containers = levels[level];
    for (std::size_t i = 0; i < containers.size() * static_cast<std::size_t>(container_bits); ++i) {
      if (!bit_of(containers, i, container_bits)) continue;
      if (i >= bits) errors += "level " + std::to_string(level) + " has bit " + std::to_string(i) + " past its end; ";
    }
    for (std::size_t i = 0; level > 0 && i < levels[level - 1].size(); ++i) {
      if (bit_of(containers, i, container_bits) == (levels[level - 1][i] != 0)) continue;
      errors +=
          "bit " + std::to_string(i) + " of level " + std::to_string(level) + " disagrees with the container below; ";
    }
    bits = containers.size();
  }
  if (levels.back().size() != 1) errors += "the top level has more than one container; ";
  return errors.substr(0, 500);
}

/// Number of set bits.
inline std::size_t count_bits(const std::vector<std::uint64_t>& containers) {
  std::size_t count = 0;
  for (const std::uint64_t container : containers) count += static_cast<std::size_t>(std::popcount(container));
  return count;
}

}  // namespace dynasoar::test
