#include <app/picture.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <fontconfig/fontconfig.h>

#include <app/cairo_png.h>

namespace app {
namespace {

constexpr int kShortestLongSide = 512;
constexpr int kLongestSide = 8192;

// Cairo's pixels are words: unused, red, green, blue.
std::uint32_t word(Rgb color) {
  return static_cast<std::uint32_t>(color.red) << 16 | static_cast<std::uint32_t>(color.green) << 8 | color.blue;
}

// Cairo and fontconfig keep what they know of fonts. Given back at the program's end, so that leak checkers, which
// cannot see who still needs it, have nothing to report.
struct FontCaches {
  ~FontCaches() {
    cairo_debug_reset_static_data();
    FcFini();
  }
};

}  // namespace

CairoSurface make_image(int width, int height) {
  static const FontCaches caches;
  CairoSurface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height));
  if (const cairo_status_t status = cairo_surface_status(image.get()); status != CAIRO_STATUS_SUCCESS) {
    throw std::runtime_error(
        fmt::format("cannot make a picture of {} x {} pixels: {}", width, height, cairo_status_to_string(status)));
  }
  return image;
}

void save_png(const CairoSurface& image, const std::string& path) {
  if (const cairo_status_t status = cairo_surface_write_to_png(image.get(), path.c_str());
      status != CAIRO_STATUS_SUCCESS) {
    throw std::runtime_error(fmt::format("cannot write {}: {}", path, cairo_status_to_string(status)));
  }
}

Rgb mix(Rgb from, Rgb to, double position) {
  const double p = std::clamp(position, 0.0, 1.0);
  const auto channel = [p](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * p));
  };
  return {channel(from.red, to.red), channel(from.green, to.green), channel(from.blue, to.blue)};
}

Picture::Picture(int width, int height, Rgb color)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), color) {}

void Picture::save_png(const std::string& path, int scale) const {
  const CairoSurface image = make_image(width_ * scale, height_ * scale);
  cairo_surface_flush(image.get());
  unsigned char* const data = cairo_image_surface_get_data(image.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
  std::vector<std::uint32_t> row;
  for (int y = 0; y < height_; ++y) {
    row.clear();
    for (int x = 0; x < width_; ++x) row.insert(row.end(), static_cast<std::size_t>(scale), word(at(x, y)));
    for (int copy = 0; copy < scale; ++copy) {
      std::memcpy(data + static_cast<std::size_t>(y * scale + copy) * stride, row.data(), row.size() * sizeof(row[0]));
    }
  }
  cairo_surface_mark_dirty(image.get());
  app::save_png(image, path);
}

PictureScale PictureScale::for_grid(int width, int height) {
  const int longest = std::max(width, height);
  if (longest > kLongestSide) return {1, (longest - 1) / kLongestSide + 1};
  return {std::max(1, (kShortestLongSide + longest - 1) / longest), 1};
}

}  // namespace app
