/// @file
/// The hand-written OpenMP baseline for CPUs: a byte per cell, one array for even steps and one for odd ones. A thread
/// takes whole rows, in strips of cells, in loops without branches that compilers vectorize, the random numbers too.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <app/openmp_simulation.h>
#include <dynasoar/random.h>

#include "rules.h"
#include "simulation.h"

namespace forest_fire {
namespace {

using app::kStrip;

/// An event of which so many of 2^32 random words mean yes, as comparisons of 32 bits.
struct Event {
  std::uint32_t purpose;
  std::uint32_t greatest;  ///< word that means yes
  std::uint32_t possible;

  Event(Decision decision, std::uint64_t words)
      : purpose(static_cast<std::uint32_t>(decision)),
        greatest(static_cast<std::uint32_t>(words - 1)),
        possible(words > 0 ? 1 : 0) {}
};

class OpenMpForest final : public app::OpenMpSimulation<Simulation, Census> {
 public:
  explicit OpenMpForest(const Parameters& parameters)
      : OpenMpSimulation(parameters, {"grow and burn"}),
        width_(parameters.width),
        height_(parameters.height),
        seed_{parameters.seed},
        growth_(Decision::growth, Chance::of(parameters).growth),
        lightning_(Decision::lightning, Chance::of(parameters).lightning),
        before_(width_, height_),
        after_(width_, height_) {
    const Chance chance = Chance::of(parameters);
    in_parallel(height_, [&](int y) {
      for (int x = 0; x < width_; ++x) {
        after_.row(y)[x] = chance.starts_with_tree(number(x, y)) ? Ground::tree : Ground::empty;
        before_.row(y)[x] = Ground::empty;
      }
      after_.close_ring(y);
    });
  }

  std::vector<Ground> forest() override {
    std::vector<Ground> cells;
    for (int y = 0; y < height_; ++y) cells.insert(cells.end(), after_.row(y), after_.row(y) + width_);
    return cells;
  }

 private:
  void advance() override {
    std::swap(before_, after_);
    for_each_row(0, height_, [this](int y) {
      for (int x = 0; x < width_; x += kStrip) advance(x, y, std::min(kStrip, width_ - x));
      after_.close_ring(y);
    });
  }

  /// Makes `count` cells of a row from x on.
  void advance(int x, int y, int count) const {
    const Ground* const here = before_.row(y) + x;
    const Ground* const above = before_.row(y > 0 ? y - 1 : height_ - 1) + x;
    const Ground* const below = before_.row(y < height_ - 1 ? y + 1 : 0) + x;
    Ground* const next = after_.row(y) + x;
    std::uint8_t happens[kStrip];
    draw(here, number(x, y), happens, count);
    for (int i = 0; i < count; ++i) {
      const int near_fire = (above[i] == Ground::fire) | (below[i] == Ground::fire) | (here[i - 1] == Ground::fire) |
                            (here[i + 1] == Ground::fire);
      const int is_tree = here[i] == Ground::tree, is_empty = here[i] == Ground::empty;
      const int burns = is_tree & (near_fire | happens[i]), grows = is_empty & happens[i];
      next[i] = static_cast<Ground>(is_tree + burns + grows);
    }
  }

  /// Whether trees are struck, and grow where there are none. One draw for both.
  void draw(const Ground* here, std::uint32_t first, std::uint8_t* happens, int count) const {
    std::uint32_t words[kStrip], purposes[kStrip];
    const auto of_tree = [this](Ground ground) { return ground == Ground::tree ? lightning_ : growth_; };
    for (int i = 0; i < count; ++i) purposes[i] = of_tree(here[i]).purpose;
    const std::uint32_t step = now();
    const dynasoar::random::Seed seed = seed_;
    for (int i = 0; i < count; ++i) {
      words[i] = dynasoar::random::words(seed, purposes[i], first + static_cast<std::uint32_t>(i), step)[0];
    }
    for (int i = 0; i < count; ++i) {
      const Event event = of_tree(here[i]);
      happens[i] = static_cast<std::uint8_t>((words[i] <= event.greatest ? 1 : 0) & event.possible);
    }
  }

  Census census() const override {
    std::uint64_t trees = 0, fires = 0;
#pragma omp parallel for num_threads(threads()) schedule(static) reduction(+ : trees, fires)
    for (int y = 0; y < height_; ++y) {
      const Ground* const row = after_.row(y);
      for (int x = 0; x < width_; ++x) {
        trees += row[x] == Ground::tree ? 1 : 0;
        fires += row[x] == Ground::fire ? 1 : 0;
      }
    }
    return {trees, fires};
  }

  std::uint32_t number(int x, int y) const {
    return static_cast<std::uint32_t>(y * width_ + x);
  }

  int width_, height_;
  dynasoar::random::Seed seed_;
  Event growth_, lightning_;
  app::GhostRows<Ground> before_, after_;
};

}  // namespace

std::unique_ptr<Simulation> make_openmp_baseline(const Parameters& parameters) {
  return std::make_unique<OpenMpForest>(parameters);
}

}  // namespace forest_fire
