/// @file
/// Random numbers for tests, on the host and in device code; for programs without doctest, too.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>

#include <dynasoar/platform/config.h>

namespace dynasoar::test {

/// A small random generator (splitmix64) that runs both on the host and in device code.
struct Random {
  std::uint64_t state;

  __host__ __device__ std::uint64_t next() {
    std::uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// A number below `bound`, which is at most 2^32.
  __host__ __device__ std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32) * bound >> 32);
  }

  /// A generator of its own for each `stream` of one seed.
  __host__ __device__ static Random of(std::uint64_t seed, std::uint64_t stream) {
    Random random{seed ^ (stream + 1) * 0xD1342543DE82EF95u};
    random.next();
    return random;
  }
};

/// A number that looks random and follows from two others.
__host__ __device__ inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  return Random::of(a, b).next();
}

/// A new seed each time, or the one in the environment variable DYNASOAR_TEST_SEED, to repeat a run.
inline std::uint64_t drawn_seed() {
  if (const char* text = std::getenv("DYNASOAR_TEST_SEED")) return std::strtoull(text, nullptr, 10);
  return std::random_device{}();
}

}  // namespace dynasoar::test
