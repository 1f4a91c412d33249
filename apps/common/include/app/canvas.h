/// @file
/// Canvas: pictures that the device draws from a model's state. Used by the implementations of the models for
/// Simulation::paint().
#pragma once

#include <cstddef>
#include <cstdint>

#include <app/color.h>
#include <app/picture.h>
#include <app/viewport.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace app {

/// A view of pixels in device memory. If things overlap, their depth and colour decide, and not the order of threads:
/// the same state gives the same picture.
struct Canvas {
  using Word = dynasoar::AtomicWord<std::uint32_t>;

  Viewport viewport;
  Word* pixels;  ///< depth in the upper 8 bits, then 0xRRGGBB

  /// Sets a pixel that nothing else paints.
  __device__ void set(std::size_t pixel, Rgb color) const {
    pixels[pixel].store(word_of(color), dynasoar::Order::relaxed);
  }

  /// Paints a pixel, unless something of less depth is there. Does nothing outside of the picture.
  __device__ void put(int column, int row, Rgb color, std::uint32_t depth) const {
    if (column < 0 || column >= viewport.width || row < 0 || row >= viewport.height) return;
    // Relaxed: the host reads the pixels after it has waited for this loop.
    pixels[static_cast<std::size_t>(row) * static_cast<std::size_t>(viewport.width) + static_cast<std::size_t>(column)]
        .fetch_min(depth << 24 | word_of(color), dynasoar::Order::relaxed);
  }

  /// Paints all pixels of the cell (x, y), at least one.
  __device__ void cell(int x, int y, Rgb color, std::uint32_t depth) const {
    const int left = floor_of(viewport.column_of(x));
    const int top = floor_of(viewport.row_of(y));
    const int right = larger(left + 1, floor_of(viewport.column_of(x + 1)));
    const int bottom = larger(top + 1, floor_of(viewport.row_of(y + 1)));
    for (int row = larger(top, 0); row < bottom && row < viewport.height; ++row) {
      for (int column = larger(left, 0); column < right && column < viewport.width; ++column) {
        put(column, row, color, depth);
      }
    }
  }

  /// Paints a disc at a place in the world; at least one pixel.
  ///
  /// @param radius   in pixels
  /// @param depth    0, in front, to 254
  __device__ void dot(double x, double y, double radius, Rgb color, std::uint32_t depth) const {
    const double column = viewport.column_of(x);
    const double row = viewport.row_of(y);
    if (!(column > -radius && column < viewport.width + radius && row > -radius && row < viewport.height + radius)) {
      return;
    }
    const int reach = static_cast<int>(radius);
    const int middle_column = floor_of(column);
    const int middle_row = floor_of(row);
    for (int down = -reach; down <= reach; ++down) {
      for (int across = -reach; across <= reach; ++across) {
        if (across * across + down * down <= radius * radius) {
          put(middle_column + across, middle_row + down, color, depth);
        }
      }
    }
  }

  /// Paints a line with a width of one pixel. Does nothing if it is longer than 8192 pixels, or far outside.
  __device__ void line(double x, double y, double to_x, double to_y, Rgb color, std::uint32_t depth) const {
    constexpr double kLongest = 8192;
    const double column = viewport.column_of(x);
    const double row = viewport.row_of(y);
    const double across = viewport.column_of(to_x) - column;
    const double down = viewport.row_of(to_y) - row;
    const double length = larger(across < 0 ? -across : across, down < 0 ? -down : down);
    if (!(length <= kLongest && column > -kLongest && column < viewport.width + kLongest && row > -kLongest &&
          row < viewport.height + kLongest)) {
      return;
    }
    const int steps = static_cast<int>(length) + 1;
    for (int i = 0; i <= steps; ++i) {
      put(floor_of(column + across * i / steps), floor_of(row + down * i / steps), color, depth);
    }
  }

 private:
  static __device__ int floor_of(double value) {
    const int whole = static_cast<int>(value);
    return value < whole ? whole - 1 : whole;
  }
  template <class T>
  static __device__ T larger(T a, T b) {
    return a > b ? a : b;
  }
};

/// The positions of a model's cells in its world, row by row.
struct CellGrid {
  int width;
  int height;
  int left = 0;
  int top = 0;
};

/// Paints cells: a pixel has the mean colour of the cells that it covers, of at most 16 x 16 of them.
/// @tparam Number   of a cell: of 64 bits if there may be more than 2^32
template <class Number, class F>
struct PaintCells {
  Canvas canvas;
  CellGrid grid;
  Rgb outside;
  F color;

  __device__ void operator()(std::size_t pixel) const {
    const Viewport& view = canvas.viewport;
    const auto width = static_cast<std::size_t>(view.width);
    const auto column = static_cast<double>(pixel % width);
    const auto row = static_cast<double>(pixel / width);
    const double covered = 1 / view.scale;
    const int samples = covered <= 1 ? 1 : covered >= 16 ? 16 : static_cast<int>(covered + 0.999);
    std::uint32_t red = 0, green = 0, blue = 0;
    for (int down = 0; down < samples; ++down) {
      for (int across = 0; across < samples; ++across) {
        const Rgb cell = at(view.x_of(column + (across + 0.5) / samples) - grid.left,
                            view.y_of(row + (down + 0.5) / samples) - grid.top);
        red += cell.red;
        green += cell.green;
        blue += cell.blue;
      }
    }
    const auto all = static_cast<std::uint32_t>(samples * samples);
    canvas.set(pixel,
               {static_cast<std::uint8_t>((red + all / 2) / all), static_cast<std::uint8_t>((green + all / 2) / all),
                static_cast<std::uint8_t>((blue + all / 2) / all)});
  }

 private:
  __device__ Rgb at(double x, double y) const {
    if (!(x >= 0 && x < grid.width && y >= 0 && y < grid.height)) return outside;
    return color(static_cast<Number>(y) * static_cast<Number>(grid.width) + static_cast<Number>(x));
  }
};

/// Submits the painting of a grid.
///
/// @param outside   colour of pixels that are on none of the cells
/// @param color     device callable: `color(c)`, the colour of cell c
template <class Number = std::uint32_t, class F>
void paint_cells(dynasoar::Executor& executor, const Canvas& canvas, CellGrid grid, Rgb outside, F color) {
  const std::size_t pixels =
      static_cast<std::size_t>(canvas.viewport.width) * static_cast<std::size_t>(canvas.viewport.height);
  executor.for_each_index(pixels, PaintCells<Number, F>{canvas, grid, outside, color});
}

/// The memory of a picture, which is kept as long as the size does not change.
class Easel {
 public:
  /// A canvas of one colour. Submits work to the executor, as painters must do, too.
  Canvas canvas(dynasoar::Executor& executor, const Viewport& viewport, Rgb background);

  /// The painted picture. @pre the painter has waited for its work
  Picture picture() const;

 private:
  int width_ = 0;
  int height_ = 0;
  dynasoar::DeviceArray<Canvas::Word> pixels_;
};

}  // namespace app
