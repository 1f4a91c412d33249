/// @file
/// The colours of cells. Used by pictures.cpp and, on the device, by the DSL variant.
#pragma once

#include <app/color.h>

#include "simulation.h"

namespace forest_fire {

inline constexpr app::Rgb kSoil = {41, 33, 28};
inline constexpr app::Rgb kTree = {52, 128, 62};
inline constexpr app::Rgb kFire = {255, 149, 40};

constexpr app::Rgb color_of(Ground ground) {
  switch (ground) {
    case Ground::tree: return kTree;
    case Ground::fire: return kFire;
    default: return kSoil;
  }
}

}  // namespace forest_fire
