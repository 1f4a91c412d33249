#include "pictures.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <app/format.h>
#include <app/picture.h>

#include "colors.h"

namespace wa_tor {
namespace {

constexpr app::Rgb kFishLine = {13, 148, 136};
constexpr app::Rgb kSharkLine = {225, 78, 60};

}  // namespace

app::Picture ocean_picture(const std::vector<CellState>& ocean, const Parameters& parameters) {
  return app::picture_of_grid(parameters.width, parameters.height, [&](std::size_t c) { return color_of(ocean[c]); });
}

app::Chart population_chart(const std::vector<app::Row>& history, const Parameters& parameters) {
  app::Series fish{"Fish", kFishLine, {}};
  app::Series sharks{"Sharks", kSharkLine, {}};
  for (const app::Row& row : history) {
    fish.values.push_back(row[0]);
    sharks.values.push_back(row[1]);
  }
  return {"Fish and sharks on Wa-Tor",
          fmt::format("{} × {} cells, seed {}", app::grouped(static_cast<std::uint64_t>(parameters.width)),
                      app::grouped(static_cast<std::uint64_t>(parameters.height)), parameters.seed),
          "Step",
          "Population",
          {std::move(fish), std::move(sharks)}};
}

}  // namespace wa_tor
