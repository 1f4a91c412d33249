/// @file
/// The sequential reference: the model of README.md, written to be read. Every boid reads all others. It shares only
/// the interface with the other implementations, so that tests can compare them with it.
///
/// It computes in double precision. Only the decisions which boids are neighbours and which are too close are in single
/// precision, as README.md defines.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "simulation.h"

namespace flocking {
namespace {

class Reference final : public Simulation {
 public:
  explicit Reference(const Parameters& parameters) : boids_(parameters.initial), side_(parameters.side) {}

  void step() override {
    std::vector<BoidState> next = boids_;
    for (std::size_t i = 0; i < boids_.size(); ++i) next[i] = after_step(i);
    boids_ = next;
  }

  void synchronize() override {}

  std::vector<BoidState> boids() override { return boids_; }

 private:
  BoidState after_step(std::size_t i) const {
    const BoidState& me = boids_[i];
    double neighbours = 0;
    double velocity_x = 0, velocity_y = 0, offset_x = 0, offset_y = 0, away_x = 0, away_y = 0;
    for (std::size_t j = 0; j < boids_.size(); ++j) {
      if (j == i) continue;
      const BoidState& other = boids_[j];
      const float dx = nearest(other.x - me.x);
      const float dy = nearest(other.y - me.y);
      const float xx = dx * dx;
      const float yy = dy * dy;
      const float squared = xx + yy;
      if (squared > 1.0f) continue;
      neighbours += 1;
      velocity_x += other.vx;
      velocity_y += other.vy;
      offset_x += dx;
      offset_y += dy;
      constexpr double kClose = 0.4 * 0.4;
      if (squared < kClose) {
        away_x -= (1 - squared / kClose) * dx;
        away_y -= (1 - squared / kClose) * dy;
      }
    }
    double vx = me.vx;
    double vy = me.vy;
    if (neighbours > 0) {
      vx += 0.08 * (velocity_x / neighbours - me.vx) + 0.002 * offset_x / neighbours + 0.005 * away_x;
      vy += 0.08 * (velocity_y / neighbours - me.vy) + 0.002 * offset_y / neighbours + 0.005 * away_y;
      const double speed = std::hypot(vx, vy);
      const double factor = speed > 0 ? std::clamp(speed, 0.03, 0.06) / speed : 1;
      vx *= factor;
      vy *= factor;
    }
    return {me.number, inside(me.x + vx), inside(me.y + vy), static_cast<float>(vx), static_cast<float>(vy)};
  }

  // The shortest offset across the joined borders.
  float nearest(float offset) const {
    if (offset > side_ / 2) return offset - side_;
    if (offset < -side_ / 2) return offset + side_;
    return offset;
  }

  float inside(double coordinate) const {
    if (coordinate < 0) coordinate += side_;
    if (coordinate >= side_) coordinate -= side_;
    return static_cast<float>(coordinate);
  }

  std::vector<BoidState> boids_;
  float side_;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace flocking
