/// @file
/// World and Viewport: positions in a model's world and in a picture. They are constant expressions, so that device
/// code can use them, too.
#pragma once

namespace app {

/// A model's world: a rectangle. The unit is a cell, where cell (x, y) covers [x, x + 1) x [y, y + 1), or the model's
/// unit of length.
struct World {
  double left;
  double top;  ///< y where pictures begin
  double width;
  double height;
  bool y_up = false;  ///< y grows upwards, as of points: top is its largest value; of cells, y grows downwards
};

/// The part of a world that a picture shows.
struct Viewport {
  double left;
  double top;
  double scale;  ///< pixels per unit of the world
  int width;     ///< pixels
  int height;
  bool y_up;

  /// The coordinates of a pixel's upper left corner. For its middle, add 1/2 to the column and the row.
  constexpr double x_of(double column) const { return left + column / scale; }
  constexpr double y_of(double row) const { return y_up ? top - row / scale : top + row / scale; }

  /// Pixels of coordinates.
  constexpr double column_of(double x) const { return (x - left) * scale; }
  constexpr double row_of(double y) const { return (y_up ? top - y : y - top) * scale; }

  bool operator==(const Viewport&) const = default;
};

/// The viewport of this size that shows the whole world in its middle.
constexpr Viewport whole(const World& world, int width, int height) {
  const double across = width / world.width;
  const double down = height / world.height;
  const double scale = across < down ? across : down;
  const double unused_down = (height / scale - world.height) / 2;
  return {world.left - (width / scale - world.width) / 2,
          world.y_up ? world.top + unused_down : world.top - unused_down,
          scale,
          width,
          height,
          world.y_up};
}

}  // namespace app
