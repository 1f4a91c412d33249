/// @file
/// The hand-written OpenMP baseline for CPUs: Life with a byte per cell, 1 if it is alive, in one array for even steps
/// and one for odd ones. A thread processes whole rows, in strips of cells. Its loops have no branches, so compilers
/// vectorize them: they add up the three cells of each column first, and then three such columns.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <app/openmp_simulation.h>

#include "dynamics.h"
#include "lattice.h"
#include "simulation.h"
#include "start.h"

namespace life {
namespace {

using app::kStrip;

class OpenMpLife final : public app::OpenMpSimulation<Simulation, Population> {
 public:
  explicit OpenMpLife(const Parameters& parameters)
      : OpenMpSimulation(parameters, {"all cells"}),
        lattice_(Lattice::of(parameters)),
        left_(parameters.left - parameters.margin),
        top_(parameters.top - parameters.margin),
        width_(static_cast<int>(lattice_.width)),
        height_(static_cast<int>(lattice_.height)),
        sums_(alive_sums(parameters.rule)),
        before_(width_, height_ + 2),
        after_(width_, height_ + 2) {
    const Start start(parameters);
    clear_frame(before_);
    clear_frame(after_);
    in_parallel(height_, [&, view = start.view()](int y) {
      for (int x = 0; x < width_; ++x) {
        const auto cell = static_cast<std::uint32_t>(y) * lattice_.width + static_cast<std::uint32_t>(x);
        before_.row(y + 1)[x] = 0;
        after_.row(y + 1)[x] = static_cast<std::uint8_t>(view.state(cell));
      }
      close(y);
    });
    close_top_and_bottom();
  }

  Frame frame() override {
    Frame frame{left_, top_, width_, height_, {}};
    for (int y = 1; y <= height_; ++y) {
      frame.states.insert(frame.states.end(), after_.row(y), after_.row(y) + width_);
    }
    return frame;
  }

 private:
  using Rows = app::GhostRows<std::uint8_t>;

  static constexpr std::uint8_t kNever = 255;  ///< more than any sum

  /// The number of sums that one loop compares with: three, as many as B3/S23 needs.
  using Sums = std::array<std::uint8_t, 3>;

  /// The sums with which a cell is alive next. A sum is twice the number of alive cells in the square of nine around
  /// the cell, plus 1 if the cell itself is alive.
  static std::vector<Sums> alive_sums(const Rule& rule) {
    std::vector<Sums> found;
    std::size_t count = 0;
    const auto add = [&](std::uint32_t sum) {
      if (count % 3 == 0) found.push_back({kNever, kNever, kNever});
      found.back()[count++ % 3] = static_cast<std::uint8_t>(sum);
    };
    for (std::uint32_t n = 0; n <= kNeighbors; ++n) {
      if (is_born(rule, n)) add(2 * n);
      if (survives(rule, n)) add(2 * (n + 1) + 1);
    }
    return found;
  }

  void advance() override {
    std::swap(before_, after_);
    for_each_row(0, height_, [this](int y) {
      for (int x = 0; x < width_; x += kStrip) advance(x, y, std::min(kStrip, width_ - x));
      close(y);
    });
    close_top_and_bottom();
  }

  /// Makes `count` cells of a row from x on.
  void advance(int x, int y, int count) const {
    const std::uint8_t* const here = before_.row(y + 1) + x;
    std::uint8_t* const next = after_.row(y + 1) + x;
    std::uint8_t sums[kStrip];
    add_squares(x, y, count, sums);
    for (int i = 0; i < count; ++i) sums[i] = static_cast<std::uint8_t>(2 * sums[i] + here[i]);
    std::uint8_t alive[kStrip] = {};
    for (const Sums sum : sums_) {
      for (int i = 0; i < count; ++i) {
        alive[i] |= static_cast<std::uint8_t>((sums[i] == sum[0]) | (sums[i] == sum[1]) | (sums[i] == sum[2]));
      }
    }
    std::copy_n(alive, count, next);
  }

  /// The number of alive cells among each cell and its neighbours.
  void add_squares(int x, int y, int count, std::uint8_t* sums) const {
    const std::uint8_t* const above = before_.row(y) + x - 1;
    const std::uint8_t* const here = before_.row(y + 1) + x - 1;
    const std::uint8_t* const below = before_.row(y + 2) + x - 1;
    std::uint8_t columns[kStrip + 2];
    for (int i = 0; i < count + 2; ++i) columns[i] = static_cast<std::uint8_t>(above[i] + here[i] + below[i]);
    for (int i = 0; i < count; ++i) sums[i] = static_cast<std::uint8_t>(columns[i] + columns[i + 1] + columns[i + 2]);
  }

  Population census() const override {
    std::uint64_t alive = 0, candidates = 0;
#pragma omp parallel for num_threads(threads()) schedule(static) reduction(+ : alive, candidates)
    for (int y = 0; y < height_; ++y) {
      const Rows& cells = after_;
      for (int x = 0; x < width_; ++x) {
        int sum = 0;
        for (int dy = 0; dy < 3; ++dy) {
          for (int dx = -1; dx <= 1; ++dx) sum += cells.row(y + dy)[x + dx];
        }
        const int own = cells.row(y + 1)[x];
        alive += own != 0 ? 1 : 0;
        candidates += own == 0 && sum > 0 ? 1 : 0;
      }
    }
    return {alive, 0, candidates};
  }

  /// The cells beyond the ends of row y of the new generation.
  void close(int y) const {
    if (lattice_.torus) {
      after_.close_ring(y + 1);
    } else {
      after_.row(y + 1)[-1] = after_.row(y + 1)[width_] = 0;
    }
  }

  /// The rows above the first and below the last one.
  void close_top_and_bottom() const {
    if (!lattice_.torus) return;  // they stay dead
    std::copy_n(after_.row(height_) - 1, width_ + 2, after_.row(0) - 1);
    std::copy_n(after_.row(1) - 1, width_ + 2, after_.row(height_ + 1) - 1);
  }

  void clear_frame(const Rows& rows) const {
    for (const int y : {0, height_ + 1}) std::fill_n(rows.row(y) - 1, width_ + 2, std::uint8_t{0});
  }

  Lattice lattice_;
  int left_, top_, width_, height_;
  std::vector<Sums> sums_;
  Rows before_, after_;
};

}  // namespace

std::unique_ptr<Simulation> make_openmp_baseline(const Parameters& parameters) {
  return std::make_unique<OpenMpLife>(parameters);
}

}  // namespace life
