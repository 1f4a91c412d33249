/// @file
/// Random numbers for benchmarks, as functions of a number and a seed: every thread has its own without any state, and
/// all runs have the same.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

namespace benchmarks {

/// A number from 0 to 2^32 - 1 that depends on both arguments.
__host__ __device__ inline std::uint32_t hashed(std::uint64_t number, std::uint32_t seed) {
  std::uint64_t z = number + (std::uint64_t{seed} + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}

/// True with the given probability out of 1000.
__host__ __device__ inline bool happens(std::uint32_t per_thousand, std::uint64_t number, std::uint32_t seed) {
  return hashed(number, seed) % 1000 < per_thousand;
}

/// The place of `i` in a random order of the numbers below 2^bits: each of them is the place of one i.
__host__ __device__ inline std::uint32_t shuffled(std::uint32_t i, int bits) {
  // Each step can be undone, so that no two numbers get one place: odd factors, and shifts to the right.
  const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1);
  const int half = (bits + 1) / 2;
  for (const std::uint32_t factor : {0x9E3779B1u, 0x85EBCA6Bu, 0xC2B2AE35u}) {
    i = (i * factor + factor) & mask;
    i ^= i >> half;
  }
  return i;
}

}  // namespace benchmarks
