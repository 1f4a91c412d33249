#include "pictures.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <cairo.h>
#include <fmt/format.h>

#include <app/chart.h>
#include <app/map_painter.h>
#include <app/picture.h>

#include "colors.h"

namespace traffic {
namespace {

constexpr app::Rgb kDestination = {96, 165, 250};

constexpr app::Rgb kCarsLine = {37, 99, 235};
constexpr app::Rgb kMovingLine = {22, 163, 74};

constexpr app::MapStyle kStyle = {
    .margin = 40, .legend = 68, .legend_middle = 24, .least_width = 1000, .background = kNight, .ink = {203, 213, 225}};

// More items cannot be distinguished in a picture, so only every n-th is drawn.
constexpr std::size_t kMostStreets = 20000;
constexpr std::size_t kMostCars = 200000;

app::MapBox box_of(const Network& network) {
  app::MapBox box;
  for (const Intersection& intersection : network.intersections) box.include(intersection.at.x, intersection.at.y);
  for (const Street& street : network.streets) {
    for (const Point bend : street.bends) box.include(bend.x, bend.y);
  }
  return box;
}

double distance(Point a, Point b) {
  return std::hypot(b.x - a.x, b.y - a.y);
}

// The line of a street on the map.
class Line {
 public:
  Line(const Network& network, const Street& street) {
    points_.push_back(network.intersections[street.from].at);
    points_.insert(points_.end(), street.bends.begin(), street.bends.end());
    points_.push_back(network.intersections[street.to].at);
    for (std::size_t i = 1; i < points_.size(); ++i) length_ += distance(points_[i - 1], points_[i]);
  }

  const std::vector<Point>& points() const { return points_; }
  double length() const { return length_; }

  // The point at this share of the length.
  Point at(double share) const {
    double rest = share * length_;
    for (std::size_t i = 1; i < points_.size(); ++i) {
      const double part = distance(points_[i - 1], points_[i]);
      if (rest <= part && part > 0) {
        const double q = rest / part;
        return {points_[i - 1].x + q * (points_[i].x - points_[i - 1].x),
                points_[i - 1].y + q * (points_[i].y - points_[i - 1].y)};
      }
      rest -= part;
    }
    return points_.back();
  }

 private:
  std::vector<Point> points_;
  double length_ = 0;
};

// A car as a dot.
struct Dot {
  Point at;
  std::uint8_t speed;
};

class TrafficPainter : public app::MapPainter {
 public:
  explicit TrafficPainter(const Network& network) : MapPainter(box_of(network), kStyle), network_(network) {
    for (const Street& street : network_.streets) top_limit_ = std::max(top_limit_, street.limit);
    cell_size_ = mean_cell_size();
  }

  void paint(const std::vector<CellState>& cells) {
    const std::vector<Dot> cars = cars_of(cells);
    cars_ = cars.size();
    paint_streets();
    paint_destinations();
    for (const Dot& car : cars) {
      dot(x_of(car.at.x), y_of(car.at.y), car_radius(),
          app::ramp(kSpeeds, static_cast<double>(car.speed) / top_limit_));
    }
    paint_legend();
  }

 private:
  // In pixels.
  double mean_cell_size() const {
    double length = 0;
    double cells = 0;
    for (const Street& street : network_.streets) {
      length += Line(network_, street).length();
      cells += street.cells;
    }
    return cells > 0 ? length * scale() / cells : 1;
  }

  // Cars in a row have no gap, but many cars do not hide each other.
  double car_radius() const {
    const double room = std::sqrt(width() * height() / static_cast<double>(cars_ + 1));
    return std::clamp(std::min(0.5 * cell_size_, 0.15 * room), 0.7, 5.0);
  }

