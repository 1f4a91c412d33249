#include "pictures.h"

#include <app/chart.h>

namespace schelling {
namespace {

constexpr app::Rgb kSimilarLine = {13, 148, 136};
constexpr app::Rgb kUnhappyLine = {225, 78, 60};

}  // namespace

app::Chart segregation_chart(const std::vector<app::Row>& history, const std::string& subtitle) {
  const auto unhappy_share = [](const app::Row& row) {
    const double agents = row[0] + row[1];
    return agents > 0 ? row[2] / agents : 0;
  };
  return app::history_chart(history, "Similar neighbours and unhappy agents", subtitle, "Share",
                            {{"Similar", kSimilarLine, app::column(3)}, {"Unhappy", kUnhappyLine, unhappy_share}});
}

}  // namespace schelling
