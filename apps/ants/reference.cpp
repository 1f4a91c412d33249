/// @file
/// The sequential reference: the model of README.md as readable code, one ant after the other. It shares only the
/// interface and the random numbers with the other implementations, so that tests can compare them with it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <dynasoar/identity.h>
#include <dynasoar/random.h>

#include "simulation.h"

namespace ants {
namespace {

// At least 113 bits, so that differences and products of coordinates that are 0 or at least 2^-20 are exact.
__extension__ using Integer = __int128;

struct Point {
  float x, y;
};

Integer scaled(float coordinate) {
  return static_cast<Integer>(std::ldexp(static_cast<double>(coordinate), 44));
}

/// Whether the path between two points touches a box: the points are not both on one side of the box, and its corners
/// are not all on one side of the line.
bool touches(Point a, Point b, const Box& box) {
  if (std::max(a.x, b.x) < box.left || std::min(a.x, b.x) > box.right) return false;
  if (std::max(a.y, b.y) < box.top || std::min(a.y, b.y) > box.bottom) return false;
  bool is_left = false;
  bool is_right = false;
  for (const Point corner :
       {Point{box.left, box.top}, {box.right, box.top}, {box.left, box.bottom}, {box.right, box.bottom}}) {
    const Integer side = (scaled(b.x) - scaled(a.x)) * (scaled(corner.y) - scaled(a.y)) -
                         (scaled(b.y) - scaled(a.y)) * (scaled(corner.x) - scaled(a.x));
    is_left = is_left || side >= 0;
    is_right = is_right || side <= 0;
  }
  return is_left && is_right;
}

/// A pheromone on the ground.
class Pheromone {
 public:
  explicit Pheromone(int side)
      : side_(side),
        cells_(static_cast<std::size_t>(side) * static_cast<std::size_t>(side)),
        deposits_(cells_.size()) {}

  float of_cell(std::size_t cell) const { return cells_[cell]; }

  float sample(Point at) const {
    const auto [left, right, across] = between(at.x);
    const auto [top, bottom, down] = between(at.y);
    const float above = mean(cell(left, top), cell(right, top), across);
    const float below = mean(cell(left, bottom), cell(right, bottom), across);
    return mean(above, below, down);
  }

  void deposit(std::size_t cell, float amount) {
    deposits_[cell] += static_cast<std::uint64_t>(static_cast<double>(amount) * kUnits + 0.5);
  }

  void diffuse(double diffusion, double evaporation) {
    if (diffusion == 0) {
      const auto remaining = static_cast<float>(std::exp(-evaporation));
      for (float& cell : cells_) cell *= remaining;
      add_deposits();
      return;
    }
    const auto rate = static_cast<float>(0.5 * diffusion);
    const auto remaining = static_cast<float>(std::exp(-evaporation * 0.5));
    for (int half = 0; half < 2; ++half) {
      std::vector<float> after(cells_.size());
      for (int y = 0; y < side_; ++y) {
        for (int x = 0; x < side_; ++x) {
          const float here = cell(x, y);
          const float along_x = rate * ((cell(x - 1, y) - here) + (cell(x + 1, y) - here));
          const float along_y = rate * ((cell(x, y - 1) - here) + (cell(x, y + 1) - here));
          after[index(x, y)] = remaining * (here + (along_x + along_y));
        }
      }
      cells_ = after;
      if (half == 0) add_deposits();
    }
  }

 private:
  static constexpr double kUnits = 4294967296.0;

  struct Between {
    int first, second;
    float share;
  };

  Between between(float coordinate) const {
    const float way = std::min(std::max(coordinate, 0.0f), static_cast<float>(side_)) - 0.5f;
    const float first = std::floor(way);
    return {static_cast<int>(first), static_cast<int>(first) + 1, way - first};
  }

  static float mean(float a, float b, float share) {
    const float way = share * (b - a);
    return a + way;
  }

  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(side_) + static_cast<std::size_t>(x);
  }
  float cell(int x, int y) const { return cells_[index(std::clamp(x, 0, side_ - 1), std::clamp(y, 0, side_ - 1))]; }

