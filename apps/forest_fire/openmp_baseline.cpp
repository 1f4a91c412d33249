/// @file
/// The hand-written OpenMP baseline for CPUs: a byte per cell, in one array for even steps and one for odd steps. A
/// thread processes whole rows, in strips of cells. Its loops, also those for random numbers, have no branches, so
/// compilers vectorize them.

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

class OpenMpForest final : public app::OpenMpSimulation<Simulation, Census> {
 public:
  explicit OpenMpForest(const Parameters& parameters)
      : OpenMpSimulation(parameters, {"grow and burn"}),
        width_(parameters.width),
        height_(parameters.height),
        chance_(Chance::of(parameters)),
        before_(width_, height_),
        after_(width_, height_) {
    in_parallel(height_, [&](int y) {
      for (int x = 0; x < width_; ++x) {
        after_.row(y)[x] = chance_.starts_with_tree(number(x, y)) ? Ground::tree : Ground::empty;
        before_.row(y)[x] = Ground::empty;
      }
      after_.close_ring(y);
    });
  }

  std::vector<Ground> cells() override {
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

  /// Computes `count` cells of a row from x on.
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

  /// Whether trees are struck, or grow in empty cells. One draw for both.
  void draw(const Ground* here, std::uint32_t first, std::uint8_t* happens, int count) const {
    const Chance chance = chance_;
    const std::uint32_t step = now();
    for (int i = 0; i < count; ++i) {
      happens[i] =
          chance.strikes_or_grows(here[i] == Ground::tree, first + static_cast<std::uint32_t>(i), step) ? 1 : 0;
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
  Chance chance_;
  app::GhostRows<Ground> before_, after_;
};

}  // namespace

std::unique_ptr<Simulation> make_openmp_baseline(const Parameters& parameters) {
  return std::make_unique<OpenMpForest>(parameters);
}

}  // namespace forest_fire
