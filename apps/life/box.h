/// @file
/// Box: the part of a frame that is not dead. Used by the growing frame and for writing patterns.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simulation.h"

namespace life {

/// A rectangle in coordinates of its frame, which begin at 0.
struct Box {
  int left;
  int top;
  int right;   ///< inclusive, as is
  int bottom;  ///< this

  int width() const { return right - left + 1; }
  int height() const { return bottom - top + 1; }
};

/// The smallest rectangle with all cells that are not dead; nothing if all cells are dead.
std::optional<Box> bounding_box(const Frame& frame);

/// The states in a box, row by row.
std::vector<std::uint16_t> states_in(const Frame& frame, const Box& box);

}  // namespace life
