// The pictures that programs write: their size, their colours, and charts.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <utility>
#include <vector>

#include <app/cairo_png.h>
#include <app/chart.h>
#include <app/picture.h>

namespace {

TEST_CASE("small grids are magnified and huge ones sampled") {
  CHECK(app::PictureScale::for_grid(1, 1).magnify == 512);
  CHECK(app::PictureScale::for_grid(100, 60).magnify == 6);
  CHECK(app::PictureScale::for_grid(1024, 1024).magnify == 1);
  CHECK(app::PictureScale::for_grid(8192, 5).sample == 1);
  CHECK(app::PictureScale::for_grid(8193, 5).sample == 2);
}

TEST_CASE("colours of a ramp") {
  constexpr std::array<app::Rgb, 3> kColors = {{{0, 0, 0}, {100, 200, 50}, {200, 100, 250}}};
  CHECK(app::ramp(kColors, -1) == kColors[0]);
  CHECK(app::ramp(kColors, 0.25) == app::Rgb{50, 100, 25});
  CHECK(app::ramp(kColors, 0.5) == kColors[1]);
  CHECK(app::ramp(kColors, 1) == kColors[2]);
  CHECK(app::ramp(kColors, std::nan("")) == kColors[0]);
  CHECK(app::color_of_word(app::word_of({1, 2, 3})) == app::Rgb{1, 2, 3});
}

TEST_CASE("magnified pictures have squares for pixels") {
  app::Picture picture(2, 1);
  picture.set(1, 0, {9, 8, 7});
  const app::Picture large = picture.magnified(3);
  CHECK(large.width() == 6);
  CHECK(large.height() == 3);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 6; ++x) CHECK(large.at(x, y) == (x < 3 ? app::Rgb{0, 0, 0} : app::Rgb{9, 8, 7}));
  }
}

constexpr app::Rgb kRed = {200, 0, 0}, kBlue = {0, 0, 200};

/// A chart as it is in its file: 960 x 540 points of 2 x 2 pixels, with its plot from (84, 84) to (844, 478).
class DrawnChart {
 public:
  explicit DrawnChart(std::vector<app::Series> series) : picture_(draw(std::move(series))) {}

  app::Rgb at(double x, double y) const { return picture_.at(static_cast<int>(2 * x), static_cast<int>(2 * y)); }

  /// How many separate marks, which are not white, a way across the chart meets.
  int marks_down(double x, double from, double to) const {
    return marks(from, to, [&](double y) { return at(x, y); });
  }
  int marks_across(double y, double from, double to) const {
    return marks(from, to, [&](double x) { return at(x, y); });
  }

  /// Where what is not white begins and ends in a part of the chart, from left to right.
  std::pair<double, double> ink(double left, double right, double top, double bottom) const {
    std::pair<double, double> found(right, left);
    for (double y = top; y < bottom; y += 0.5) {
      for (double x = left; x < right; x += 0.5) {
        if (at(x, y) == app::Rgb{255, 255, 255}) continue;
        found = {std::min(found.first, x), std::max(found.second, x + 0.5)};
      }
    }
    return found;
  }

  /// The first row, in points, in which this colour is to the right of the plot; -1 if there is none.
  double first_row(app::Rgb color) const {
    for (int y = 0; y < picture_.height(); ++y) {
      for (int x = 2 * 852; x < picture_.width(); ++x) {
        if (picture_.at(x, y) == color) return y / 2.0;
      }
    }
    return -1;
  }

 private:
  static app::Picture draw(std::vector<app::Series> series) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "dynasoar-chart-test.png";
    app::Chart{"title", "subtitle", "step", "number", std::move(series)}.save_png(file.string());
    const app::CairoSurface image(cairo_image_surface_create_from_png(file.c_str()));
    std::filesystem::remove(file);
    REQUIRE(cairo_surface_status(image.get()) == CAIRO_STATUS_SUCCESS);
    return app::picture_of(image);
  }

  template <class F>
  static int marks(double from, double to, F color) {
    int count = 0;
    bool was_white = true;
    for (double at = from; at < to; at += 0.5) {
      const bool is_white = color(at) == app::Rgb{255, 255, 255};
      count += was_white && !is_white ? 1 : 0;
      was_white = is_white;
    }
    return count;
  }

  app::Picture picture_;
};

