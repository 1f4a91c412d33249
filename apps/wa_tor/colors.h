/// @file
/// The colours of cells. Used by pictures.cpp and, on the device, by the DSL variants.
#pragma once

#include <app/color.h>

#include "simulation.h"

namespace wa_tor {

inline constexpr app::Rgb kWater = {9, 30, 66};
inline constexpr app::Rgb kYoungFish = {134, 239, 215};
inline constexpr app::Rgb kOldFish = {45, 160, 150};
inline constexpr app::Rgb kHungryShark = {214, 52, 84};
inline constexpr app::Rgb kFedShark = {255, 159, 67};

constexpr app::Rgb color_of(const CellState& cell) {
  // The ends of the shades: few agents get older, and few sharks get more energy.
  constexpr double kOldAge = 8;
  constexpr double kHighEnergy = 10;
  switch (cell.kind) {
    case 1: return app::mix(kYoungFish, kOldFish, cell.age / kOldAge);
    case 2: return app::mix(kHungryShark, kFedShark, cell.energy / kHighEnergy);
    default: return kWater;
  }
}

}  // namespace wa_tor
