/// @file
/// OnGrid: what the parallel implementations of models on grids have in common: their history, and the states of their
/// cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/canvas.h>
#include <app/census_history.h>
#include <app/collect.h>
#include <app/simulation.h>
#include <dynasoar/platform/config.h>

namespace app {

/// The state of a cell, and its colour. @tparam View   has a device function `state(c)`
template <class View>
struct StateOfCell {
  View view;
  __device__ auto operator()(std::uint32_t c) const { return view.state(c); }
};
template <class View>
struct ColorOfCell {
  View view;
  __device__ Rgb operator()(std::uint32_t c) const { return color_of(view.state(c)); }
};

/// @tparam Base   a DenseSimulation or ObjectSimulation of the model's GridSimulation. The model has functions
///                `options_of(parameters)` and, for devices, `color_of(cell)`
template <class Base>
class OnGrid : public Base {
 public:
  using typename Base::CellT, typename Base::CensusT, typename Base::ParametersT;

  std::vector<CensusT> take_history() final {
    this->synchronize();
    return history_.take(this->executor());
  }

  SavedOptions saved_options() const { return options_of(parameters_); }

  static constexpr Rgb kBackground = {0, 0, 0};

 protected:
  /// As in Base.
  template <class... Arguments>
  explicit OnGrid(const ParametersT& parameters, const Arguments&... arguments)
      : Base(parameters, arguments...), parameters_(parameters) {}

  const ParametersT& parameters() const { return parameters_; }

  /// Submits the counting of all cells. @param counter   device callable: `counter(c, tally)` adds cell c to the tally
  template <class Counter>
  void count_cells(const Counter& counter) {
    history_.record(this->executor(), parameters_.cells(), counter);
  }

  /// Waits. @param view   what device code is given, with a function `state(c)`
  template <class View>
  std::vector<CellT> states_of(const View& view) {
    this->synchronize();
    return collect<CellT>(this->runner(), parameters_.cells(), StateOfCell<View>{view});
  }

  template <class View>
  void paint_cells_of(const Canvas& canvas, const View& view) {
    paint_cells(this->executor(), canvas, {parameters_.width, parameters_.height}, kBackground,
                ColorOfCell<View>{view});
  }

 private:
  ParametersT parameters_;
  CensusHistory<CensusT> history_;
};

}  // namespace app
