/// @file
/// The colours of cells. Used by pictures.cpp and, on the device, by the DSL variant.
#pragma once

#include <cstdint>

#include <app/color.h>

#include "simulation.h"

namespace schelling {

inline constexpr app::Rgb kGround = {240, 236, 228};
inline constexpr app::Rgb kRedRoof = {205, 72, 54};
inline constexpr app::Rgb kBlueRoof = {38, 92, 158};

/// @param group   as in CellState
constexpr app::Rgb color_of(std::uint32_t group) {
  // Not by ?:, which would take the addresses of constants that are on the host only.
  switch (group) {
    case 0: return kGround;
    case 1: return kRedRoof;
    default: return kBlueRoof;
  }
}

constexpr app::Rgb color_of(const CellState& cell) {
  return color_of(cell.group);
}

}  // namespace schelling
