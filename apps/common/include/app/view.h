/// @file
/// View: a window in which a run is watched. Only view.cpp includes SDL.
#pragma once

#include <memory>

#include <app/program.h>
#include <app/simulation.h>

namespace app {

class View {
 public:
  /// @throws UsageError if there is no display, or the program was built without SDL2
  View();
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  /// Opens the window. @pre both live longer; `simulation` has objects
  ///
  /// @param steps   of the whole run
  void open(Program& program, Simulation& simulation, int steps);

  /// Shows the state after `step` and does what the user asks for, until the next step is to be made; after the last
  /// one, until the window is closed.
  ///
  /// @return   false if the window was closed, or the program interrupted
  bool wait(int step);

 private:
  class Window;

  std::unique_ptr<Window> window_;
};

}  // namespace app
