/// @file
/// The hand-written baselines: Wa-Tor without dynamic allocation, in four loops over all cells per step. The two
/// baselines differ only in their layout: a structure of arrays or an array of structures.
///
/// No loop needs atomics. In the first loop of a half, every cell writes one byte of its own: the request of its agent,
/// or that the cell is available. In the second loop, an available cell reads the bytes of its neighbours. If it
/// accepts an agent, it writes its own state and that of the agent's old cell. An agent asks for only one cell, so each
/// state has at most one writer. The second loop reads no states except those of accepted agents.
///
/// A cell stores the steps at which its agent was born and will starve. Age and energy follow from them, so agents that
/// do not move cause no memory traffic.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <app/dense_simulation.h>
#include <app/layout.h>
#include <app/on_grid.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "rules.h"
#include "simulation.h"

namespace wa_tor {
namespace {

/// The byte of a cell in the first loop of a half. Values below kDirections ask for the neighbour in that direction.
constexpr std::uint8_t kAsksNothing = 4;
constexpr std::uint8_t kOffersWater = 5;
constexpr std::uint8_t kOffersFish = 6;
constexpr std::uint8_t kDies = 7;

struct Cell {
  std::uint32_t born;
  std::uint32_t starves;
  std::uint8_t kind;
  std::uint8_t request;
};

/// @tparam View   of app::StructureOfArrays or app::ArrayOfStructures
template <class View>
struct Cells : View {
  __device__ std::uint8_t& kind(std::uint32_t c) const { return this->template at<&Cell::kind>(c); }
  __device__ std::uint8_t& request(std::uint32_t c) const { return this->template at<&Cell::request>(c); }
  __device__ std::uint32_t& born(std::uint32_t c) const { return this->template at<&Cell::born>(c); }
  __device__ std::uint32_t& starves(std::uint32_t c) const { return this->template at<&Cell::starves>(c); }
};

/// The data of the loops over cells, passed to the device by value.
template <class View>
struct DenseStep {
  Cells<View> cells;
  Torus torus;
  Seed seed;
  app::StepNumber step;

  __device__ void init(std::uint32_t c, Thresholds thresholds) const {
    const InitialCell initial = initial_cell(seed, thresholds, c);
    cells.kind(c) = initial.kind;
    cells.born(c) = step - initial.age;
    cells.starves(c) = step + kInitialEnergy;
  }

  __device__ void fish_ask(std::uint32_t c) const {
    const std::uint8_t kind = cells.kind(c);
    std::uint8_t request = kind == kFree ? kOffersWater : kAsksNothing;
    if (kind == kFish) {
      const DirectionSet candidates = neighbors_of_kind(c, kFree);
      if (!candidates.empty()) request = asked(candidates, Decision::fish_move, c);
    }
    cells.request(c) = request;
  }

  __device__ void fish_move(std::uint32_t c) const {
    if (cells.request(c) != kOffersWater) return;
    const DirectionSet askers = neighbors_asking_for(c);
    if (askers.empty()) return;
    const std::uint32_t origin = torus.neighbor(c, choose(askers, seed, Decision::fish_accept, c, step));
    const std::uint32_t born = cells.born(origin);
    const bool spawns = step - born > kSpawnAge;
    cells.kind(c) = kFish;
    cells.born(c) = spawns ? step : born;
    if (spawns) {
      cells.born(origin) = step - draw(seed, Decision::fish_birth, origin, step, kNewbornAges);
    } else {
      cells.kind(origin) = kFree;
    }
  }

  __device__ void shark_ask(std::uint32_t c) const {
    const std::uint8_t kind = cells.kind(c);
    std::uint8_t request = kind == kFree ? kOffersWater : kOffersFish;
    if (kind == kShark) request = cells.starves(c) == step ? kDies : shark_request(c);
    cells.request(c) = request;
  }

  __device__ void shark_move(std::uint32_t c) const {
    const std::uint8_t own = cells.request(c);
    if (own == kDies) cells.kind(c) = kFree;
    if (own != kOffersWater && own != kOffersFish) return;
    const DirectionSet askers = neighbors_asking_for(c);
    if (askers.empty()) return;
    const std::uint32_t origin = torus.neighbor(c, choose(askers, seed, Decision::shark_accept, c, step));
    const std::uint32_t born = cells.born(origin);
    const bool spawns = step - born > kSpawnAge;
    cells.kind(c) = kShark;
    cells.born(c) = spawns ? step : born;
    cells.starves(c) = cells.starves(origin) + (own == kOffersFish ? kFishEnergy : 0);
    if (spawns) {
      cells.born(origin) = step - draw(seed, Decision::shark_birth, origin, step, kNewbornAges);
      cells.starves(origin) = step + kInitialEnergy;
    } else {
      cells.kind(origin) = kFree;
    }
  }