  void paint_streets() {
    const std::size_t stride = network_.streets.size() / kMostStreets + 1;
    // If there are many streets, their lines are so faint that crossings remain visible.
    const double opacity = std::clamp(300.0 / static_cast<double>(network_.streets.size() + 1), 0.06, 1.0);
    set_color(kAsphalt, opacity);
    cairo_set_line_width(cr(), std::clamp(0.6 * cell_size_, 1.0, 5.0));
    for (std::size_t s = 0; s < network_.streets.size(); s += stride) {
      const Line line(network_, network_.streets[s]);
      for (const Point point : line.points()) cairo_line_to(cr(), x_of(point.x), y_of(point.y));
      cairo_stroke(cr());
    }
  }

  void paint_destinations() {
    const std::size_t stride = network_.destinations.size() / kMostStreets + 1;
    for (std::size_t i = 0; i < network_.destinations.size(); i += stride) {
      const auto [number, cell] = network_.destinations[i];
      const Street& street = network_.streets[number];
      const Point at = Line(network_, street).at((cell + 0.5) / street.cells);
      dot(x_of(at.x), y_of(at.y), 0.9 * car_radius(), kDestination);
    }
  }

  // Fast cars first, so that jams are visible.
  std::vector<Dot> cars_of(const std::vector<CellState>& cells) const {
    const auto has_car = [](const CellState& cell) { return cell.has_car != 0; };
    const auto cars = static_cast<std::size_t>(std::count_if(cells.begin(), cells.end(), has_car));
    const std::size_t stride = cars / kMostCars + 1;
    std::vector<Dot> dots;
    std::size_t cell = 0;
    std::size_t car = 0;
    for (const Street& street : network_.streets) {
      const Line line(network_, street);
      for (std::uint32_t i = 0; i < street.cells; ++i, ++cell) {
        if (!has_car(cells[cell]) || car++ % stride != 0) continue;
        dots.push_back({line.at((i + 0.5) / street.cells), cells[cell].speed});
      }
    }
    std::stable_sort(dots.begin(), dots.end(), [](const Dot& a, const Dot& b) { return a.speed > b.speed; });
    return dots;
  }

  void paint_legend() {
    constexpr double kStep = 26;
    constexpr double kDot = 8;
    double x = text(kStyle.margin, "cars: standing") + 24;
    for (std::uint32_t speed = 0; speed <= top_limit_; ++speed, x += kStep) {
      dot(x, legend_middle(), kDot, app::ramp(kSpeeds, static_cast<double>(speed) / top_limit_));
    }
    x = text(x - 4, fmt::format("{} cell{} a step", top_limit_, top_limit_ == 1 ? "" : "s")) + 56;
    dot(x, legend_middle(), kDot * 0.8, kDestination);
    text(x + 20, "destination");
  }

  const Network& network_;
  std::uint32_t top_limit_ = 1;
  double cell_size_ = 1;
  std::size_t cars_ = 0;
};

}  // namespace

std::vector<Point> places_of_cells(const Network& network) {
  std::vector<Point> places;
  for (const Street& street : network.streets) {
    const Line line(network, street);
    for (std::uint32_t i = 0; i < street.cells; ++i) places.push_back(line.at((i + 0.5) / street.cells));
  }
  return places;
}

void add_places(dynasoar::Columns& cars, const std::vector<Point>& places) {
  std::vector<double> x, y;
  for (const auto cell : cars["cell"].as<std::size_t>()) {
    x.push_back(places.at(cell).x);
    y.push_back(places.at(cell).y);
  }
  cars.columns.push_back(dynasoar::make_column("x", x));
  cars.columns.push_back(dynasoar::make_column("y", y));
}

app::World world_of(const Network& network) {
  return box_of(network).world(0.02);
}

app::Picture map_picture(const Network& network, const std::vector<CellState>& cells) {
  TrafficPainter painter(network);
  painter.paint(cells);
  return painter.picture();
}

app::Chart history_chart(const std::vector<app::Row>& history, const std::string& subtitle) {
  return app::history_chart(history, "Cars, and those that move", subtitle, "Number",
                            {{"Cars", kCarsLine, app::column(0)}, {"Moving", kMovingLine, app::column(1)}});
}

}  // namespace traffic
