/// @file
/// Program: a program whose runs are also drawn, in pictures and in a window.
#pragma once

#include <vector>

#include <app/chart.h>
#include <app/picture.h>
#include <app/simulation.h>
#include <app/viewport.h>
#include <dynasoar/program/program.h>

namespace app {

/// Files with drawings that every run writes, unless their options say otherwise.
struct Drawings {
  DefaultFile chart;
  DefaultFile picture;
};

class Program : public dynasoar::program::Program {
 public:
  using dynasoar::program::Program::Program;

  virtual Drawings drawings() const = 0;

  /// Where things are at the start. After start().
  virtual World world() const = 0;

  /// The present state.
  virtual Picture picture() = 0;

  virtual Chart chart(const std::vector<Row>& history) const = 0;
};

/// The main function of a program. @return the exit code, see dynasoar/program/options.h
int run_program(Program& program, int argc, const char* const* argv);

}  // namespace app
