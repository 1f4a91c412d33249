#include "pictures.h"

#include <cmath>
#include <cstddef>

#include <app/history_chart.h>
#include <app/picture.h>
#include <dynasoar/program/format.h>
#include <fmt/format.h>

#include "colors.h"

namespace sugarscape {
namespace {

constexpr app::Rgb kMaleLine = {14, 133, 196};
constexpr app::Rgb kFemaleLine = {214, 51, 148};

app::Rgb color_of(const CellState& cell) {
  return sugarscape::color_of(cell.kind, std::sqrt(cell.sugar / kMostSugar));
}

}  // namespace

app::Picture landscape_picture(const std::vector<CellState>& landscape, const Parameters& parameters) {
  return app::picture_of_grid(parameters.width, parameters.height,
                              [&](std::size_t c) { return color_of(landscape[c]); });
}

app::Chart population_chart(const std::vector<app::Row>& history, const Parameters& parameters) {
  return app::history_chart(history, "Males and females on the Sugarscape",
                            app::size_and_seed(parameters.width, parameters.height, parameters.seed), "Population",
                            {{"Males", kMaleLine, app::column(1)}, {"Females", kFemaleLine, app::column(2)}});
}

}  // namespace sugarscape
