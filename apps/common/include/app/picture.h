/// @file
/// Picture: pixels to be written as a PNG, for the states of simulations on grids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace app {

/// A colour in sRGB.
struct Rgb {
  std::uint8_t red;
  std::uint8_t green;
  std::uint8_t blue;
};

/// The colour at `position` (0 to 1) on the way from one to another.
Rgb mix(Rgb from, Rgb to, double position);

/// A grid of pixels, row by row.
class Picture {
 public:
  Picture(int width, int height, Rgb color = {0, 0, 0});

  int width() const { return width_; }
  int height() const { return height_; }
  Rgb& at(int x, int y) { return pixels_[index(x, y)]; }
  Rgb at(int x, int y) const { return pixels_[index(x, y)]; }

  /// Writes the picture with every pixel as a square of `scale` x `scale`.
  ///
  /// @throws std::runtime_error if the file cannot be written
  void save_png(const std::string& path, int scale = 1) const;

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }

  int width_;
  int height_;
  std::vector<Rgb> pixels_;
};

/// How a grid becomes a picture of sensible size: small grids are magnified, huge ones sampled.
struct PictureScale {
  int magnify;  ///< pixels per cell and side
  int sample;   ///< every n-th cell of every n-th row is shown

  /// The longer side gets at least 512 pixels and at most 8192.
  static PictureScale for_grid(int width, int height);
};

}  // namespace app
