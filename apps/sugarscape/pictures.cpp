#include "pictures.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <app/format.h>
#include <app/picture.h>

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
  app::Series males{"Males", kMaleLine, {}};
  app::Series females{"Females", kFemaleLine, {}};
  for (const app::Row& row : history) {
    males.values.push_back(row[1]);
    females.values.push_back(row[2]);
  }
  return {"Males and females on the Sugarscape",
          fmt::format("{} × {} cells, seed {}", app::grouped(static_cast<std::uint64_t>(parameters.width)),
                      app::grouped(static_cast<std::uint64_t>(parameters.height)), parameters.seed),
          "Step",
          "Population",
          {std::move(males), std::move(females)}};
}

}  // namespace sugarscape
