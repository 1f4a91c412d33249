#include "mesh.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numbers>
#include <random>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

namespace benchmarks::allocators {
namespace {

struct Point {
  float at[3];
};

Box box_of(const Point& a, const Point& b, const Point& c) {
  Box box{};
  for (int axis = 0; axis < 3; ++axis) {
    box.low[axis] = std::min({a.at[axis], b.at[axis], c.at[axis]});
    box.high[axis] = std::max({a.at[axis], b.at[axis], c.at[axis]});
  }
  return box;
}

/// Adds the triangles of a grid of cells whose corners are `corner(u, v)`, 0 <= u, v <= 1.
template <class Corner>
void add_grid(std::vector<Box>& boxes, int columns, int rows, const Corner& corner) {
  const auto point = [&](int column, int row) {
    return corner(static_cast<float>(column) / static_cast<float>(columns),
                  static_cast<float>(row) / static_cast<float>(rows));
  };
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const Point a = point(column, row), b = point(column + 1, row);
      const Point c = point(column, row + 1), d = point(column + 1, row + 1);
      boxes.push_back(box_of(a, b, c));
      boxes.push_back(box_of(b, c, d));
    }
  }
}

float height(float x, float y) {
  return 0.06f * std::sin(9 * x) * std::cos(7 * y) + 0.01f * std::sin(61 * x + 3 * y) * std::sin(47 * y);
}

void add_sphere(std::vector<Box>& boxes, const Point& centre, float radius, int fineness) {
  constexpr float kPi = std::numbers::pi_v<float>;
  add_grid(boxes, 2 * fineness, fineness, [&](float u, float v) {
    const float dent = radius * (1 + 0.2f * std::sin(13 * u * kPi) * std::sin(5 * v * kPi));
    return Point{{centre.at[0] + dent * std::cos(2 * kPi * u) * std::sin(kPi * v),
                  centre.at[1] + dent * std::sin(2 * kPi * u) * std::sin(kPi * v),
                  centre.at[2] + dent * std::cos(kPi * v)}};
  });
}

/// A file that is read line by line.
class ObjReader {
 public:
  explicit ObjReader(const std::string& path) : path_(path), file_(path) {
    if (!file_) throw std::runtime_error(fmt::format("cannot open {}", path));
  }

  std::vector<Box> read() {
    for (std::string text; std::getline(file_, text);) {
      ++line_;
      std::istringstream words(text);
      std::string kind;
      words >> kind;
      if (kind == "v") read_vertex(words);
      if (kind == "f") read_face(words);  // everything else says how it looks
    }
    if (file_.bad()) throw std::runtime_error(fmt::format("cannot read {}", path_));
    if (boxes_.empty()) throw std::runtime_error(fmt::format("{} has no faces", path_));
    return std::move(boxes_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", path_, line_, what));
  }

  void read_vertex(std::istringstream& words) {
    Point point{};
    for (float& value : point.at) {
      if (!(words >> value) || !std::isfinite(value)) fail("a vertex needs three numbers");
    }
    points_.push_back(point);
  }

  void read_face(std::istringstream& words) {
    std::vector<Point> corners;
    for (std::string word; words >> word;) corners.push_back(corner(word));
    if (corners.size() < 3) fail("a face needs at least three corners");
    for (std::size_t i = 2; i < corners.size(); ++i) {
      boxes_.push_back(box_of(corners[0], corners[i - 1], corners[i]));
    }
  }

  /// The vertex that "7", "7/1", "7//2" or "-1" (the last one) names.
  const Point& corner(const std::string& word) const {
    std::istringstream text(word.substr(0, word.find('/')));
    long long number = 0;
    if (!(text >> number) || !text.eof()) fail(fmt::format("'{}' is no corner of a face", word));
    const auto count = static_cast<long long>(points_.size());
    const long long index = number < 0 ? count + number : number - 1;
    if (index < 0 || index >= count) fail(fmt::format("there is no vertex {}", number));
    return points_[static_cast<std::size_t>(index)];
  }

  std::string path_;
  std::ifstream file_;
  std::size_t line_ = 0;
  std::vector<Point> points_;
  std::vector<Box> boxes_;
};

}  // namespace

std::vector<Box> make_scene(std::size_t triangles) {
  std::vector<Box> boxes;
  boxes.reserve(triangles);
  // A third is the terrain; the rest are spheres, most of them small.
  const int cells = std::max(1, static_cast<int>(std::sqrt(static_cast<double>(triangles) / 6)));
  add_grid(boxes, cells, cells, [](float x, float y) { return Point{{x, y, height(x, y)}}; });
  std::mt19937 random(1);
  const auto number = [&] { return static_cast<float>(random()) / 4294967296.0f; };
  while (boxes.size() < triangles) {
    const float x = number(), y = number() * number();  // denser towards one side
    const float size = number() * number() * number();
    const float radius = 0.001f + 0.04f * size;
    add_sphere(boxes, {{x, y, height(x, y) + radius}}, radius, 4 + static_cast<int>(28 * number() * number()));
  }
  boxes.resize(triangles);
  return boxes;
}

std::vector<Box> read_obj(const std::string& path) {
  return ObjReader(path).read();
}

}  // namespace benchmarks::allocators
