/// @file
/// The hand-written baselines: Schelling's model without dynamic allocation, in three loops over all cells per step.
/// The two baselines differ only in their layout: a structure of arrays or an array of structures.
///
/// In the loop that moves agents, a thread reads the wish of its cell's agent, and not its group, because an agent may
/// be moving in at the same time. So each group has one writer and no other reader. The lot also has one writer: the
/// agent that has won.

#include <cstdint>
#include <memory>
#include <vector>

#include <app/dense_simulation.h>
#include <app/layout.h>
#include <app/on_grid.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "rules.h"
#include "simulation.h"

namespace schelling {
namespace {

using Lot = dynasoar::AtomicWord<std::uint64_t>;

struct Cell {
  Lot lot;
  std::uint32_t wanted;
  std::uint32_t unhappy;
  std::uint8_t group;
};

/// @tparam View   of app::StructureOfArrays or app::ArrayOfStructures
template <class View>
struct Cells : View {
  __device__ std::uint8_t& group(std::uint32_t c) const { return this->template at<&Cell::group>(c); }
  __device__ std::uint32_t& wanted(std::uint32_t c) const { return this->template at<&Cell::wanted>(c); }
  __device__ std::uint32_t& unhappy(std::uint32_t c) const { return this->template at<&Cell::unhappy>(c); }
  __device__ Lot& lot(std::uint32_t c) const { return this->template at<&Cell::lot>(c); }
};

/// The data of the loops over cells, passed to the device by value.
template <class View>
struct DenseStep {
  Cells<View> cells;
  Rules rules;
  app::StepNumber step;

  __device__ std::uint8_t group(std::uint32_t c) const { return cells.group(c); }

  __device__ void init(std::uint32_t c) const {
    move_in(c, rules.initial_group(c));
    cells.lot(c).store(kNobody, dynasoar::Order::relaxed);
  }

  __device__ void look(std::uint32_t c) const {
    const std::uint8_t group = cells.group(c);
    if (group == kVacant || !rules.is_unhappy(rules.neighbours(*this, c, group))) {
      cells.wanted(c) = kNothing;
      if (group != kVacant) cells.unhappy(c) = 0;
      return;
    }
    const Wish wish = rules.wish(*this, c, step);
    cells.wanted(c) = wish.cell;
    cells.unhappy(c) += 1;
    if (wish.cell != kWhatIsTaken) cells.lot(wish.cell).fetch_min(wish.lot, dynasoar::Order::relaxed);
  }

  __device__ void move(std::uint32_t c) const {
    const std::uint32_t to = cells.wanted(c);
    if (to == kNothing) return;
    if (to != kWhatIsTaken && is_lot_of(cells.lot(to).load(dynasoar::Order::relaxed), c)) {
      cells.group(to) = cells.group(c);
      cells.unhappy(to) = cells.unhappy(c);
      cells.group(c) = kVacant;
      cells.lot(to).store(kNobody, dynasoar::Order::relaxed);  // so that agents that lost do not match it
    } else if (rules.gives_up(cells.unhappy(c))) {
      cells.group(c) = kVacant;
    }
  }

  __device__ void settle(std::uint32_t c) const {
    if (cells.group(c) != kVacant) return;
    const std::uint8_t newcomer = rules.newcomer(c, step);
    if (newcomer != kVacant) move_in(c, newcomer);
  }

  __device__ CellState state(std::uint32_t c) const {
    const std::uint8_t group = cells.group(c);
    return {group, group == kVacant ? 0 : cells.unhappy(c)};
  }

 private:
  __device__ void move_in(std::uint32_t c, std::uint8_t group) const {
    cells.group(c) = group;
    cells.unhappy(c) = 0;
  }
};

/// @tparam Storage   app::StructureOfArrays or app::ArrayOfStructures of cells
template <class Storage>
class DenseCity final : public app::OnGrid<app::DenseSimulation<Simulation>> {
 public:
  explicit DenseCity(const Parameters& parameters)
      : OnGrid(parameters, app::PhaseNames{"look", "move", "settle"}),
        rules_(Rules::of(parameters)),
        cells_(rules_.cells) {
    populate();
  }

  void submit_step() override {
    count_step();
    const auto now = present();
    run_phase(0, rules_.cells, [=] __device__(std::uint32_t c) { now.look(c); });
    run_phase(1, rules_.cells, [=] __device__(std::uint32_t c) { now.move(c); });
    if (rules_.newcomers > 0) run_phase(2, rules_.cells, [=] __device__(std::uint32_t c) { now.settle(c); });
  }

  void record() override { count_cells(TakeCensus{rules_, present()}); }

  std::vector<CellState> cells() override { return states_of(present()); }

  /// Makes the first agents. Public, because nvcc requires this of functions that contain a device lambda.
  void populate() {
    const auto now = present();
    for_each(rules_.cells, [=] __device__(std::uint32_t c) { now.init(c); });
  }

 private:
  DenseStep<typename Storage::View> present() const { return {{cells_.view()}, rules_, now()}; }

  Rules rules_;
  Storage cells_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  using Storage = app::StructureOfArrays<&Cell::group, &Cell::wanted, &Cell::unhappy, &Cell::lot>;
  return std::make_unique<DenseCity<Storage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<DenseCity<app::ArrayOfStructures<Cell>>>(parameters);
}

}  // namespace schelling
