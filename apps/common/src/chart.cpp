#include <app/chart.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include <dynasoar/program/format.h>

#include <app/cairo_png.h>

namespace app {

using namespace dynasoar::program;
namespace {

// All lengths are in points of a 960 x 540 page, drawn at twice the size.
constexpr double kScale = 2;
constexpr int kWidth = 960;
constexpr int kHeight = 540;
constexpr double kLeft = 84;
constexpr double kRight = 116;
constexpr double kTop = 84;
constexpr double kBottom = 62;
constexpr double kPlotWidth = kWidth - kLeft - kRight;
constexpr double kPlotHeight = kHeight - kTop - kBottom;

constexpr Rgb kPaper = {255, 255, 255};
constexpr Rgb kInk = {31, 41, 55};
constexpr Rgb kMuted = {107, 114, 128};
constexpr Rgb kGrid = {229, 231, 235};
constexpr Rgb kAxis = {156, 163, 175};

enum class Align { left, center, right };

struct Style {
  double size;
  Rgb color = kInk;
  bool bold = false;
};

// The step between ticks: 1, 2 or 5 times a power of ten, at most `count` of them up to `range`.
double tick_step(double range, int count) {
  const double power = std::pow(10.0, std::floor(std::log10(range / count)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power * count >= range * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

bool is_whole(double value) {
  return value == std::floor(value);
}

std::string value_text(double value) {
  return is_whole(value) && value < 1e18 ? grouped(static_cast<std::uint64_t>(value)) : fmt::format("{:.4g}", value);
}

std::string tick_text(double value) {
  if (value < 1e6) return value_text(value);
  if (value < 1e9) return fmt::format("{:g} M", value / 1e6);
  return value < 1e12 ? fmt::format("{:g} G", value / 1e9) : fmt::format("{:g}", value);
}

class ChartPainter {
 public:
  explicit ChartPainter(const Chart& chart)
      : chart_(chart),
        image_(make_image(static_cast<int>(kWidth * kScale), static_cast<int>(kHeight * kScale))),
        context_(cairo_create(image_.get())) {
    std::size_t points = 0;
    double highest = 0;
    bool counts = true;
    for (const Series& series : chart_.series) {
      points = std::max(points, series.values.size());
      for (const double value : series.values) {
        highest = std::max(highest, value);
        counts = counts && is_whole(value);
      }
    }
    x_max_ = points > 1 ? static_cast<double>(points - 1) : 1;
    if (highest <= 0) highest = 1;
    y_step_ = counts ? std::max(1.0, tick_step(highest, 6)) : tick_step(highest, 6);
    y_max_ = std::ceil(highest / y_step_) * y_step_;
    cairo_scale(cr(), kScale, kScale);
    cairo_set_line_join(cr(), CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cr(), CAIRO_LINE_CAP_ROUND);
  }

  void paint() {
    set_color(kPaper);
    cairo_paint(cr());
    draw_titles();
    draw_y_axis();
    draw_x_axis();
    for (const Series& series : chart_.series) fill_below(series);
    for (const Series& series : chart_.series) draw_line(series);
    draw_legend();
  }

  void save(const std::string& path) const { app::save_png(image_, path); }

 private:
  cairo_t* cr() const { return context_.get(); }

  double x_of(double step) const { return kLeft + step / x_max_ * kPlotWidth; }
  double y_of(double value) const { return kTop + kPlotHeight - value / y_max_ * kPlotHeight; }

  void set_color(Rgb color, double opacity = 1) { app::set_color(cr(), color, opacity); }

  void set_font(const Style& style) {
    cairo_select_font_face(cr(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL,
                           style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr(), style.size);
    set_color(style.color);
  }

  double text_width(const std::string& text) {
    cairo_text_extents_t extents;
    cairo_text_extents(cr(), text.c_str(), &extents);
    return extents.x_advance;
  }

  void draw_text(double x, double baseline, const std::string& text, const Style& style, Align align = Align::left) {
    set_font(style);
    const double width = text_width(text);
    cairo_move_to(cr(), align == Align::left ? x : align == Align::center ? x - width / 2 : x - width, baseline);
    cairo_show_text(cr(), text.c_str());
  }

  void draw_rule(double x0, double y0, double x1, double y1, Rgb color) {
    set_color(color);
    cairo_set_line_width(cr(), 1);
    cairo_move_to(cr(), x0, y0);
    cairo_line_to(cr(), x1, y1);
    cairo_stroke(cr());
  }

  void draw_titles() {
    draw_text(24, 34, chart_.title, {18, kInk, true});
    draw_text(24, 54, chart_.subtitle, {11.5, kMuted});
    draw_text(kLeft + kPlotWidth / 2, kHeight - 18, chart_.x_label, {11.5, kMuted}, Align::center);
    cairo_save(cr());
    cairo_translate(cr(), 24, kTop + kPlotHeight / 2);
    cairo_rotate(cr(), -std::acos(0.0));
    draw_text(0, 0, chart_.y_label, {11.5, kMuted}, Align::center);
    cairo_restore(cr());
  }

  void draw_y_axis() {
    for (double value = 0; value <= y_max_ * (1 + 1e-9); value += y_step_) {
      const double y = std::round(y_of(value) * kScale) / kScale;
      draw_rule(kLeft, y, kLeft + kPlotWidth, y, value == 0 ? kAxis : kGrid);
      draw_text(kLeft - 10, y + 4, tick_text(value), {11, kMuted}, Align::right);
    }
  }

  void draw_x_axis() {
    const double step = std::max(1.0, tick_step(x_max_, 8));
    const double baseline = kTop + kPlotHeight;
    for (double value = 0; value <= x_max_ * (1 + 1e-9); value += step) {
      const double x = std::round(x_of(value) * kScale) / kScale;
      draw_rule(x, baseline, x, baseline + 5, kAxis);
      draw_text(x, baseline + 20, tick_text(value), {11, kMuted}, Align::center);
    }
  }

  // The path of a series. Long ones keep the lowest and highest value of each quarter of a point.
  void trace(const std::vector<double>& values) {
    const std::size_t bin = std::max<std::size_t>(1, values.size() / static_cast<std::size_t>(kPlotWidth * 4));
    cairo_new_path(cr());
    for (std::size_t begin = 0; begin < values.size(); begin += bin) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last = values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), begin + bin));
      const auto [low, high] = std::minmax_element(first, last);
      const double x = x_of(static_cast<double>(begin));
      cairo_line_to(cr(), x, y_of(*low));
      if (bin > 1) cairo_line_to(cr(), x, y_of(*high));
    }
  }

  void fill_below(const Series& series) {
    if (series.values.size() < 2) return;
    trace(series.values);
    cairo_line_to(cr(), x_of(static_cast<double>(series.values.size() - 1)), y_of(0));
    cairo_line_to(cr(), x_of(0), y_of(0));
    cairo_close_path(cr());
    set_color(series.color, 0.10);
    cairo_fill(cr());
  }

  void draw_line(const Series& series) {
    trace(series.values);
    set_color(series.color);
    cairo_set_line_width(cr(), 2);
    cairo_stroke(cr());
    if (series.values.empty()) return;
    const double end = static_cast<double>(series.values.size() - 1);
    cairo_arc(cr(), x_of(end), y_of(series.values.back()), 3.5, 0, 4 * std::acos(0.0));
    cairo_fill(cr());
  }

  // Names and last values to the right of the plot, each beside the end of its line, moved apart if they overlap.
  void draw_legend() {
    constexpr double kDistance = 36;
    struct Entry {
      const Series* series;
      double y;
    };
    std::vector<Entry> entries;
    for (const Series& series : chart_.series) {
      if (!series.values.empty()) entries.push_back({&series, y_of(series.values.back())});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.y < b.y; });
    double limit = kTop + kPlotHeight;
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      entry->y = std::min(entry->y, limit);
      limit = entry->y - kDistance;
    }
    for (const Entry& entry : entries) {
      const double x = kLeft + kPlotWidth + 14;
      draw_text(x, entry.y, entry.series->name, {13, entry.series->color, true});
      draw_text(x, entry.y + 15, value_text(entry.series->values.back()), {11, kMuted});
    }
  }

  const Chart& chart_;
  CairoSurface image_;
  CairoContext context_;
  double x_max_ = 1;
  double y_max_ = 1;
  double y_step_ = 1;
};

}  // namespace

void Chart::save_png(const std::string& path) const {
  ChartPainter painter(*this);
  painter.paint();
  painter.save(path);
}

}  // namespace app
