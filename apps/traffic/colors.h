/// @file
/// The colours of streets and cars. Used by pictures.cpp and, on the device, by the DSL variants.
#pragma once

#include <array>

#include <app/color.h>

namespace traffic {

inline constexpr app::Rgb kNight = {15, 20, 32};
inline constexpr app::Rgb kAsphalt = {71, 83, 107};

// Cars from standing to the highest limit. For app::ramp.
using SpeedColors = std::array<app::Rgb, 4>;
inline constexpr SpeedColors kSpeeds = {{{255, 70, 70}, {255, 170, 50}, {250, 235, 90}, {120, 255, 150}}};

}  // namespace traffic