TEST_CASE("a chart's lines go where the values are") {
  const DrawnChart chart({{"fish", kRed, {0, 10, 5}}});
  CHECK(chart.at(84, 478) == kRed);
  CHECK(chart.at(464, 84) == kRed);
  CHECK(chart.at(844, 281) == kRed);
  CHECK(chart.at(274, 281) == kRed);  // half way up
  CHECK(chart.at(274, 290) != app::Rgb{255, 255, 255});
  CHECK(chart.at(274, 270) == app::Rgb{255, 255, 255});
  CHECK(chart.at(100, 82) == app::Rgb{255, 255, 255});
}

TEST_CASE("a chart has at most six steps upwards and eight to the right, which are 1, 2 or 5 times a power of ten") {
  const auto steps_up = [](std::vector<double> values) {
    return DrawnChart({{"fish", kRed, std::move(values)}}).marks_down(90, 80, 470);
  };
  CHECK(steps_up({0, 0, 0, 10}) == 5);
  CHECK(steps_up({0, 0, 0, 12}) == 6);
  CHECK(steps_up({0, 0, 0, 13}) == 3);
  CHECK(steps_up({0, 0, 0, 1}) == 1);  // whole numbers, as all values are
  CHECK(steps_up({0, 0, 0, 0.5}) == 5);
  CHECK(steps_up({0, 0, 0, 0.7}) == 4);
  CHECK(steps_up({0, 0, 0, 0}) == 1);
  const auto ticks_across = [](std::size_t values) {
    return DrawnChart({{"fish", kRed, std::vector<double>(values, 1)}}).marks_across(481, 78, 860);
  };
  CHECK(ticks_across(1) == 2);
  CHECK(ticks_across(3) == 3);
  CHECK(ticks_across(9) == 9);
  CHECK(ticks_across(10) == 5);
  CHECK(ticks_across(1001) == 6);
}

TEST_CASE("a chart of many steps has all peaks, and one of none has axes") {
  std::vector<double> values(100001, 0);
  values[50000] = 10;
  const DrawnChart chart({{"fish", kRed, values}});
  CHECK(chart.at(464, 90) == kRed);
  CHECK(chart.at(464, 380) == kRed);
  CHECK(chart.at(440, 380) == app::Rgb{255, 255, 255});
  CHECK(DrawnChart({{"fish", kRed, {}}}).marks_down(90, 80, 470) == 1);
}

TEST_CASE("a chart's texts are aligned to what they are about") {
  const DrawnChart chart({{"fish", kRed, std::vector<double>(11, 8)}});
  for (const double tick : {84.0, 84 + 760 * 0.4, 844.0}) {
    CAPTURE(tick);
    const auto [left, right] = chart.ink(tick - 30, tick + 30, 486, 502);
    CHECK(std::abs((left + right) / 2 - tick) < 2);
    CHECK(right - left > 2);
  }
  const auto [left, right] = chart.ink(300, 628, 508, 530);
  CHECK(std::abs((left + right) / 2 - 464) < 2);                                   // "step"
  CHECK(chart.ink(40, 82, 472, 484).second == doctest::Approx(74).epsilon(0.03));  // the lowest number
  CHECK(chart.ink(0, 400, 15, 40).first == doctest::Approx(25).epsilon(0.1));      // the title
}

TEST_CASE("the names in a chart's legend keep their distance, in the order of their lines") {
  const DrawnChart same({{"fish", kRed, {3, 0}}, {"fish", kBlue, {3, 0}}});
  CHECK(std::abs(same.first_row(kRed) - same.first_row(kBlue)) == 36);
  const DrawnChart apart({{"fish", kRed, {0, 10}}, {"fish", kBlue, {0, 0}}});
  CHECK(apart.first_row(kBlue) - apart.first_row(kRed) == 478 - 84);
  const DrawnChart near({{"fish", kRed, {0, 5}}, {"fish", kBlue, {0, 5.1}}, {"none", {0, 200, 0}, {}}});
  CHECK(near.first_row(kRed) - near.first_row(kBlue) == 36);
  CHECK(near.first_row({0, 200, 0}) == -1);
}

}  // namespace
