#include <cmath>
#include <cstddef>
#include <numbers>

#include <app/finite.h>
#include <dynasoar/random.h>

#include "rules.h"
#include "simulation.h"

namespace flocking {
namespace {

enum class Decision : std::uint32_t { initial = 0 };

}  // namespace

float side_for(std::uint32_t boids, double neighbours) {
  const double area = boids * std::numbers::pi * kSight * kSight / neighbours;
  return std::fmax(kLeastSide, static_cast<float>(std::sqrt(area)));
}

std::vector<BoidState> random_boids(std::uint32_t count, float side, std::uint64_t seed) {
  std::vector<BoidState> boids(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto words = dynasoar::random::words(dynasoar::random::Seed{seed}, Decision::initial, i, 0);
    const auto component = [&](std::uint32_t word) { return kSlowest * (2 * dynasoar::random::unit(words[word]) - 1); };
    // Below `side`, though the product may round up to it.
    const auto coordinate = [&](std::uint32_t word) {
      return std::fmin(side * dynasoar::random::unit(words[word]), std::nextafter(side, 0.0f));
    };
    boids[i] = {i, coordinate(0), coordinate(1), component(2), component(3)};
  }
  return boids;
}

Totals totals_of(const std::vector<BoidState>& boids) {
  Totals totals;
  double x = 0;
  double y = 0;
  for (const BoidState& boid : boids) {
    const double speed = std::sqrt(double{boid.vx} * boid.vx + double{boid.vy} * boid.vy);
    totals.boids += 1;
    totals.speed += speed;
    if (speed > 0) {
      x += boid.vx / speed;
      y += boid.vy / speed;
    }
  }
  if (totals.boids > 0) {
    totals.order = std::sqrt(x * x + y * y) / totals.boids;
    totals.speed /= totals.boids;
  }
  return totals;
}

void Simulation::record() {
  const Totals now = totals_of(boids());
  app::require_finite(steps_made(), {{"order", now.order}, {"speed", now.speed}});
  history_.push_back(now);
  ++records_;
}

}  // namespace flocking
