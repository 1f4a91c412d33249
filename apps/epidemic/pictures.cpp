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

namespace epidemic {
namespace {

constexpr int kSize = 1024;
constexpr app::Rgb kSusceptibleLine = {70, 100, 170};
constexpr app::Rgb kInfectedLine = {220, 60, 30};
constexpr app::Rgb kRecoveredLine = {30, 140, 105};
constexpr app::Rgb kWellMixedLine = {245, 170, 120};

struct Layer {
  State state;
  app::Rgb color;
  double size;  ///< of a dot, of the size of all
};

// From the back to the front.
constexpr Layer kLayers[] = {
    {State::susceptible, kSusceptible, 0.8}, {State::recovered, kRecovered, 0.8}, {State::infected, kInfected, 1.3}};

}  // namespace

app::Picture epidemic_picture(const std::vector<PersonState>& people, float side) {
  const app::CairoSurface image = app::make_image(kSize, kSize);
  const app::CairoContext context(cairo_create(image.get()));
  app::set_color(context.get(), kGround);
  cairo_paint(context.get());
  const double scale = kSize / double{side};
  const double gap = kSize / std::sqrt(static_cast<double>(std::max<std::size_t>(1, people.size())));
  const double radius = std::clamp(0.42 * gap, 0.7, 6.0);
  for (const Layer& layer : kLayers) {
    app::set_color(context.get(), layer.color);
    for (const PersonState& person : people) {
      if (person.state != layer.state) continue;
      cairo_arc(context.get(), scale * person.x, kSize - scale * person.y, layer.size * radius, 0,
                2 * std::numbers::pi);
      cairo_fill(context.get());
    }
  }
  return app::picture_of(image);
}

app::Chart epidemic_chart(const std::vector<app::Row>& rows, const Parameters& parameters,
                          const std::string& subtitle) {
  app::Series mixed{"Well mixed", kWellMixedLine, {}};
  if (!rows.empty()) {
    const Population start{rows[0][0], rows[0][1], rows[0][2]};
    for (const Population& now : well_mixed(parameters, start, rows.size() - 1))
      mixed.values.push_back(std::round(now.infected));
  }
  app::Chart chart = app::history_chart(rows, "People who can be, are and have been infected", subtitle, "People",
                                        {{"Susceptible", kSusceptibleLine, app::column(0)},
                                         {"Infected", kInfectedLine, app::column(1)},
                                         {"Recovered", kRecoveredLine, app::column(2)}});
  chart.series.push_back(std::move(mixed));
  return chart;
}

}  // namespace epidemic
