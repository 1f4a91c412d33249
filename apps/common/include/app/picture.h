/// @file
/// Picture: pixels that a window shows, or that are written as a PNG or as a part of an animation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <app/color.h>

namespace app {

/// A grid of pixels, row by row.
class Picture {
 public:
  Picture(int width, int height, Rgb color = {0, 0, 0})
      : width_(width),
        height_(height),
        words_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), word_of(color)) {}

  int width() const { return width_; }
  int height() const { return height_; }
  void set(int x, int y, Rgb color) { words_[index(x, y)] = word_of(color); }
  Rgb at(int x, int y) const { return color_of_word(words_[index(x, y)]); }

  /// Pixels as words, see color.h.
  std::vector<std::uint32_t>& words() { return words_; }
  const std::vector<std::uint32_t>& words() const { return words_; }

  /// The picture with every pixel as a square of `scale` x `scale`.
  Picture magnified(int scale) const;

  /// @throws std::runtime_error if the file cannot be written
  void save_png(const std::string& path) const;

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }

  int width_;
  int height_;
  std::vector<std::uint32_t> words_;
};

/// The scale at which a grid becomes a picture of a suitable size: small grids are magnified, huge ones are sampled.
struct PictureScale {
  int magnify;  ///< pixels per cell and side
  int sample;   ///< every n-th cell of every n-th row is shown

  /// The longer side gets at least 512 pixels and at most 8192.
  static PictureScale for_grid(int width, int height);
};

/// A picture of a grid of cells, row by row.
///
/// @param color   `color(c)`, of cell c = y * width + x
template <class F>
Picture picture_of_grid(int width, int height, F color) {
  const auto [magnify, sample] = PictureScale::for_grid(width, height);
  Picture picture((width - 1) / sample + 1, (height - 1) / sample + 1);
  for (int y = 0; y < picture.height(); ++y) {
    const auto row = static_cast<std::size_t>(y * sample) * static_cast<std::size_t>(width);
    for (int x = 0; x < picture.width(); ++x) picture.set(x, y, color(row + static_cast<std::size_t>(x * sample)));
  }
  return picture.magnified(magnify);
}

}  // namespace app
