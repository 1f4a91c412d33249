/// @file
/// View: a window that shows a run. Only view.cpp includes SDL.
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

  /// Opens the window. @pre both arguments outlive it; `simulation` has objects
  ///
  /// @param steps   the number of steps of the whole run
  void open(Program& program, Simulation& simulation, int steps);

  /// Shows the state after `step` and handles the user's input until it is time for the next step. After the last step,
  /// it continues until the window is closed.
  ///
  /// @return   false if the window was closed, or the program interrupted
  bool wait(int step);

 private:
  class Window;

  std::unique_ptr<Window> window_;
};

}  // namespace app
