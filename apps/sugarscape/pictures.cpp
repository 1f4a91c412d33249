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
  const auto [magnify, sample] = app::PictureScale::for_grid(parameters.width, parameters.height);
  app::Picture picture((parameters.width - 1) / sample + 1, (parameters.height - 1) / sample + 1);
  for (int y = 0; y < picture.height(); ++y) {
    const CellState* const row =
        landscape.data() + static_cast<std::size_t>(y * sample) * static_cast<std::size_t>(parameters.width);
    for (int x = 0; x < picture.width(); ++x) picture.set(x, y, color_of(row[x * sample]));
  }
  return picture.magnified(magnify);
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
