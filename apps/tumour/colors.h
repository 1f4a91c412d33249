/// @file
/// The colours of cells. Used by pictures.cpp and, on the device, by the DSL variant.
#pragma once

#include <app/color.h>

#include "simulation.h"

namespace tumour {

inline constexpr app::Rgb kGround = {16, 14, 24};
inline constexpr app::Rgb kProliferating = {104, 196, 120};
inline constexpr app::Rgb kHypoxic = {236, 164, 60};
inline constexpr app::Rgb kNecrotic = {128, 84, 108};

/// Not written with `?:`, which selects one of the constants' addresses: these are not valid on a GPU.
constexpr app::Rgb color_of(State state) {
  if (state == State::proliferating) return kProliferating;
  if (state == State::hypoxic) return kHypoxic;
  return kNecrotic;
}

}  // namespace tumour
