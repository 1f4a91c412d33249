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

constexpr app::Rgb color_of(State state) {
  return state == State::proliferating ? kProliferating : state == State::hypoxic ? kHypoxic : kNecrotic;
}

}  // namespace tumour