  void add_deposits() {
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      cells_[i] += static_cast<float>(static_cast<double>(std::exchange(deposits_[i], 0)) / kUnits);
    }
  }

  int side_;
  std::vector<float> cells_;
  std::vector<std::uint64_t> deposits_;
};

class Reference final : public Simulation {
 public:
  explicit Reference(const Parameters& parameters)
      : parameters_(parameters),
        side_(static_cast<float>(parameters.world.side)),
        ants_(parameters.initial),
        home_(static_cast<int>(parameters.world.side)),
        trail_(home_),
        food_(parameters.world.food),
        stored_(food_.size()) {}

  void step() override {
    ++step_;
    std::vector<AntState> living;
    std::map<std::size_t, std::uint64_t> bids;  // the lowest bid for the food of each cell
    for (AntState ant : ants_) {
      if (step_ >= ant.last_step) continue;
      const auto words = dynasoar::random::words({parameters_.seed}, 1, ant.number, step_);
      walk(ant, words);
      const std::size_t cell = cell_of(ant);
      (ant.carries ? trail_ : home_).deposit(cell, ant.scent);
      ant.scent *= 1 - parameters_.fading;
      if (is_in_nest({ant.x, ant.y})) {
        if (ant.carries) {
          if (words[2] < parameters_.births * kWords) {
            living.push_back(newborn(ant));
          } else {
            ++stored_[cell];
          }
          turn_back(ant);
        }
        ant.carries = false;
        ant.scent = 1;
      } else if (!ant.carries && food_[cell] > 0) {
        const auto [found, is_first] = bids.try_emplace(cell, bid(ant));
        if (!is_first) found->second = std::min(found->second, bid(ant));
      }
      living.push_back(ant);
    }
    for (AntState& ant : living) {
      // New ants are in the nest, where there is no food.
      const std::size_t cell = cell_of(ant);
      const auto found = bids.find(cell);
      if (ant.carries || is_in_nest({ant.x, ant.y}) || found == bids.end() || found->second != bid(ant)) continue;
      --food_[cell];
      ant.carries = true;
      ant.scent = 1;
      turn_back(ant);
    }
    ants_ = living;
    home_.diffuse(parameters_.diffusion, parameters_.evaporation);
    trail_.diffuse(parameters_.diffusion, parameters_.evaporation);
  }

  void synchronize() override {}

  void record() override {
    Census census;
    for (const AntState& ant : ants_) {
      census.foragers += ant.carries ? 0 : 1;
      census.carriers += ant.carries ? 1 : 0;
      census.first_gate += is_in(ant, parameters_.world.gates[0]) ? 1 : 0;
      census.second_gate += is_in(ant, parameters_.world.gates[1]) ? 1 : 0;
    }
    for (std::size_t i = 0; i < food_.size(); ++i) {
      census.food += food_[i];
      census.stored += stored_[i];
    }
    history_.push_back(census);
  }

  std::vector<Census> take_history() override {
    for (const Census& census : history_) check_room(census.ants(), room_of(parameters_));
    return std::exchange(history_, {});
  }

