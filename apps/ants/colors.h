/// @file
/// The colours of the ground and of ants. Used by pictures.cpp and, on the device, by the DSL variant.
#pragma once

#include <app/color.h>

#include "simulation.h"

namespace ants {

inline constexpr app::Rgb kGround = {13, 15, 24};
inline constexpr app::Rgb kHome = {38, 96, 190};
inline constexpr app::Rgb kTrail = {255, 178, 56};
inline constexpr app::Rgb kFood = {124, 200, 88};
inline constexpr app::Rgb kNest = {176, 124, 90};
inline constexpr app::Rgb kWall = {74, 80, 96};
inline constexpr app::Rgb kForager = {150, 176, 214};
inline constexpr app::Rgb kCarrier = {255, 244, 214};

/// How bright a concentration is, from 0 to 1: half at `half`.
constexpr double brightness(float concentration, double half) {
  return concentration > 0 ? concentration / (concentration + half) : 0;
}

/// The colour of a cell: that of its food or, without, of its pheromones.
constexpr app::Rgb color_of(const CellState& cell) {
  if (cell.food > 0) return kFood;
  const app::Rgb home = mix(kGround, kHome, 0.8 * brightness(cell.home, 4));
  return mix(home, kTrail, brightness(cell.trail, 3));
}

}  // namespace ants
