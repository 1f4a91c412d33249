/// @file
/// Owning handles for cairo, and saving a surface; shared by picture.cpp and chart.cpp.
#pragma once

#include <memory>
#include <string>

#include <cairo.h>

namespace app {

struct CairoDeleter {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};

using CairoSurface = std::unique_ptr<cairo_surface_t, CairoDeleter>;
using CairoContext = std::unique_ptr<cairo_t, CairoDeleter>;

/// An opaque image. @throws std::runtime_error if it is too large
CairoSurface make_image(int width, int height);

/// @throws std::runtime_error if the file cannot be written
void save_png(const CairoSurface& image, const std::string& path);

}  // namespace app
