/// @file
/// The colours of cells. Used by pictures.cpp and, on the device, by the DSL variants.
#pragma once

#include <cmath>
#include <cstdint>

#include <app/color.h>

namespace sugarscape {

// Sugar goes from dark earth over brown to amber.
inline constexpr app::Rgb kBare = {24, 16, 14};
inline constexpr app::Rgb kSomeSugar = {122, 66, 18};
inline constexpr app::Rgb kMuchSugar = {255, 196, 84};
inline constexpr app::Rgb kMaleColor = {56, 214, 255};
inline constexpr app::Rgb kFemaleColor = {255, 84, 196};

inline constexpr double kMostSugar = 3500;

/// @param kind   of a CellState
/// @param root   of the share of kMostSugar that lies on the cell: the square root shows differences among the many
///               cells with little sugar
constexpr app::Rgb color_of(std::uint32_t kind, double root) {
  switch (kind) {
    case 1: return kMaleColor;
    case 2: return kFemaleColor;
    default: return root < 0.5 ? app::mix(kBare, kSomeSugar, 2 * root) : app::mix(kSomeSugar, kMuchSugar, 2 * root - 1);
  }
}

/// @tparam Cell   a CellState. This is a template because not all compilers have constant square roots
template <class Cell>
constexpr app::Rgb color_of(const Cell& cell) {
  return color_of(cell.kind, std::sqrt(cell.sugar / kMostSugar));
}

}  // namespace sugarscape
