/// @file
/// The common interface of all implementations of models: the DSL variants, the hand-written baselines and the
/// sequential references. Plain C++, so that only the implementations themselves are compiled as CUDA.
#pragma once

#include <stdexcept>

#include <app/picture.h>
#include <app/viewport.h>
#include <dynasoar/program/simulation.h>

/// The common parts of the applications, in addition to those of all programs.
namespace app {

using namespace dynasoar::program;

/// A running simulation that can be watched. On the GPU `paint()` only submits work.
class Simulation : public dynasoar::program::Simulation {
 public:
  /// Makes a picture of a part of the world, on the device. @pre why_no_objects() is empty
  virtual void paint(const Viewport&) { throw std::logic_error("this implementation has no objects"); }

  /// The last picture. Waits.
  virtual Picture painted() { throw std::logic_error("this implementation has no objects"); }
};

}  // namespace app
