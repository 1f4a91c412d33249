#include "pictures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include <cairo.h>

#include <app/cairo_png.h>
#include <app/picture.h>

#include "colors.h"

namespace ants {
namespace {

constexpr int kSize = 1024;
constexpr std::size_t kWindow = 50;  // steps before and after
constexpr app::Rgb kAntsLine = {70, 100, 170};
constexpr app::Rgb kCarriersLine = {222, 128, 20};
constexpr app::Rgb kFoodLine = {70, 150, 60};
constexpr app::Rgb kStoredLine = {150, 90, 60};

/// A concentration, interpolated between the centres of cells.
double at(const World& world, const std::vector<CellState>& cells, float CellState::*field, double x, double y) {
  const auto last = static_cast<double>(world.side - 1);
  const double column = std::clamp(x - 0.5, 0.0, last);
  const double row = std::clamp(y - 0.5, 0.0, last);
  const auto left = static_cast<std::size_t>(column);
  const auto top = static_cast<std::size_t>(row);
  const std::size_t right = std::min<std::size_t>(left + 1, world.side - 1);
  const std::size_t bottom = std::min<std::size_t>(top + 1, world.side - 1);
  const auto of = [&](std::size_t c, std::size_t r) { return static_cast<double>(cells[r * world.side + c].*field); };
  const double across = column - static_cast<double>(left);
  const double above = std::lerp(of(left, top), of(right, top), across);
  const double below = std::lerp(of(left, bottom), of(right, bottom), across);
  return std::lerp(above, below, row - static_cast<double>(top));
}

app::Picture ground_picture(const State& state, const World& world) {
  app::Picture picture(kSize, kSize);
  const double width = static_cast<double>(world.side) / kSize;
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      const double column = (x + 0.5) * width;
      const double row = (y + 0.5) * width;
      picture.set(x, y,
                  color_of({static_cast<float>(at(world, state.cells, &CellState::home, column, row)),
                            static_cast<float>(at(world, state.cells, &CellState::trail, column, row)), 0, 0}));
    }
  }
  return picture;
}

}  // namespace

app::Picture ants_picture(const State& state, const World& world) {
  const app::CairoSurface image = app::image_of(ground_picture(state, world));
  const app::CairoContext context(cairo_create(image.get()));
  const double scale = kSize / static_cast<double>(world.side);
  app::set_color(context.get(), kNest);
  cairo_arc(context.get(), scale * world.nest.x, scale * world.nest.y, scale * world.nest.radius, 0,
            2 * std::numbers::pi);
  cairo_fill(context.get());
  app::set_color(context.get(), kFood);
  for (std::size_t cell = 0; cell < state.cells.size(); ++cell) {
    if (state.cells[cell].food == 0) continue;
    cairo_arc(context.get(), scale * (static_cast<double>(cell % world.side) + 0.5),
              scale * (static_cast<double>(cell / world.side) + 0.5), std::max(0.42 * scale, 0.7), 0,
              2 * std::numbers::pi);
    cairo_fill(context.get());
  }
  app::set_color(context.get(), kWall);
  for (const Box& wall : world.walls) {
    cairo_rectangle(context.get(), scale * wall.left, scale * wall.top, scale * (wall.right - wall.left),
                    scale * (wall.bottom - wall.top));
    cairo_fill(context.get());
  }
  const double length = std::clamp(1.6 * scale, 1.5, 8.0);
  cairo_set_line_width(context.get(), length / 2.5);
  cairo_set_line_cap(context.get(), CAIRO_LINE_CAP_ROUND);
  for (const bool carries : {false, true}) {
    app::set_color(context.get(), carries ? kCarrier : kForager, carries ? 0.95 : 0.7);
    for (const AntState& ant : state.ants) {
      if (ant.carries != carries) continue;
      const double x = scale * ant.x;
      const double y = scale * ant.y;
      cairo_move_to(context.get(), x - length / 2 * ant.heading_x, y - length / 2 * ant.heading_y);
      cairo_line_to(context.get(), x + length / 2 * ant.heading_x, y + length / 2 * ant.heading_y);
      cairo_stroke(context.get());
    }
  }
  return app::picture_of(image);
}

app::Chart food_chart(const std::vector<app::Row>& rows, const std::string& subtitle) {
  const auto ants = [](const app::Row& row) { return row[0] + row[1]; };
  return app::history_chart(rows, "Ants, and portions of food", subtitle, "Ants and portions",
                            {{"Ants", kAntsLine, ants},
                             {"Carrying food", kCarriersLine, app::column(1)},
                             {"Food left", kFoodLine, app::column(4)},
                             {"Food stored", kStoredLine, app::column(5)}});
}

app::Chart gate_chart(const std::vector<app::Row>& rows, const std::string& subtitle) {
  app::Chart chart{
      "Ants at the beginning of the bridge that are on its short branch", subtitle, "Step", "Per cent", {}};
  app::Series share{"Short branch", kCarriersLine, {}};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    double first = 0;
    double both = 0;
    for (std::size_t j = i - std::min(i, kWindow); j < std::min(rows.size(), i + kWindow + 1); ++j) {
      first += rows[j][2];
      both += rows[j][2] + rows[j][3];
    }
    share.values.push_back(both > 0 ? 100 * first / both : 50);
  }
  chart.series.push_back(share);
  return chart;
}

}  // namespace ants
