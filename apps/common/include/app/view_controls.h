/// @file
/// ViewControls: the choices of the user of a window: the visible part of the world, and the speed. It has no window,
/// so that it can be tested without one.
#pragma once

#include <chrono>
#include <optional>

#include <app/viewport.h>

namespace app {

class ViewControls {
 public:
  using Clock = std::chrono::steady_clock;

  /// Initially, the whole world is visible, and the speed is not limited.
  ///
  /// @param width, height   pixels
  ViewControls(const World& world, int width, int height);

  const Viewport& viewport() const { return viewport_; }

  /// Changes the size of the window. The middle keeps its position.
  void resize(int width, int height);

  /// @param factor   more than 1: closer, at most 64 pixels to a 1000th of the world's side; the place at this pixel
  ///                 stays where it is
  void zoom(double factor, double column, double row);

  /// Moves the world by a number of pixels.
  void drag(double columns, double rows);

  /// Shows the whole world again.
  void fit();

  bool is_paused() const { return is_paused_; }
  void toggle_pause() { is_paused_ = !is_paused_; }

  /// Makes one more step, and then pauses.
  void single_step();

  /// Doubles or halves the number of steps per second: from 1 to 1024, and then no limit.
  void faster();
  void slower();

  /// Nothing: no limit.
  std::optional<int> steps_per_second() const { return limit_; }

  /// The time of the next step; nothing: the run is paused.
  std::optional<Clock::time_point> next_step() const;

  /// Notes that a step begins.
  void step_begins(Clock::time_point now);

 private:
  static constexpr int kFastest = 1024;

  World world_;
  Viewport viewport_;
  double least_scale_;
  double most_scale_;
  bool is_paused_ = false;
  bool wants_step_ = false;
  std::optional<int> limit_;
  Clock::time_point next_{};
};

}  // namespace app
