/// @file
/// The colours of boids. Used by pictures.cpp and, on the device, by the DSL variant.
#pragma once

#include <array>

#include <app/color.h>

namespace flocking {

inline constexpr app::Rgb kSky = {13, 18, 32};

// Around the compass, from east over north, and east again.
using DirectionColors = std::array<app::Rgb, 7>;
inline constexpr DirectionColors kDirections = {
    {{255, 99, 99}, {255, 190, 80}, {150, 230, 110}, {70, 210, 220}, {110, 140, 255}, {225, 120, 235}, {255, 99, 99}}};

/// @param angle        from east over north, from -pi to pi
/// @param directions   kDirections, which device code cannot access itself
constexpr app::Rgb color_of(double angle, const DirectionColors& directions) {
  constexpr double kTurn = 2 * 3.14159265358979323846;
  return app::ramp(directions, angle < 0 ? 1 + angle / kTurn : angle / kTurn);
}

}  // namespace flocking
