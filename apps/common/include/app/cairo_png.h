/// @file
/// Owning handles for cairo, colours, and saving a surface; for code that draws with cairo.
#pragma once

#include <memory>
#include <string>

#include <cairo.h>

#include <app/picture.h>

namespace app {

struct CairoDeleter {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};

using CairoSurface = std::unique_ptr<cairo_surface_t, CairoDeleter>;
using CairoContext = std::unique_ptr<cairo_t, CairoDeleter>;

/// An opaque image. @throws std::runtime_error if it is too large
CairoSurface make_image(int width, int height);

/// Sets the colour in which the context draws. @param opacity   from 0 to 1
void set_color(cairo_t* context, Rgb color, double opacity = 1);

/// The image as a picture, and the other way round.
Picture picture_of(const CairoSurface& image);
CairoSurface image_of(const Picture& picture);

/// @throws std::runtime_error if the file cannot be written
void save_png(const CairoSurface& image, const std::string& path);

}  // namespace app
