/// @file
/// The sequential reference: the model of README.md in double precision, written to be read. It shares only the
/// interface with the other implementations, so that tests can compare them with it.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "collision.h"

namespace collision {
namespace {

struct Body {
  std::uint32_t number;
  double x, y, vx, vy, mass;
};

// Whether a counts as heavier than b.
bool heavier(const Body& a, const Body& b) {
  return a.mass != b.mass ? a.mass > b.mass : a.number < b.number;
}

// Whether a body accepts a rather than b.
bool preferred(const Body& a, const Body& b) {
  return a.mass != b.mass ? a.mass < b.mass : a.number < b.number;
}

class Reference final : public Simulation {
 public:
  using Index = std::size_t;

  explicit Reference(const Parameters& parameters) {
    for (const bodies::BodyState& body : parameters.initial) {
      bodies_.push_back({body.number, body.x, body.y, body.vx, body.vy, body.mass});
    }
  }

  void step() override {
    move();
    merge();
  }

  void synchronize() override {}

  std::vector<bodies::BodyState> bodies() override {
    std::vector<bodies::BodyState> states;
    for (const Body& body : bodies_) {
      states.push_back({body.number, static_cast<float>(body.x), static_cast<float>(body.y),
                        static_cast<float>(body.vx), static_cast<float>(body.vy), static_cast<float>(body.mass)});
    }
    return states;
  }

 private:
  void move() {
    constexpr double kTime = 0.05;
    constexpr double kG = 6.673e-11;
    const std::vector<Body> before = bodies_;
    for (Body& body : bodies_) {
      for (const Body& other : before) {
        const double dx = other.x - body.x;
        const double dy = other.y - body.y;
        const double distance = std::hypot(dx, dy);
        if (other.number == body.number || distance == 0) continue;
        const double acceleration = kG * other.mass / (distance * distance + 0.05);
        body.vx += acceleration * dx / distance * kTime;
        body.vy += acceleration * dy / distance * kTime;
      }
    }
    for (Body& body : bodies_) {
      body.x += body.vx * kTime;
      body.y += body.vy * kTime;
      if (std::abs(body.x) > 1) body.vx = -body.vx;
      if (std::abs(body.y) > 1) body.vy = -body.vy;
    }
  }

  // The heaviest of the heavier bodies nearby.
  std::optional<Index> target_of(Index i) const {
    std::optional<Index> target;
    for (Index j = 0; j < bodies_.size(); ++j) {
      if (std::hypot(bodies_[j].x - bodies_[i].x, bodies_[j].y - bodies_[i].y) >= 0.005) continue;
      if (!heavier(bodies_[j], bodies_[i])) continue;
      if (!target || heavier(bodies_[j], bodies_[*target])) target = j;
    }
    return target;
  }

  void merge() {
    std::vector<std::optional<Index>> targets(bodies_.size());
    std::vector<std::optional<Index>> accepted(bodies_.size());
    for (Index i = 0; i < bodies_.size(); ++i) targets[i] = target_of(i);
    for (Index i = 0; i < bodies_.size(); ++i) {
      if (!targets[i] || targets[*targets[i]]) continue;
      std::optional<Index>& best = accepted[*targets[i]];
      if (!best || preferred(bodies_[i], bodies_[*best])) best = i;
    }
    std::vector<bool> gone(bodies_.size());
    for (Index i = 0; i < bodies_.size(); ++i) {
      if (!accepted[i]) continue;
      absorb(bodies_[i], bodies_[*accepted[i]]);
      gone[*accepted[i]] = true;
    }
    std::vector<Body> left;
    for (Index i = 0; i < bodies_.size(); ++i) {
      if (!gone[i]) left.push_back(bodies_[i]);
    }
    bodies_ = left;
  }

  static void absorb(Body& body, const Body& lighter) {
    const double mass = body.mass + lighter.mass;
    body.x = (body.x * body.mass + lighter.x * lighter.mass) / mass;
    body.y = (body.y * body.mass + lighter.y * lighter.mass) / mass;
    body.vx = (body.vx * body.mass + lighter.vx * lighter.mass) / mass;
    body.vy = (body.vy * body.mass + lighter.vy * lighter.mass) / mass;
    body.mass = mass;
  }

  std::vector<Body> bodies_;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace collision
