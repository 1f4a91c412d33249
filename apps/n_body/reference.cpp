/// @file
/// The sequential reference: the model of README.md in double precision, written to be read. It shares only the
/// interface with the other implementations, so that tests can compare them with it.

#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "n_body.h"

namespace n_body {
namespace {

struct Body {
  double x, y, vx, vy, mass;
};

class Reference final : public Simulation {
 public:
  explicit Reference(const Parameters& parameters) : cut_off_(parameters.cut_off) {
    for (const bodies::BodyState& body : parameters.initial) {
      bodies_.push_back({body.x, body.y, body.vx, body.vy, body.mass});
    }
  }

  void step() override {
    constexpr double kTime = 0.02;
    constexpr double kG = 6.673e-11;
    std::vector<Body> next = bodies_;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      double force_x = 0;
      double force_y = 0;
      for (std::size_t j = 0; j < bodies_.size(); ++j) {
        const double dx = bodies_[j].x - bodies_[i].x;
        const double dy = bodies_[j].y - bodies_[i].y;
        const double distance = std::hypot(dx, dy);
        if (distance == 0 || (cut_off_ > 0 && distance > cut_off_)) continue;
        const double force = kG * bodies_[i].mass * bodies_[j].mass / (distance * distance + 0.05);
        force_x += force * dx / distance;
        force_y += force * dy / distance;
      }
      Body& body = next[i];
      body.vx += force_x / body.mass * kTime;
      body.vy += force_y / body.mass * kTime;
      body.x += body.vx * kTime;
      body.y += body.vy * kTime;
      if (std::abs(body.x) > 1) body.vx = -body.vx;
      if (std::abs(body.y) > 1) body.vy = -body.vy;
    }
    bodies_ = next;
  }

  void synchronize() override {}

  std::vector<bodies::BodyState> bodies() override {
    std::vector<bodies::BodyState> states;
    for (const Body& body : bodies_) {
      states.push_back({static_cast<std::uint32_t>(states.size()), static_cast<float>(body.x),
                        static_cast<float>(body.y), static_cast<float>(body.vx), static_cast<float>(body.vy),
                        static_cast<float>(body.mass)});
    }
    return states;
  }

 private:
  double cut_off_;
  std::vector<Body> bodies_;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace n_body