  State state() override {
    check_room(ants_.size(), room_of(parameters_));
    State state{ants_, {}};
    std::sort(state.ants.begin(), state.ants.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    for (std::size_t i = 0; i < food_.size(); ++i) {
      state.cells.push_back({home_.of_cell(i), trail_.of_cell(i), food_[i], stored_[i]});
    }
    return state;
  }

 private:
  static constexpr double kWords = 4294967296.0;

  static Point left_of(Point a) { return {kDiagonal * (a.x - a.y), kDiagonal * (a.x + a.y)}; }
  static Point right_of(Point a) { return {kDiagonal * (a.x + a.y), kDiagonal * (a.y - a.x)}; }
  static constexpr float kDiagonal = 0.70710678f;

  float sensed(const AntState& ant, Point direction) const {
    const Point at = {ant.x + parameters_.sight * direction.x, ant.y + parameters_.sight * direction.y};
    if (ant.carries && is_in_nest(at)) return 1073741824;  // the nest itself
    const float concentration = (ant.carries ? home_ : trail_).sample(at);
    return concentration >= parameters_.threshold ? concentration : 0;
  }

  void walk(AntState& ant, const dynasoar::random::Words& words) const {
    const bool prefers_left = words[1] % 2 == 0;
    const Point ahead = {ant.heading_x, ant.heading_y};
    const float left = sensed(ant, left_of(ahead));
    const float middle = sensed(ant, ahead);
    const float right = sensed(ant, right_of(ahead));
    float tangent = parameters_.wobble * (2 * dynasoar::random::unit(words[0]) - 1);
    if (left > middle || right > middle) {
      const bool goes_left = left > right || (left == right && prefers_left);
      tangent = tangent + (goes_left ? parameters_.turn : -parameters_.turn);
    }
    Point way = {ahead.x - tangent * ahead.y, ahead.y + tangent * ahead.x};
    const float length = std::sqrt(way.x * way.x + way.y * way.y);
    const float inverse = 1 / length;
    way = {inverse * way.x, inverse * way.y};
    const Point left_way = left_of(way);
    const Point right_way = right_of(way);
    if (goes(ant, way)) return;
    if (goes(ant, prefers_left ? left_way : right_way)) return;
    if (goes(ant, prefers_left ? right_way : left_way)) return;
    ant.heading_x = -way.x;
    ant.heading_y = -way.y;
  }

  bool goes(AntState& ant, Point way) const {
    const Point to = {ant.x + way.x, ant.y + way.y};
    if (!(to.x > 0 && to.x < side_ && to.y > 0 && to.y < side_)) return false;
    for (const Box& wall : parameters_.world.walls) {
      if (touches({ant.x, ant.y}, to, wall)) return false;
    }
    ant.x = to.x;
    ant.y = to.y;
    ant.heading_x = way.x;
    ant.heading_y = way.y;
    return true;
  }

  static void turn_back(AntState& ant) {
    ant.heading_x = -ant.heading_x;
    ant.heading_y = -ant.heading_y;
  }

  AntState newborn(const AntState& parent) const {
    const dynasoar::Identity child = dynasoar::child_identity(dynasoar::Identity{parent.number}, step_);
    AntState ant;
    ant.number = static_cast<std::uint64_t>(child);
    ant.x = parent.x;
    ant.y = parent.y;
    const std::uint32_t word = dynasoar::random::words({parameters_.seed}, 3, ant.number, 0)[0];
    const float u = 2 * dynasoar::random::unit(word << 2) - 1;
    const float tangent = u * (0.78539816f + 0.21460184f * (u * u));
    const float along = 1 / std::sqrt(1 + tangent * tangent);
    const float across = tangent * along;
    const Point headings[] = {{along, across}, {-across, along}, {-along, -across}, {across, -along}};
    ant.heading_x = headings[word >> 30].x;
    ant.heading_y = headings[word >> 30].y;
    ant.last_step = step_ + parameters_.lifetime;
    return ant;
  }

  std::uint64_t bid(const AntState& ant) const {
    const auto words = dynasoar::random::words({parameters_.seed}, 2, 0, step_);
    return ant.number ^ (std::uint64_t{words[0]} << 32 | words[1]);
  }

  bool is_in_nest(Point at) const {
    const Disc& nest = parameters_.world.nest;
    const float x = at.x - nest.x;
    const float y = at.y - nest.y;
    return x * x + y * y <= nest.radius * nest.radius;
  }

  static bool is_in(const AntState& ant, const Box& gate) {
    return ant.x >= gate.left && ant.x < gate.right && ant.y >= gate.top && ant.y < gate.bottom;
  }

  std::size_t cell_of(const AntState& ant) const {
    return static_cast<std::size_t>(ant.y) * parameters_.world.side + static_cast<std::size_t>(ant.x);
  }

  Parameters parameters_;
  float side_;
  std::vector<AntState> ants_;
  Pheromone home_;
  Pheromone trail_;
  std::vector<std::uint32_t> food_;
  std::vector<std::uint32_t> stored_;
  std::vector<Census> history_;
  std::uint32_t step_ = 0;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace ants
