#include "pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <cairo.h>

#include <app/chart.h>
#include <app/map_painter.h>
#include <app/picture.h>

#include "colors.h"

namespace structure {
namespace {

constexpr app::Rgb kSpringLine = {37, 99, 235};
constexpr app::Rgb kNodeLine = {217, 119, 6};

constexpr app::MapStyle kStyle = {
    .margin = 48, .legend = 72, .legend_middle = 28, .least_width = 900, .background = kPaper, .ink = {55, 65, 81}};

// More springs than this cannot be distinguished in a picture, so only every n-th is drawn.
constexpr std::size_t kMostSprings = 200000;

void include(app::MapBox& box, const Network& network) {
  for (const NodeState& node : network.nodes) {
    if (node.kind != Kind::gone) box.include(node.position.x, node.position.y);
  }
}

// A spring as a line, with the share of the force that it bears.
struct Line {
  Vector from;
  Vector to;
  double share;
};

// Slack springs first, so that those under tension are visible.
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

class NetworkPainter : public app::MapPainter {
 public:
  explicit NetworkPainter(const app::MapBox& view) : MapPainter(view, kStyle) {}

  void paint(const Network& network, double strength) {
    const std::vector<Line> lines = lines_of(network, strength);
    cairo_set_line_width(cr(), line_width(lines));
    for (const Line& line : lines) {
      set_color(app::ramp(kTensions, line.share));
      cairo_move_to(cr(), x_of(line.from.x), y_of(line.from.y));
      cairo_line_to(cr(), x_of(line.to.x), y_of(line.to.y));
      cairo_stroke(cr());
    }
    const double radius = dot_radius(network);
    for (const NodeState& node : network.nodes) {
      if (node.kind == Kind::anchor) dot(x_of(node.position.x), y_of(node.position.y), radius, kAnchor);
      if (node.kind == Kind::pulled) dot(x_of(node.position.x), y_of(node.position.y), radius, kPulled);
    }
    paint_legend();
  }

 private:
  // Thin enough to distinguish lines, by the share of the picture that they cover.
  double line_width(const std::vector<Line>& lines) const {
    double length = 1;
    for (const Line& line : lines)
      length += std::hypot(x_of(line.to.x) - x_of(line.from.x), y_of(line.to.y) - y_of(line.from.y));
    return std::clamp(0.25 * width() * height() / length, 0.5, 4.0);
  }

  double dot_radius(const Network& network) const {
    const double nodes = static_cast<double>(network.nodes.size() + 1);
    return std::clamp(0.12 * std::sqrt(width() * height() / nodes), 1.0, 7.0);
  }

  void paint_legend() {
    constexpr double kBar = 220;
    constexpr double kDot = 7;
    double x = text(kStyle.margin, "springs: slack") + 14;
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
};

}  // namespace

app::Picture network_picture(const Network& network, const Network& start, double strength) {
  app::MapBox view;
  include(view, start);
  include(view, network);
  NetworkPainter painter(view);
  painter.paint(network, strength);
  return painter.picture();
}

app::World world_of(const Network& network) {
  app::MapBox box;
  include(box, network);
  return box.world(0.1);
}

app::Chart history_chart(const std::vector<app::Row>& history, const std::string& subtitle) {
  return app::history_chart(history, "Springs and nodes that are left", subtitle, "Number",
                            {{"Springs", kSpringLine, app::column(0)}, {"Nodes", kNodeLine, app::column(1)}});
}

}  // namespace structure
