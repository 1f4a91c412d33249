#include "pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <cairo.h>

#include <app/cairo_png.h>
#include <app/history_chart.h>
#include <app/picture.h>

#include "colors.h"

namespace structure {
namespace {

constexpr app::Rgb kInk = {55, 65, 81};
constexpr app::Rgb kSpringLine = {37, 99, 235};
constexpr app::Rgb kNodeLine = {217, 119, 6};

constexpr double kLongSide = 1600;
constexpr double kMargin = 48;
constexpr double kLegend = 72;  // height of the strip below the network
constexpr double kFontSize = 22;

// More springs than this cannot be told apart in a picture: only every n-th is drawn.
constexpr std::size_t kMostSprings = 200000;

struct Box {
  double left = 0;
  double right = 0;
  double bottom = 0;
  double top = 0;
  bool is_empty = true;

  void include(Vector p) {
    left = is_empty ? p.x : std::min<double>(left, p.x);
    right = is_empty ? p.x : std::max<double>(right, p.x);
    bottom = is_empty ? p.y : std::min<double>(bottom, p.y);
    top = is_empty ? p.y : std::max<double>(top, p.y);
    is_empty = false;
  }

  void include(const Network& network) {
    for (const NodeState& node : network.nodes) {
      if (node.kind != Kind::gone) include(node.position);
    }
  }
};

// A spring as a line, with the share of the force that it bears.
struct Line {
  Vector from;
  Vector to;
  double share;
};

// Slack springs first, so that those under tension are seen.
std::vector<Line> lines_of(const Network& network, double strength) {
  const std::size_t stride = network.springs.size() / kMostSprings + 1;
  std::vector<Line> lines;
  for (std::size_t s = 0; s < network.springs.size(); s += stride) {
    const SpringState& spring = network.springs[s];
    if (!spring.exists) continue;
    const Vector from = network.nodes[spring.first].position;
    const Vector to = network.nodes[spring.second].position;
    const double length = std::hypot(double{to.x} - from.x, double{to.y} - from.y);
    const double force = spring.factor * std::max(0.0, length - spring.rest_length);
    lines.push_back({from, to, strength > 0 ? force / strength : 0});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.share < b.share; });
  return lines;
}

class NetworkPainter {
 public:
  explicit NetworkPainter(const Box& view)
      : view_(view),
        scale_(scale_for(view)),
        width_((view.right - view.left) * scale_ + 2 * kMargin),
        height_((view.top - view.bottom) * scale_ + 2 * kMargin) {
    width_ = std::max(width_, kLeastWidth);
    image_ = app::make_image(static_cast<int>(std::ceil(width_)), static_cast<int>(std::ceil(height_ + kLegend)));
    context_.reset(cairo_create(image_.get()));
    cairo_set_line_cap(cr(), CAIRO_LINE_CAP_ROUND);
    set_color(kPaper);
    cairo_paint(cr());
  }

  void paint(const Network& network, double strength) {
    const std::vector<Line> lines = lines_of(network, strength);
    cairo_set_line_width(cr(), line_width(lines));
    for (const Line& line : lines) {
      set_color(app::ramp(kTensions, line.share));
      cairo_move_to(cr(), x_of(line.from), y_of(line.from));
      cairo_line_to(cr(), x_of(line.to), y_of(line.to));
      cairo_stroke(cr());
    }
    const double radius = dot_radius(network);
    for (const NodeState& node : network.nodes) {
      if (node.kind == Kind::anchor) dot(x_of(node.position), y_of(node.position), radius, kAnchor);
      if (node.kind == Kind::pulled) dot(x_of(node.position), y_of(node.position), radius, kPulled);
    }
    paint_legend();
  }

  app::Picture picture() const { return app::picture_of(image_); }

 private:
  static constexpr double kLeastWidth = 900;  // for the legend

  static double scale_for(const Box& view) {
    const double longest = std::max(view.right - view.left, view.top - view.bottom);
    return longest > 0 ? (kLongSide - 2 * kMargin) / longest : 1;
  }

  cairo_t* cr() const { return context_.get(); }

  double x_of(Vector p) const {
    const double unused = width_ - 2 * kMargin - (view_.right - view_.left) * scale_;
    return kMargin + unused / 2 + (p.x - view_.left) * scale_;
  }
  double y_of(Vector p) const { return kMargin + (view_.top - p.y) * scale_; }

  void set_color(app::Rgb color) {
    cairo_set_source_rgb(cr(), color.red / 255.0, color.green / 255.0, color.blue / 255.0);
  }

  // Thin enough to tell lines apart, by the share of the picture that they cover.
  double line_width(const std::vector<Line>& lines) const {
    double length = 1;
    for (const Line& line : lines)
      length += std::hypot(x_of(line.to) - x_of(line.from), y_of(line.to) - y_of(line.from));
    return std::clamp(0.25 * width_ * height_ / length, 0.5, 4.0);
  }

  double dot_radius(const Network& network) const {
    const double nodes = static_cast<double>(network.nodes.size() + 1);
    return std::clamp(0.12 * std::sqrt(width_ * height_ / nodes), 1.0, 7.0);
  }

  void dot(double x, double y, double radius, app::Rgb color) {
    set_color(color);
    cairo_arc(cr(), x, y, radius, 0, 4 * std::acos(0.0));
    cairo_fill(cr());
  }

  // @return where the next thing in the line begins
  double text(double x, const char* words) {
    cairo_select_font_face(cr(), "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr(), kFontSize);
    set_color(kInk);
    cairo_move_to(cr(), x, legend_middle() + kFontSize * 0.36);
    cairo_show_text(cr(), words);
    cairo_text_extents_t extents;
    cairo_text_extents(cr(), words, &extents);
    return x + extents.x_advance;
  }

  double legend_middle() const { return height_ + kLegend / 2 - 8; }

  void paint_legend() {
    constexpr double kBar = 220;
    constexpr double kDot = 7;
    double x = text(kMargin, "springs: slack") + 14;
    for (double i = 0; i < kBar; ++i) {
      set_color(app::ramp(kTensions, i / kBar));
      cairo_rectangle(cr(), x + i, legend_middle() - 8, 1.5, 16);
      cairo_fill(cr());
    }
    x = text(x + kBar + 16, "about to break") + 48;
    dot(x, legend_middle(), kDot, kAnchor);
    x = text(x + 16, "anchor") + 36;
    dot(x, legend_middle(), kDot, kPulled);
    text(x + 16, "pulled anchor");
  }

  Box view_;
  double scale_;
  double width_;
  double height_;
  app::CairoSurface image_;
  app::CairoContext context_;
};

}  // namespace

app::Picture network_picture(const Network& network, const Network& start, double strength) {
  Box view;
  view.include(start);
  view.include(network);
  NetworkPainter painter(view);
  painter.paint(network, strength);
  return painter.picture();
}

app::World world_of(const Network& network) {
  Box box;
  box.include(network);
  const double width = box.right - box.left;
  const double height = box.top - box.bottom;
  const double margin = 0.1 * std::max({width, height, 1e-9});
  return {box.left - margin, box.top + margin, width + 2 * margin, height + 2 * margin, true};
}

app::Chart history_chart(const std::vector<app::Row>& history, const std::string& subtitle) {
  return app::history_chart(history, "Springs and nodes that are left", subtitle, "Number",
                            {{"Springs", kSpringLine, app::column(0)}, {"Nodes", kNodeLine, app::column(1)}});
}

}  // namespace structure
