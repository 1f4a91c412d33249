/// @file
/// The next state of a cell, for device code. Used by every parallel implementation; defined in README.md.
#pragma once

#include <cstdint>

#include <dynasoar/platform/config.h>

#include "rule.h"

namespace life {

inline constexpr std::uint32_t kDead = 0;
inline constexpr std::uint32_t kAlive = 1;

__host__ __device__ inline bool is_born(const Rule& rule, std::uint32_t alive_neighbors) {
  return (rule.birth >> alive_neighbors & 1) != 0;
}

__host__ __device__ inline bool survives(const Rule& rule, std::uint32_t alive_neighbors) {
  return (rule.survival >> alive_neighbors & 1) != 0;
}

/// The state that follows `state` in a cell that does not stay alive: dying states, then dead. @pre state != kDead
__host__ __device__ inline std::uint32_t older(const Rule& rule, std::uint32_t state) {
  return state + 1 == rule.states ? kDead : state + 1;
}

__host__ __device__ inline std::uint32_t next_state(const Rule& rule, std::uint32_t state,
                                                    std::uint32_t alive_neighbors) {
  if (state == kDead) return is_born(rule, alive_neighbors) ? kAlive : kDead;
  return state == kAlive && survives(rule, alive_neighbors) ? kAlive : older(rule, state);
}

}  // namespace life
