/// @file
/// The colours of cells. Used by pictures.cpp and, on the device, by the DSL variants.
#pragma once

#include <array>
#include <cstdint>

#include <app/color.h>

namespace life {

inline constexpr app::Rgb kDeadColor = {9, 12, 28};
inline constexpr app::Rgb kAliveColor = {255, 247, 214};

// The colours of dying cells, from the first state to the last.
using DyingColors = std::array<app::Rgb, 5>;
inline constexpr DyingColors kDying = {{{255, 183, 77}, {236, 84, 70}, {158, 42, 116}, {74, 32, 122}, {26, 24, 68}}};

/// @param states   of the rule
/// @param dying    kDying, which device code cannot access itself
constexpr app::Rgb color_of(std::uint32_t state, int states, const DyingColors& dying) {
  if (state == 0) return kDeadColor;
  if (state == 1) return kAliveColor;
  // The middle of the state's part of the ramp, so that the last state is visible even if there are few states.
  return app::ramp(dying, (state - 1.5) / (states - 2));
}

}  // namespace life
