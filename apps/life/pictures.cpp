#include "pictures.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <app/chart.h>
#include <app/picture.h>

#include "colors.h"

namespace life {
namespace {

constexpr app::Rgb kAliveLine = {217, 119, 6};
constexpr app::Rgb kSecondLine = {79, 70, 229};

// The liveliest state in a square of cells, so that single cells in a large frame stay visible.
std::uint16_t liveliest(const Frame& frame, int left, int top, int size) {
  std::uint16_t best = 0;
  for (int y = top; y < std::min(top + size, frame.height); ++y) {
    const std::size_t row = static_cast<std::size_t>(y) * static_cast<std::size_t>(frame.width);
    for (int x = left; x < std::min(left + size, frame.width); ++x) {
      const std::uint16_t state = frame.states[row + static_cast<std::size_t>(x)];
      if (state != 0 && (best == 0 || state < best)) best = state;
    }
  }
  return best;
}

}  // namespace

app::Picture frame_picture(const Frame& frame, const Rule& rule) {
  const auto [magnify, sample] = app::PictureScale::for_grid(frame.width, frame.height);
  app::Picture picture((frame.width - 1) / sample + 1, (frame.height - 1) / sample + 1);
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      picture.set(x, y, color_of(liveliest(frame, x * sample, y * sample, sample), rule.states, kDying));
    }
  }
  return picture.magnified(magnify);
}

app::Chart population_chart(const std::vector<app::Row>& history, const std::string& second, const std::string& title,
                            const std::string& subtitle) {
  return app::history_chart(history, title, subtitle, "Cells",
                            {{"Alive", kAliveLine, app::column(0)}, {second, kSecondLine, app::column(1)}});
}

}  // namespace life
