/// @file
/// OnGrid: the common part of the parallel implementations of models on grids: their history, and the states of their
/// cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <app/canvas.h>
#include <app/census_history.h>
#include <app/collect.h>
#include <app/ranks.h>
#include <app/simulation.h>
#include <dynasoar/platform/config.h>

namespace app {

/// The type of cells' numbers: 32 bits, unless a view of the cells has a type `CellNumber`.
template <class View>
struct NumberOfCell {
  using type = std::uint32_t;
};
template <class View>
requires requires {
  typename View::CellNumber;
}
struct NumberOfCell<View> {
  using type = typename View::CellNumber;
};
template <class View>
using CellNumber = typename NumberOfCell<View>::type;

/// The state of the c-th cell of a rank. @tparam View   has a device function `state(c)`
template <class View>
struct StateOfCell {
  View view;
  std::uint64_t first;
  __device__ auto operator()(std::uint64_t c) const { return view.state(static_cast<CellNumber<View>>(first + c)); }
};

/// Counts the c-th cell of a rank.
template <class Counter>
struct CountOwnCell {
  Counter counter;
  std::size_t first;
  template <class Tally>
  __device__ void operator()(std::size_t c, Tally& tally) const {
    counter(first + c, tally);
  }
};

/// The colour of a cell. @tparam View   has a device function `state(c)`
template <class View>
struct ColorOfCell {
  View view;
  __device__ Rgb operator()(std::uint64_t c) const { return color_of(view.state(static_cast<CellNumber<View>>(c))); }
};

/// @tparam Base   a DenseSimulation or ObjectSimulation of the model's GridSimulation. The model has functions
///                `options_of(parameters)` and, for devices, `color_of(cell)`
template <class Base>
class OnGrid : public Base {
 public:
  using typename Base::CellT, typename Base::CensusT, typename Base::ParametersT;

  std::vector<CensusT> take_history() final {
    this->synchronize();
    return sum_of_ranks(parameters_.ranks, history_.take(this->executor()));
  }

  SavedOptions saved_options() const { return options_of(parameters_); }

  static constexpr Rgb kBackground = {0, 0, 0};

 protected:
  /// As the constructor of Base.
  template <class... Arguments>
  explicit OnGrid(const ParametersT& parameters, const Arguments&... arguments)
      : Base(parameters, arguments...), parameters_(parameters), own_{0, parameters.number_of_cells()} {}

  /// Sets the cells of this rank if several ranks share the run. By default, it has all cells.
  void set_own_cells(const CellRange& own) { own_ = own; }

  const ParametersT& parameters() const { return parameters_; }

  /// Submits the counting of all cells. @param counter   device callable: `counter(c, tally)` adds cell c to the tally
  template <class Counter>
  void count_cells(const Counter& counter) {
    history_.record(this->executor(), static_cast<std::size_t>(own_.count),
                    CountOwnCell<Counter>{counter, static_cast<std::size_t>(own_.first)});
  }

  /// The states of all cells. Waits. If several ranks share the run, only the first rank gets them.
  /// @param view   a value for device code, with a function `state(c)`
  template <class View>
  std::vector<CellT> states_of(const View& view) {
    this->synchronize();
    const StateOfCell<View> state{view, own_.first};
    return of_all_ranks(parameters_.ranks,
                        collect<CellT, std::uint64_t>(this->runner(), static_cast<std::size_t>(own_.count), state));
  }

  template <class View>
  void paint_cells_of(const Canvas& canvas, const View& view) {
    paint_cells<std::uint64_t>(this->executor(), canvas, {parameters_.width, parameters_.height}, kBackground,
                               ColorOfCell<View>{view});
  }

 private:
  ParametersT parameters_;
  CellRange own_;
  CensusHistory<CensusT> history_;
};

}  // namespace app
