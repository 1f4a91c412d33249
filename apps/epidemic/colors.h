/// @file
/// The colours of people. Used by pictures.cpp and, on the device, by the DSL variant.
#pragma once

#include <app/color.h>

namespace epidemic {

inline constexpr app::Rgb kGround = {14, 18, 28};
inline constexpr app::Rgb kSusceptible = {92, 118, 168};
inline constexpr app::Rgb kInfected = {255, 96, 64};
inline constexpr app::Rgb kRecovered = {44, 148, 120};

}  // namespace epidemic