  __device__ std::uint8_t kind(std::uint32_t c) const { return cells.kind(c); }

  __device__ CellState state(std::uint32_t c) const {
    const std::uint8_t kind = cells.kind(c);
    if (kind == kFree) return {};
    return {kind, step - cells.born(c), kind == kShark ? cells.starves(c) - step : 0};
  }

 private:
  __device__ std::uint8_t shark_request(std::uint32_t c) const {
    DirectionSet candidates = neighbors_of_kind(c, kFish);
    if (candidates.empty()) candidates = neighbors_of_kind(c, kFree);
    return candidates.empty() ? kAsksNothing : asked(candidates, Decision::shark_move, c);
  }

  __device__ std::uint8_t asked(DirectionSet candidates, Decision decision, std::uint32_t c) const {
    return static_cast<std::uint8_t>(choose(candidates, seed, decision, c, step));
  }

  __device__ DirectionSet neighbors_of_kind(std::uint32_t c, std::uint8_t kind) const {
    DirectionSet directions;
    directions.add_if(cells.kind(torus.left(c)) == kind, 0);
    directions.add_if(cells.kind(torus.up(c)) == kind, 1);
    directions.add_if(cells.kind(torus.right(c)) == kind, 2);
    directions.add_if(cells.kind(torus.down(c)) == kind, 3);
    return directions;
  }

  __device__ DirectionSet neighbors_asking_for(std::uint32_t c) const {
    DirectionSet directions;
    directions.add_if(cells.request(torus.left(c)) == opposite(0), 0);
    directions.add_if(cells.request(torus.up(c)) == opposite(1), 1);
    directions.add_if(cells.request(torus.right(c)) == opposite(2), 2);
    directions.add_if(cells.request(torus.down(c)) == opposite(3), 3);
    return directions;
  }
};

// The least number of bytes that a step reads and writes in device memory, per cell and per shark.

struct SoaStorage : app::StructureOfArrays<&Cell::kind, &Cell::request, &Cell::born, &Cell::starves> {
  using StructureOfArrays::StructureOfArrays;
  // Each half: the kind is read, the request written and read. Moves are not counted.
  static constexpr std::uint64_t kBytesPerCell = 2 * (1 + 1 + 1);
  // Every shark checks whether it starves.
  static constexpr std::uint64_t kBytesPerShark = 4;
};

struct AosStorage : app::ArrayOfStructures<Cell> {
  using ArrayOfStructures::ArrayOfStructures;
  // Each half: the cell is read, written and read. Memory is moved in sectors of 32 bytes, so always whole cells.
  static constexpr std::uint64_t kBytesPerCell = 2 * 3 * sizeof(Cell);
  static constexpr std::uint64_t kBytesPerShark = 0;
};

template <class Storage>
class DenseOcean final : public app::OnGrid<app::DenseSimulation<Simulation>> {
 public:
  explicit DenseOcean(const Parameters& parameters)
      : OnGrid(parameters, app::PhaseNames{"fish ask", "fish move", "sharks ask", "sharks move"}),
        torus_(Torus::of(parameters)),
        seed_{parameters.seed},
        cells_(torus_.cells) {
    populate(Thresholds::of(parameters.fish, parameters.sharks));
  }

  void submit_step() override {
    count_step();
    const auto now = present();
    run_phase(0, torus_.cells, [=] __device__(std::uint32_t c) { now.fish_ask(c); });
    run_phase(1, torus_.cells, [=] __device__(std::uint32_t c) { now.fish_move(c); });
    run_phase(2, torus_.cells, [=] __device__(std::uint32_t c) { now.shark_ask(c); });
    run_phase(3, torus_.cells, [=] __device__(std::uint32_t c) { now.shark_move(c); });
  }

  void record() override { count_cells(CountAgents{present()}); }

  std::vector<CellState> cells() override { return states_of(present()); }

  std::optional<std::uint64_t> bytes_per_step(const Population& population) const override {
    return torus_.cells * Storage::kBytesPerCell + population.sharks * Storage::kBytesPerShark;
  }

  /// Makes the first agents. Public, because nvcc requires this of functions that contain a device lambda.
  void populate(Thresholds thresholds) {
    const auto now = present();
    for_each(torus_.cells, [=] __device__(std::uint32_t c) { now.init(c, thresholds); });
  }

 private:
  DenseStep<typename Storage::View> present() const { return {{cells_.view()}, torus_, seed_, now()}; }

  Torus torus_;
  Seed seed_;
  Storage cells_;
};

}  // namespace

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<DenseOcean<SoaStorage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<DenseOcean<AosStorage>>(parameters);
}

}  // namespace wa_tor
