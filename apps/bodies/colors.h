/// @file
/// The colours of bodies in pictures that the device makes. Used by object_bodies.h.
#pragma once

#include <array>

#include <app/color.h>

namespace bodies {

inline constexpr app::Rgb kSpace = {5, 8, 18};

// From slow to fast.
using SpeedColors = std::array<app::Rgb, 3>;
inline constexpr SpeedColors kSpeeds = {{{60, 110, 255}, {225, 235, 255}, {255, 170, 70}}};

}  // namespace bodies
