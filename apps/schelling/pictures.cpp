#include "pictures.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <app/format.h>
#include <app/picture.h>

#include "colors.h"

namespace schelling {
namespace {

constexpr app::Rgb kSimilarLine = {13, 148, 136};
constexpr app::Rgb kUnhappyLine = {225, 78, 60};

}  // namespace

app::Picture city_picture(const std::vector<CellState>& city, const Parameters& parameters) {
  const auto [magnify, sample] = app::PictureScale::for_grid(parameters.width, parameters.height);
  app::Picture picture((parameters.width - 1) / sample + 1, (parameters.height - 1) / sample + 1);
  for (int y = 0; y < picture.height(); ++y) {
    const CellState* const row =
        city.data() + static_cast<std::size_t>(y * sample) * static_cast<std::size_t>(parameters.width);
    for (int x = 0; x < picture.width(); ++x) picture.set(x, y, color_of(row[x * sample].group));
  }
  return picture.magnified(magnify);
}

app::Chart segregation_chart(const std::vector<app::Row>& history, const Parameters& parameters) {
  app::Series similar{"Similar", kSimilarLine, {}};
  app::Series unhappy{"Unhappy", kUnhappyLine, {}};
  for (const app::Row& row : history) {
    const double agents = row[0] + row[1];
    similar.values.push_back(row[3]);
    unhappy.values.push_back(agents > 0 ? row[2] / agents : 0);
  }
  return {"Similar neighbours and unhappy agents",
          fmt::format("{} × {} cells, seed {}", app::grouped(static_cast<std::uint64_t>(parameters.width)),
                      app::grouped(static_cast<std::uint64_t>(parameters.height)), parameters.seed),
          "Step",
          "Share",
          {std::move(similar), std::move(unhappy)}};
}

}  // namespace schelling
