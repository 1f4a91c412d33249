#include "pictures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include <cairo.h>

#include <app/cairo_png.h>
#include <app/chart.h>
#include <app/picture.h>

#include "colors.h"

namespace tumour {
namespace {

constexpr int kSize = 1024;
constexpr app::Rgb kRadiusLine = {60, 120, 200};
constexpr app::Rgb kExpectedLine = {240, 150, 70};

/// A disc that is lighter above and darker at its edge.
void draw_ball(cairo_t* context, double x, double y, double radius, app::Rgb color, double light) {
  const auto stop = [&](cairo_pattern_t* pattern, double at, double share) {
    cairo_pattern_add_color_stop_rgb(pattern, at, std::min(1.0, share * color.red / 255.0),
                                     std::min(1.0, share * color.green / 255.0),
                                     std::min(1.0, share * color.blue / 255.0));
  };
  cairo_pattern_t* const pattern = cairo_pattern_create_radial(x - 0.35 * radius, y - 0.35 * radius, 0, x, y, radius);
  stop(pattern, 0, 1.15 * light);
  stop(pattern, 0.6, 0.95 * light);
  stop(pattern, 1, 0.5 * light);
  cairo_set_source(context, pattern);
  cairo_arc(context, x, y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(context);
  cairo_pattern_destroy(pattern);
}

}  // namespace

app::Picture tumour_picture(const std::vector<CellState>& cells) {
  const app::CairoSurface image = app::make_image(kSize, kSize);
  const app::CairoContext context(cairo_create(image.get()));
  app::set_color(context.get(), kGround);
  cairo_paint(context.get());
  std::vector<CellState> half;
  double reach = 2;
  for (const CellState& cell : cells) {
    if (cell.z <= 0) half.push_back(cell);
    reach = std::max(reach, std::hypot(double{cell.x}, double{cell.y}) + 1);
  }
  std::sort(half.begin(), half.end(),
            [](const auto& a, const auto& b) { return a.z != b.z ? a.z < b.z : a.number < b.number; });
  const double scale = kSize / 2 / (1.04 * reach);
  for (const CellState& cell : half) {
    const double light = 0.35 + 0.65 * std::exp(cell.z / 3.0);  // deeper cells are darker
    draw_ball(context.get(), kSize / 2 + scale * cell.x, kSize / 2 - scale * cell.y, scale * cell.radius,
              color_of(cell.state), light);
  }
  return app::picture_of(image);
}

app::Chart tumour_chart(const std::vector<app::Row>& rows, const Parameters& parameters, const std::string& subtitle) {
  app::Chart chart =
      app::history_chart(rows, "Radius of the tumour", subtitle, "Radius", {{"Tumour", kRadiusLine, app::column(3)}});
  app::Series expected{"Expected", kExpectedLine, {}};
  if (!rows.empty()) expected.values = expected_radius(parameters, rows[0][0], rows.size() - 1);
  chart.series.push_back(std::move(expected));
  return chart;
}

}  // namespace tumour
