#include "pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include <cairo.h>

#include <app/cairo_png.h>
#include <app/picture.h>

namespace flocking {
namespace {

constexpr int kSize = 1024;
constexpr app::Rgb kSky = {13, 18, 32};
constexpr app::Rgb kOrderLine = {37, 99, 235};
// Around the compass, from east over north.
constexpr std::array<app::Rgb, 6> kDirections = {
    {{255, 99, 99}, {255, 190, 80}, {150, 230, 110}, {70, 210, 220}, {110, 140, 255}, {225, 120, 235}}};

// More darts cannot be told apart.
constexpr std::size_t kMostDarts = 200000;

app::Rgb color_of(double angle) {
  const double turns = angle / (2 * std::numbers::pi);
  const double place = (turns - std::floor(turns)) * kDirections.size();
  const std::size_t i = std::min(static_cast<std::size_t>(place), kDirections.size() - 1);
  return app::mix(kDirections[i], kDirections[(i + 1) % kDirections.size()], place - static_cast<double>(i));
}

void set_color(cairo_t* context, app::Rgb color) {
  cairo_set_source_rgb(context, color.red / 255.0, color.green / 255.0, color.blue / 255.0);
}

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
  set_color(context, color_of(angle));
  cairo_fill(context);
}

}  // namespace

void save_flock(const std::vector<BoidState>& boids, float side, const std::string& path) {
  const app::CairoSurface image = app::make_image(kSize, kSize);
  const app::CairoContext context(cairo_create(image.get()));
  set_color(context.get(), kSky);
  cairo_paint(context.get());
  const double scale = kSize / double{side};
  const double length =
      std::clamp(0.9 * kSize / std::sqrt(static_cast<double>(std::max<std::size_t>(1, boids.size()))), 2.5, 24.0);
  const std::size_t stride = (boids.size() + kMostDarts - 1) / kMostDarts;
  for (std::size_t i = 0; i < boids.size(); i += stride) {
    const BoidState& boid = boids[i];
    draw_dart(context.get(), scale * boid.x, kSize - scale * boid.y, std::atan2(boid.vy, boid.vx), length);
  }
  app::save_png(image, path);
}

app::Chart order_chart(const std::vector<app::Row>& rows, const std::string& subtitle) {
  app::Series order{"Order", kOrderLine, {}};
  for (const app::Row& row : rows) order.values.push_back(row[1]);
  return {"How much boids agree about where to fly", subtitle, "Step", "Order", {std::move(order)}};
}

}  // namespace flocking
