/// @file
/// FrameBaseline: the parts that the hand-written baselines have in common: the frame, and the census of its cells.
#pragma once

#include <cstdint>
#include <vector>

#include <app/census_history.h>
#include <app/dense_simulation.h>
#include <dynasoar/platform/memory.h>

#include "census.h"
#include "lattice.h"
#include "simulation.h"

namespace life {

class FrameBaseline : public app::DenseSimulation<Simulation> {
 public:
  std::vector<Population> take_history() final { return census_.take(executor()); }

  Frame frame() final {
    dynasoar::DeviceArray<std::uint16_t> states(lattice_.cells());
    states.fill_bytes(0);
    write_states(states.data());
    synchronize();
    return {left_, top_, static_cast<int>(lattice_.width), static_cast<int>(lattice_.height), states.download()};
  }

 protected:
  FrameBaseline(const Parameters& parameters, const app::PhaseNames& phases)
      : DenseSimulation(parameters, phases),
        left_(parameters.left - parameters.margin),
        top_(parameters.top - parameters.margin),
        lattice_(Lattice::of(parameters)),
        rule_(parameters.rule) {}

  /// Submits the writing of all cells' states to a frame of dead cells.
  virtual void write_states(std::uint16_t* frame) = 0;

  /// Submits the counting of `items`. @param cells   has a device function `count(i, tally)`
  template <class Cells>
  void count(std::size_t items, const Cells& cells) {
    census_.record(executor(), items, CountCells<Cells>{cells});
  }

  /// Sums that a loop submitted next may add to.
  CensusSums next_census() { return census_.next(executor()); }

  const Lattice& lattice() const { return lattice_; }
  const Rule& rule() const { return rule_; }

 private:
  int left_;
  int top_;
  Lattice lattice_;
  Rule rule_;
  app::CensusHistory<Population> census_;
};

}  // namespace life
