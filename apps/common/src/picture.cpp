#include <app/picture.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <fontconfig/fontconfig.h>

#include <app/cairo_png.h>
#include <dynasoar/write_file.h>

namespace app {
namespace {

constexpr int kShortestLongSide = 512;
constexpr int kLongestSide = 8192;

// Cairo and fontconfig cache fonts. The caches are freed at the end of the program, so that leak checkers do not report
// them.
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

void set_color(cairo_t* context, Rgb color, double opacity) {
  cairo_set_source_rgba(context, color.red / 255.0, color.green / 255.0, color.blue / 255.0, opacity);
}

void save_png(const CairoSurface& image, const std::string& path) {
  std::string contents;
  const auto append = [](void* to, const unsigned char* data, unsigned int bytes) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), bytes);
    return CAIRO_STATUS_SUCCESS;
  };
  if (const cairo_status_t status = cairo_surface_write_to_png_stream(image.get(), append, &contents);
      status != CAIRO_STATUS_SUCCESS) {
    throw std::runtime_error(fmt::format("cannot write {}: {}", path, cairo_status_to_string(status)));
  }
  dynasoar::write_file(path, contents);
}

Picture picture_of(const CairoSurface& image) {
  cairo_surface_flush(image.get());
  Picture picture(cairo_image_surface_get_width(image.get()), cairo_image_surface_get_height(image.get()));
  const unsigned char* const data = cairo_image_surface_get_data(image.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
  const auto width = static_cast<std::size_t>(picture.width());
  for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height()); ++y) {
    std::memcpy(&picture.words()[y * width], data + y * stride, width * sizeof(std::uint32_t));
  }
  for (std::uint32_t& word : picture.words()) word &= 0xFFFFFF;  // cairo leaves the upper byte open
  return picture;
}

CairoSurface image_of(const Picture& picture) {
  CairoSurface image = make_image(picture.width(), picture.height());
  cairo_surface_flush(image.get());
  unsigned char* const data = cairo_image_surface_get_data(image.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
  const auto width = static_cast<std::size_t>(picture.width());
  for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height()); ++y) {
    std::memcpy(data + y * stride, &picture.words()[y * width], width * sizeof(std::uint32_t));
  }
  cairo_surface_mark_dirty(image.get());
  return image;
}

Picture Picture::magnified(int scale) const {
  Picture result(width_ * scale, height_ * scale);
  auto to = result.words_.begin();
  for (int y = 0; y < result.height_; ++y) {
    for (int x = 0; x < width_; ++x) to = std::fill_n(to, scale, words_[index(x, y / scale)]);
  }
  return result;
}

void Picture::save_png(const std::string& path) const {
  app::save_png(image_of(*this), path);
}

PictureScale PictureScale::for_grid(int width, int height) {
  const int longest = std::max(width, height);
  if (longest > kLongestSide) return {1, (longest - 1) / kLongestSide + 1};
  return {std::max(1, (kShortestLongSide + longest - 1) / longest), 1};
}

}  // namespace app
