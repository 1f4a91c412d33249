#include "pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include <cairo.h>

#include <app/cairo_png.h>
#include <app/chart.h>
#include <app/picture.h>

#include "colors.h"

namespace flocking {
namespace {

constexpr int kSize = 1024;
constexpr app::Rgb kOrderLine = {37, 99, 235};

// More darts cannot be distinguished.
constexpr std::size_t kMostDarts = 200000;

/// A triangle that points where the boid flies.
void draw_dart(cairo_t* context, double x, double y, double angle, double length) {
  const auto corner = [&](double along, double across) {
    return std::pair(x + length * (along * std::cos(angle) - across * std::sin(angle)),
                     y - length * (along * std::sin(angle) + across * std::cos(angle)));
  };
  constexpr std::array<std::pair<double, double>, 4> kCorners = {{{0.6, 0}, {-0.4, 0.3}, {-0.2, 0}, {-0.4, -0.3}}};
  for (const auto& [along, across] : kCorners) {
    const auto [px, py] = corner(along, across);
    cairo_line_to(context, px, py);
  }
  cairo_close_path(context);
  app::set_color(context, color_of(angle, kDirections));
  cairo_fill(context);
}

}  // namespace

app::Picture flock_picture(const std::vector<BoidState>& boids, float side) {
  const app::CairoSurface image = app::make_image(kSize, kSize);
  const app::CairoContext context(cairo_create(image.get()));
  app::set_color(context.get(), kSky);
  cairo_paint(context.get());
  const double scale = kSize / double{side};
  const double length =
      std::clamp(0.9 * kSize / std::sqrt(static_cast<double>(std::max<std::size_t>(1, boids.size()))), 2.5, 24.0);
  const std::size_t stride = (boids.size() + kMostDarts - 1) / kMostDarts;
  for (std::size_t i = 0; i < boids.size(); i += stride) {
    const BoidState& boid = boids[i];
    draw_dart(context.get(), scale * boid.x, kSize - scale * boid.y, std::atan2(boid.vy, boid.vx), length);
  }
  return app::picture_of(image);
}

app::Chart order_chart(const std::vector<app::Row>& rows, const std::string& subtitle) {
  return app::history_chart(rows, "How much boids agree about where to fly", subtitle, "Order",
                            {{"Order", kOrderLine, app::column(1)}});
}

}  // namespace flocking
