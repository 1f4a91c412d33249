/// @file
/// MapBox and MapPainter: draw shapes at coordinates in the plane, with a legend below. Used by the pictures of models
/// with a network as their world.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include <cairo.h>

#include <app/cairo_png.h>
#include <app/color.h>
#include <app/picture.h>
#include <app/viewport.h>

namespace app {

/// The smallest rectangle with all points that were added. y grows upwards.
struct MapBox {
  double left = 0;
  double right = 0;
  double bottom = 0;
  double top = 0;
  bool is_empty = true;

  void include(double x, double y) {
    left = is_empty ? x : std::min(left, x);
    right = is_empty ? x : std::max(right, x);
    bottom = is_empty ? y : std::min(bottom, y);
    top = is_empty ? y : std::max(top, y);
    is_empty = false;
  }

  double width() const { return right - left; }
  double height() const { return top - bottom; }

  /// The box with a margin, which is this share of the longer side.
  World world(double share) const {
    const double margin = share * std::max({width(), height(), 1e-9});
    return {left - margin, top + margin, width() + 2 * margin, height() + 2 * margin, true};
  }
};

/// The style of a map; lengths in pixels.
struct MapStyle {
  double margin;
  double legend;         ///< height of the strip below the map
  double legend_middle;  ///< from the upper end of the strip
  double least_width;    ///< for the legend
  Rgb background;
  Rgb ink;  ///< of the legend's texts
};

/// The common part of the painters of maps.
class MapPainter {
 public:
  Picture picture() const { return picture_of(image_); }

 protected:
  MapPainter(const MapBox& view, const MapStyle& style) : view_(view), style_(style) {
    constexpr double kLongSide = 1600;
    const double longest = std::max(view.width(), view.height());
    if (longest > 0) scale_ = (kLongSide - 2 * style.margin) / longest;
    width_ = std::max(view.width() * scale_ + 2 * style.margin, style.least_width);
    height_ = view.height() * scale_ + 2 * style.margin;
    image_ = make_image(static_cast<int>(std::ceil(width_)), static_cast<int>(std::ceil(height_ + style.legend)));
    context_.reset(cairo_create(image_.get()));
    cairo_set_line_join(cr(), CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cr(), CAIRO_LINE_CAP_ROUND);
    set_color(style.background);
    cairo_paint(cr());
  }

  cairo_t* cr() const { return context_.get(); }

  /// Pixels per unit of length.
  double scale() const { return scale_; }

  /// Size of the map, without the legend.
  double width() const { return width_; }
  double height() const { return height_; }

  double x_of(double x) const {
    const double unused = width_ - 2 * style_.margin - view_.width() * scale_;
    return style_.margin + unused / 2 + (x - view_.left) * scale_;
  }
  double y_of(double y) const { return style_.margin + (view_.top - y) * scale_; }

  void set_color(Rgb color, double opacity = 1) { app::set_color(cr(), color, opacity); }

  /// A disc. @param x, y   in pixels
  void dot(double x, double y, double radius, Rgb color) {
    set_color(color);
    cairo_arc(cr(), x, y, radius, 0, 4 * std::acos(0.0));
    cairo_fill(cr());
  }

  double legend_middle() const { return height_ + style_.legend_middle; }

  /// Draws text in the legend. @return the start of the next item in the line
  double text(double x, const std::string& words) {
    constexpr double kFontSize = 22;
    cairo_select_font_face(cr(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr(), kFontSize);
    set_color(style_.ink);
    cairo_move_to(cr(), x, legend_middle() + kFontSize * 0.36);
    cairo_show_text(cr(), words.c_str());
    cairo_text_extents_t extents;
    cairo_text_extents(cr(), words.c_str(), &extents);
    return x + extents.x_advance;
  }

 private:
  MapBox view_;
  MapStyle style_;
  double scale_ = 1;
  double width_ = 0;
  double height_ = 0;
  CairoSurface image_;
  CairoContext context_;
};

}  // namespace app
