// The models as sequential programs: see models.h.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "models.h"
#include "rules.h"

namespace benchmarks::flame_gpu {

std::vector<BoidState> boids_after(const Flock& start, int steps) {
  using namespace boids;
  const auto pushed = [&](float at) {
    float push = 0;
    if (at + start.side / 2 < kNearWall) push += kPushOfWall;
    if (start.side / 2 - at < kNearWall) push -= kPushOfWall;
    return push;
  };
  const auto inside = [&](float at) { return std::clamp(at, -start.side / 2, start.side / 2); };
  std::vector<BoidState> flock = start.boids;
  for (int step = 0; step < steps; ++step) {
    const std::vector<BoidState> before = flock;
    for (std::size_t i = 0; i < flock.size(); ++i) {
      const BoidState& self = before[i];
      Vector3 centre, velocity, change;
      float seen = 0;
      for (std::size_t j = 0; j < before.size(); ++j) {
        const BoidState& other = before[j];
        const float distance = length(self.position - other.position);
        if (i == j || !(distance < kSight)) continue;
        seen += 1;
        centre = centre + other.position;
        velocity = velocity + other.velocity;
        if (distance < kTooClose) {
          const float closeness = 1 - distance / kTooClose;
          change = change + kSeparation * closeness * closeness * (self.position - other.position);
        }
      }
      if (seen > 0) {
        change = change + kCohesion * (1 / seen * centre - self.position);
        change = change + kAlignment / seen * velocity - self.velocity;
      }
      Vector3 next = self.velocity + kAgility * change;
      const float speed = length(next);
      if (speed > kFastest) next = kFastest / speed * next;
      if (speed < kSlowest) next = kSlowest / speed * next;
      next = next + Vector3{pushed(self.position.x), pushed(self.position.y), pushed(self.position.z)};
      const Vector3 at = self.position + kTimeStep * next;
      flock[i] = {{inside(at.x), inside(at.y), inside(at.z)}, next};
    }
  }
  return flock;
}

std::vector<CircleState> circles_after(const Circles& start, int steps) {
  using namespace circles;
  std::vector<CircleState> states;
  for (const Vector3& position : start.positions) states.push_back({position});
  for (int step = 0; step < steps; ++step) {
    const std::vector<CircleState> before = states;
    for (CircleState& state : states) {
      const Vector3 self = state.position;
      Vector3 push;
      float neighbours = 0;
      for (const CircleState& other : before) {
        const Vector3 towards = other.position - self;
        const float distance = length(towards);
        if (distance == 0 || distance >= kReach) continue;
        push = push + -std::sin(2 * kHalfTurn * distance / kReach) * kStrength / distance * towards;
        neighbours += 1;
      }
      if (neighbours > 0) push = 1 / neighbours * push;
      state = {self + push, length(push)};
    }
  }
  return states;
}

namespace sugarscape {
namespace {

class Sequential {
 public:
  explicit Sequential(const Landscape& start)
      : width_(start.width),
        height_(static_cast<std::uint32_t>(start.cells.size()) / start.width),
        seed_(start.seed),
        cells_(start.cells) {}

  void step() {
    ++step_;
    for (CellState& cell : cells_) live(cell);
    std::vector<std::uint32_t> moving;
    for (std::uint32_t c = 0; c < cells_.size(); ++c) {
      if (cells_[c].agent != kNoAgent) moving.push_back(c);
    }
    for (std::uint32_t round = 0; round < kRounds && !moving.empty(); ++round) moving = move(moving, round);
  }

  const std::vector<CellState>& cells() const { return cells_; }

 private:
  static void live(CellState& cell) {
    if (cell.agent != kNoAgent) {
      if (cell.sugar > 0) {
        cell.wealth += cell.sugar;
        cell.sugar = kEaten;
      }
      cell.wealth -= cell.metabolism;
      if (cell.wealth == 0) cell = {.sugar = 0, .capacity = cell.capacity};
    }
    if (cell.agent == kNoAgent) cell.sugar = std::min(cell.sugar + 1, cell.capacity);
  }

  /// A round of moves of the agents in some cells. @return the cells of those that must try again
  std::vector<std::uint32_t> move(const std::vector<std::uint32_t>& moving, std::uint32_t round) {
    std::vector<std::vector<std::uint32_t>> askers(cells_.size());
    for (const std::uint32_t c : moving) {
      std::vector<std::uint32_t> best;
      for (const std::uint32_t next : neighbours(c)) {
        if (cells_[next].agent != kNoAgent) continue;
        if (!best.empty() && cells_[next].sugar > cells_[best[0]].sugar) best.clear();
        if (best.empty() || cells_[next].sugar == cells_[best[0]].sugar) best.push_back(next);
      }
      if (best.empty()) continue;
      askers[best[choice(seed_, Chooser::agent, c, step_, round, static_cast<std::uint32_t>(best.size()))]].push_back(
          c);
    }
    std::vector<std::uint32_t> again;
    for (std::uint32_t c = 0; c < askers.size(); ++c) {
      if (askers[c].empty()) continue;
      const auto number = choice(seed_, Chooser::cell, c, step_, round, static_cast<std::uint32_t>(askers[c].size()));
      const std::vector<std::uint32_t> around = neighbours(c);
      std::sort(askers[c].begin(), askers[c].end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::find(around.begin(), around.end(), a) < std::find(around.begin(), around.end(), b);
      });
      for (std::uint32_t i = 0; i < askers[c].size(); ++i) {
        if (i != number) {
          again.push_back(askers[c][i]);
          continue;
        }
        CellState& from = cells_[askers[c][i]];
        CellState& to = cells_[c];
        to = {.sugar = kEaten,
              .capacity = to.capacity,
              .agent = from.agent,
              .wealth = to.sugar + kMetabolismOfMoved,
              .metabolism = kMetabolismOfMoved};
        from = {.sugar = 0, .capacity = from.capacity};
      }
    }
    return again;
  }

  /// The eight cells around a cell, row by row.
  std::vector<std::uint32_t> neighbours(std::uint32_t c) const {
    std::vector<std::uint32_t> result;
    for (std::uint32_t y = 0; y < 3; ++y) {
      for (std::uint32_t x = 0; x < 3; ++x) {
        if (x == 1 && y == 1) continue;
        result.push_back((c / width_ + y + height_ - 1) % height_ * width_ + (c % width_ + x + width_ - 1) % width_);
      }
    }
    return result;
  }

  std::uint32_t width_, height_;
  std::uint64_t seed_;
  std::uint32_t step_ = 0;
  std::vector<CellState> cells_;
};

}  // namespace
}  // namespace sugarscape

std::vector<CellState> sugarscape_after(const Landscape& start, int steps) {
  sugarscape::Sequential sequential(start);
  for (int step = 0; step < steps; ++step) sequential.step();
  return sequential.cells();
}

}  // namespace benchmarks::flame_gpu
