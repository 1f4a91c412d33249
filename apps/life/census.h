/// @file
/// The census: counts cells on the device, by kind.
#pragma once

#include <cstddef>
#include <cstdint>

#include <app/census_history.h>
#include <app/count_history.h>

#include "dynamics.h"
#include "simulation.h"

namespace life {

/// Alive and dying cells and candidates, as in Population.
using Tally = app::Tally<Population>;
inline constexpr int kAliveCells = 0, kDyingCells = 1, kCandidates = 2;

/// Counts a cell.
__device__ inline void count_cell(Tally& tally, std::uint32_t state, bool has_alive_neighbors) {
  if (state == kDead) {
    tally.of[kCandidates] += has_alive_neighbors ? 1 : 0;
  } else {
    ++tally.of[state == kAlive ? kAliveCells : kDyingCells];
  }
}

/// Counts item i of a dense frame; an item is a few cells.
template <class Cells>
struct CountCells {
  Cells cells;
  __device__ void operator()(std::size_t i, Tally& tally) const { cells.count(i, tally); }
};

using CensusSums = app::CountSums<app::kNumbersOf<Population>>;

}  // namespace life
