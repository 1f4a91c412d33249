#include "simulation.h"

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#include <app/finite.h>
#include <dynasoar/random.h>

namespace bodies {
namespace {

enum class Decision : std::uint32_t { initial = 0 };

constexpr float kFastest = 0.0005f;
// Masses are multiples of this, so that sums of masses are exact in float up to 2^24 of them.
constexpr float kMassStep = 0x1p-9f;

}  // namespace

std::vector<BodyState> random_bodies(std::uint32_t count, std::uint64_t seed, float least_mass, float most_mass) {
  const auto masses = static_cast<std::uint32_t>((most_mass - least_mass) / kMassStep) + 1;
  std::vector<BodyState> bodies(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto signed_unit = [](std::uint32_t word) { return 2 * dynasoar::random::unit(word) - 1; };
    const auto motion = dynasoar::random::words(dynasoar::random::Seed{seed}, Decision::initial, i, 0, 0);
    const auto mass = dynasoar::random::words(dynasoar::random::Seed{seed}, Decision::initial, i, 0, 1);
    bodies[i] = {i,
                 signed_unit(motion[0]),
                 signed_unit(motion[1]),
                 kFastest * signed_unit(motion[2]),
                 kFastest * signed_unit(motion[3]),
                 least_mass + kMassStep * static_cast<float>(dynasoar::random::below(mass[0], masses))};
  }
  return bodies;
}

Totals totals_of(const std::vector<BodyState>& bodies) {
  Totals totals;
  for (const BodyState& body : bodies) {
    const double mass = body.mass;
    totals.bodies += 1;
    totals.mass += mass;
    totals.kinetic_energy += mass * (double{body.vx} * body.vx + double{body.vy} * body.vy) / 2;
    totals.momentum_x += mass * body.vx;
    totals.momentum_y += mass * body.vy;
    totals.reach = std::fmax(totals.reach, std::fmax(std::fabs(body.x), std::fabs(body.y)));
  }
  return totals;
}

void Simulation::record() {
  const Totals now = totals();
  const std::uint64_t step = steps_made();
  app::require_finite(step, {{"mass", now.mass},
                             {"kinetic_energy", now.kinetic_energy},
                             {"momentum_x", now.momentum_x},
                             {"momentum_y", now.momentum_y}});
  if (!(now.reach <= kReach)) {
    throw std::runtime_error("after step " + std::to_string(step) +
                             " a body is farther than 900000 from the middle, where forces cannot be computed in "
                             "single precision; start with smaller masses or velocities");
  }
  history_.push_back(now);
  ++records_;
}

}  // namespace bodies
