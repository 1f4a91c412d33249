#include "pictures.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <app/format.h>
#include <app/picture.h>

#include "colors.h"

namespace forest_fire {
namespace {

constexpr app::Rgb kTreeLine = {22, 128, 61};
constexpr app::Rgb kFireLine = {234, 88, 12};

}  // namespace

app::Picture forest_picture(const std::vector<Ground>& forest, const Parameters& parameters) {
  return app::picture_of_grid(parameters.width, parameters.height, [&](std::size_t c) { return color_of(forest[c]); });
}

app::Chart tree_chart(const std::vector<app::Row>& history, const Parameters& parameters) {
  app::Series trees{"Trees", kTreeLine, {}};
  app::Series fires{"On fire", kFireLine, {}};
  for (const app::Row& row : history) {
    trees.values.push_back(row[0]);
    fires.values.push_back(row[1]);
  }
  return {"Trees of the forest",
          fmt::format("{} × {} cells, seed {}", app::grouped(static_cast<std::uint64_t>(parameters.width)),
                      app::grouped(static_cast<std::uint64_t>(parameters.height)), parameters.seed),
          "Step",
          "Trees",
          {std::move(trees), std::move(fires)}};
}

}  // namespace forest_fire
