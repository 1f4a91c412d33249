/// @file
/// OpenMpSimulation, GhostRows: the common parts of the hand-written OpenMP baselines of models on lattices.
/// Comparisons with these baselines show the cost of objects on lattices on a CPU, so they use only the random numbers
/// of the library. Only in builds for a CPU with a compiler that has OpenMP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <omp.h>

#include <app/simulation.h>
#include <dynasoar/program/simulation.h>

namespace app {

/// A loop over rows processes strips of this many cells, so that intermediate results stay in the first-level cache.
inline constexpr int kStrip = 256;

/// @tparam Interface   of the model's simulations
/// @tparam Census      the type of the rows of its history
template <class Interface, class Census>
class OpenMpSimulation : public Interface {
 public:
  void step() final {
    clock_.begin_step(*this);
    ++step_;
    advance();
  }

  void synchronize() final {}
  void record() final { history_.push_back(census()); }
  std::vector<Census> take_history() final { return std::exchange(history_, {}); }
  std::vector<PhaseTime> phases() final { return clock_.times(); }

 protected:
  /// @param parameters   the model's: `threads`, `profile_every`
  /// @param phases       of a step
  template <class Parameters>
  OpenMpSimulation(const Parameters& parameters, const PhaseNames& phases)
      : threads_(parameters.threads > 0 ? parameters.threads : omp_get_num_procs()),
        clock_(parameters.profile_every, phases) {}

  virtual void advance() = 0;
  virtual Census census() const = 0;

  int threads() const { return threads_; }

  /// The number of the current step, from 1.
  std::uint32_t now() const { return step_; }

  /// Calls `f(y)` for the rows of a phase, the same ones in the same thread each time.
  template <class F>
  void for_each_row(std::size_t phase, int rows, const F& f) {
    in_parallel(rows, f);
    clock_.end_phase(*this, phase);
  }

  /// The same outside of steps.
  template <class F>
  void in_parallel(int rows, const F& f) const {
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (int y = 0; y < rows; ++y) f(y);
  }

 private:
  int threads_;
  PhaseClock clock_;
  std::uint32_t step_ = 0;
  std::vector<Census> history_;
};

/// Rows of cells, each with an additional cell at both ends. Uninitialized, so that the threads that write to rows
/// first have them in their memory.
///
/// @tparam T   trivial
template <class T>
class GhostRows {
 public:
  GhostRows(int width, int height)
      : stride_(static_cast<std::size_t>(width) + 2), cells_(new T[stride_ * static_cast<std::size_t>(height)]) {}

  /// The first cell of a row; those beyond its ends are at -1 and the width.
  T* row(int y) const { return cells_.get() + static_cast<std::size_t>(y) * stride_ + 1; }

  /// Lets the cells beyond the ends of a row equal those at the other end.
  void close_ring(int y) const {
    T* const cells = row(y);
    const auto width = static_cast<std::ptrdiff_t>(stride_) - 2;
    cells[-1] = cells[width - 1];
    cells[width] = cells[0];
  }

 private:
  std::size_t stride_;
  std::unique_ptr<T[]> cells_;
};

}  // namespace app
