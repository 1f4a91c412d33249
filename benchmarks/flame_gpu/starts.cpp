// Random starts of the models: see models.h.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/random.h>

#include "models.h"
#include "rules.h"

namespace benchmarks::flame_gpu {
namespace {

enum class Purpose : std::uint32_t { position, direction, speed, peaks, cells };

/// A random number between two limits.
float between(float least, float most, std::uint32_t word) {
  return least + (most - least) * dynasoar::random::unit(word);
}

/// A vector whose coordinates are between two limits.
Vector3 random_vector(std::uint64_t seed, Purpose purpose, std::uint64_t number, float least, float most) {
  const auto words = dynasoar::random::words({seed}, purpose, number, 0);
  return {between(least, most, words[0]), between(least, most, words[1]), between(least, most, words[2])};
}

/// Sets the capacities around peaks. There are as many as would cover the landscape if they did not overlap.
void add_peaks(std::vector<CellState>& cells, std::uint32_t width, std::uint32_t height, std::uint64_t seed) {
  constexpr int kTop = 5;  // the distance at which the slopes begin
  constexpr int kLeastRadius = 5, kMostRadius = 30;
  float area = 0;
  for (std::uint64_t peak = 0; area < static_cast<float>(cells.size()); ++peak) {
    const auto words = dynasoar::random::words({seed}, Purpose::peaks, peak, 0);
    const auto x = static_cast<int>(dynasoar::random::below(words[0], width));
    const auto y = static_cast<int>(dynasoar::random::below(words[1], height));
    const int radius =
        kLeastRadius + static_cast<int>(dynasoar::random::below(words[2], kMostRadius - kLeastRadius + 1));
    area += 3.141f * static_cast<float>(radius * radius);
    for (int v = std::max(0, y - radius); v <= std::min(static_cast<int>(height) - 1, y + radius); ++v) {
      for (int u = std::max(0, x - radius); u <= std::min(static_cast<int>(width) - 1, x + radius); ++u) {
        const float distance = std::hypot(static_cast<float>(u - x), static_cast<float>(v - y));
        if (distance > static_cast<float>(radius)) continue;
        const float slope = static_cast<float>(radius - kTop);
        const float share = distance <= kTop ? 1 : (static_cast<float>(radius) - distance) / slope;
        std::int32_t& capacity = cells[static_cast<std::size_t>(v) * width + static_cast<std::size_t>(u)].capacity;
        capacity = std::max(capacity, static_cast<std::int32_t>(sugarscape::kMostSugar * share));
      }
    }
  }
}

}  // namespace

Flock random_flock(std::uint32_t count, std::uint64_t seed) {
  constexpr float kLeastSpeed = 0.1f;
  Flock flock{{}, std::cbrt(static_cast<float>(count) / 4000)};
  for (std::uint32_t i = 0; i < count; ++i) {
    const Vector3 position = random_vector(seed, Purpose::position, i, -flock.side / 2, flock.side / 2);
    const Vector3 direction = random_vector(seed, Purpose::direction, i, -1, 1);
    const float speed = between(kLeastSpeed, boids::kFastest, dynasoar::random::words({seed}, Purpose::speed, i, 0)[0]);
    flock.boids.push_back({position, speed / length(direction) * direction});
  }
  return flock;
}

Circles random_circles(std::uint32_t count, std::uint64_t seed) {
  Circles circles{{}, std::floor(std::cbrt(static_cast<float>(count)))};
  for (std::uint32_t i = 0; i < count; ++i) {
    circles.positions.push_back(random_vector(seed, Purpose::position, i, 0, circles.side));
  }
  return circles;
}

Landscape random_landscape(std::uint32_t width, std::uint32_t height, std::uint64_t seed) {
  using dynasoar::random::below;
  using sugarscape::kMostSugar;
  constexpr std::uint32_t kOneInSoManyCells = 10;
  Landscape landscape{width, std::vector<CellState>(std::size_t{width} * height), seed};
  add_peaks(landscape.cells, width, height, seed);
  std::int32_t agents = 0;
  for (std::size_t c = 0; c < landscape.cells.size(); ++c) {
    CellState& cell = landscape.cells[c];
    const auto words = dynasoar::random::words({seed}, Purpose::cells, c, 0);
    if (cell.capacity < kMostSugar / 2) cell.capacity = static_cast<std::int32_t>(below(words[0], kMostSugar / 2 + 1));
    cell.sugar = cell.capacity;
    if (below(words[1], kOneInSoManyCells) != 0) continue;
    cell.agent = agents++;
    cell.wealth = static_cast<std::int32_t>(below(words[2], 2 * kMostSugar + 1)) / 2;
    cell.metabolism = sugarscape::kMetabolism;
  }
  return landscape;
}

}  // namespace benchmarks::flame_gpu
