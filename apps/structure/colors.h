/// @file
/// The colours of springs and nodes. Used by pictures.cpp and, on the device, by the DSL variant.
#pragma once

#include <array>

#include <app/color.h>

namespace structure {

inline constexpr app::Rgb kPaper = {255, 255, 255};
inline constexpr app::Rgb kAnchor = {17, 24, 39};
inline constexpr app::Rgb kPulled = {124, 58, 237};

// Springs from no tension to the greatest. For app::ramp.
using TensionColors = std::array<app::Rgb, 5>;
inline constexpr TensionColors kTensions = {
    {{200, 208, 219}, {80, 160, 210}, {238, 190, 60}, {235, 115, 35}, {200, 20, 40}}};

}  // namespace structure
