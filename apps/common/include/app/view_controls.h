/// @file
/// ViewControls: what the user of a window has asked for: which part of the world to show, and how fast to go on. No
/// window itself, so that it can be tested without one.
#pragma once

#include <chrono>
#include <optional>

#include <app/viewport.h>

namespace app {

class ViewControls {
 public:
  using Clock = std::chrono::steady_clock;

  /// Shows the whole world, and goes as fast as it can.
  ///
  /// @param width, height   pixels
  ViewControls(const World& world, int width, int height);

  const Viewport& viewport() const { return viewport_; }

  /// The window has another size: the middle stays where it is.
  void resize(int width, int height);

  /// @param factor   more than 1: closer, at most 64 pixels to a 1000th of the world's side; the place at this pixel
  ///                 stays where it is
  void zoom(double factor, double column, double row);

  /// The world follows the mouse by so many pixels.
  void drag(double columns, double rows);

  /// Shows the whole world again.
  void fit();

  bool is_paused() const { return is_paused_; }
  void toggle_pause() { is_paused_ = !is_paused_; }

  /// One more step, and then a pause.
  void single_step();

  /// Twice as many steps in a second, or half as many; from 1 to 1024, and then no limit.
  void faster();
  void slower();

  /// Nothing: no limit.
  std::optional<int> steps_per_second() const { return limit_; }

  /// When the next step may be made; nothing: not before the user says so.
  std::optional<Clock::time_point> next_step() const;

  /// A step begins at this time.
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
