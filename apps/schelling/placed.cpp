/// @file
/// Schelling's model with agents and vacancies as objects that are placed on a lattice. The model itself is in
/// README.md.
///
/// A step is three loops. Agents *look* around, and those who are unhappy bid for a vacancy anywhere: it keeps the
/// least lot, an atomic minimum. Agents *move* if the lot there is theirs, and leave a vacancy behind; those whose
/// patience is at an end leave, too. Vacancies *settle*: newcomers take their place. A loop reads what the loop before
/// it wrote, and every location but the lots has one writer in a loop, so nothing depends on the order of threads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/object_simulation.h>
#include <app/on_grid.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace schelling::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

using dynasoar::Place;

class Agent;
class Red;
class Blue;
class Vacancy;
using AllocatorT = app::Allocator<Red, Blue, Vacancy>;

/// What loops are given.
struct City {
  Rules rules;
  app::StepNumber step;

  __device__ static std::uint32_t number(Place place) {
    return static_cast<std::uint32_t>(dynasoar::lattice_of<Vacancy>().number(place));
  }

  /// The vacancy in a cell, or null if it is taken.
  __device__ static Vacancy* vacancy(std::uint32_t c) {
    return dynasoar::at<Vacancy>(dynasoar::lattice_of<Vacancy>().place_of_number(c));
  }

  __device__ std::uint8_t group(std::uint32_t c) const;
  __device__ CellState state(std::uint32_t c) const;

  /// Makes the agent of a place. @return whether there is one
  __device__ static bool move_in(Place place, std::uint8_t group);
};

/// A place without an agent.
class Vacancy final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  using Lot = dynasoar::AtomicWord<std::uint64_t>;
  DYNASOAR_FIELDS(Vacancy, (lot_, Lot));  // the least of those who bid, or kNobody

  __device__ Vacancy() { lot_->store(kNobody, dynasoar::Order::relaxed); }

  __device__ void bid(std::uint64_t lot) { lot_->fetch_min(lot, dynasoar::Order::relaxed); }

  /// Whether the agent in cell `from`, who bid, has won.
  __device__ bool is_won_from(std::uint32_t from) const {
    return is_lot_of(lot_->load(dynasoar::Order::relaxed), from);
  }

  __device__ void settle(City city) {
    const Place here = dynasoar::place_of(this);
    if (City::move_in(here, city.rules.newcomer(City::number(here), city.step))) dynasoar::destroy(this);
  }
};

/// What red and blue agents have in common: all but what they like.
class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Agent, (wanted_, Vacancy*),  // for which it bids; null if it has found none
                  (unhappy_, std::uint32_t));  // 0: wanted_ is out of date

  __device__ Agent() : wanted_(nullptr), unhappy_(0) {}

  __device__ bool is_unhappy(City) { return unhappy_ != 0; }

  /// Bids for a vacancy.
  __device__ void bid(City city) {
    const std::uint32_t here = City::number(dynasoar::place_of(this));
    const auto words = city.rules.search_words(here, city.step);
    Vacancy* found = nullptr;
    for (std::uint32_t look = 0; look < kLooks && found == nullptr; ++look) {
      found = City::vacancy(city.rules.cell_of(words[look]));
    }
    wanted_ = found;
    if (found != nullptr) found->bid(lot_from(words[kLooks], here));
  }

  /// Moves to the vacancy that it has won, or gives up, or stays.
  __device__ void move(City city) {
    const Place here = dynasoar::place_of(this);
    Vacancy* const wanted = wanted_;
    if (wanted != nullptr && wanted->is_won_from(City::number(here))) {
      dynasoar::move_to(this, dynasoar::place_of(wanted));
      dynasoar::destroy(wanted);
    } else if (city.rules.gives_up(unhappy_)) {
      dynasoar::destroy(this);
    } else {
      return;
    }
    dynasoar::make_new_at<Vacancy>(here);
  }

 protected:
  /// Whether it is unhappy among its neighbours. @tparam Own, Other   its group, and the other one
  template <class Own, class Other>
  __device__ bool look_among(const City& city) {
    const Place here = dynasoar::place_of(this);
    const auto [own, others] = dynasoar::count_each_neighbours<Own, Other>(here);
    const bool unhappy = city.rules.is_unhappy(
        {.own = static_cast<std::uint32_t>(own), .all = static_cast<std::uint32_t>(own + others)});
    if (unhappy) {
      unhappy_ += 1;
    } else if (unhappy_ != 0) {
      unhappy_ = 0;
    }
    return unhappy;
  }
};

class Red final : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Red);

  __device__ bool look(City city) { return look_among<Red, Blue>(city); }
};

class Blue final : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Blue);

  __device__ bool look(City city) { return look_among<Blue, Red>(city); }
};

DYNASOAR_METHOD(Look, look);
DYNASOAR_METHOD(Bid, bid);

__device__ inline bool City::move_in(Place place, std::uint8_t group) {
  if (group == kRed) dynasoar::make_new_at<Red>(place);
  if (group == kBlue) dynasoar::make_new_at<Blue>(place);
  return group != kVacant;
}

__device__ inline std::uint8_t City::group(std::uint32_t c) const {
  const Place place = dynasoar::lattice_of<Vacancy>().place_of_number(c);
  return dynasoar::at<Red>(place) != nullptr ? kRed : dynasoar::at<Blue>(place) != nullptr ? kBlue : kVacant;
}

__device__ inline CellState City::state(std::uint32_t c) const {
  const Place place = dynasoar::lattice_of<Vacancy>().place_of_number(c);
  if (const Red* const red = dynasoar::at<Red>(place)) return {kRed, red->unhappy_};
  if (const Blue* const blue = dynasoar::at<Blue>(place)) return {kBlue, blue->unhappy_};
  return {};
}

/// Makes a place's first agent, or a vacancy.
struct Populate {
  City city;
  __device__ void operator()(Place place) const {
    if (!City::move_in(place, city.rules.initial_group(City::number(place)))) dynasoar::make_new_at<Vacancy>(place);
  }
};

class Objects final : public app::OnGrid<app::ObjectSimulation<Objects, Simulation, AllocatorT>> {
 public:
  explicit Objects(const Parameters& parameters)
      : OnGrid(parameters, needed_bytes(parameters.cells()), "city", app::PhaseNames{"look", "move", "settle"}),
        rules_(Rules::of(parameters)),
        lattice_(handle(), {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)}) {
    lattice_.parallel_for(Populate{view()});
    synchronize();
  }

  void submit_step() override {
    count_step();
    const City city = view();
    handle().parallel_do_if<Agent>(Look{}, Bid{}, city);
    end_phase(0);
    handle().parallel_do_if<Agent, &Agent::is_unhappy, &Agent::move>(city);
    end_phase(1);
    if (rules_.newcomers > 0) handle().parallel_do<&Vacancy::settle>(city);
    end_phase(2);
  }

  void record() override {
    handle().device_pointer();  // the kernel that counts sees what the last loop has changed
    count_cells(TakeCensus{rules_, view()});
  }

  std::vector<CellState> cells() override { return states_of(view()); }

  dynasoar::Columns read_columns() { return handle().columns<Agent>(); }

  void paint_on(const app::Canvas& canvas) {
    handle().device_pointer();
    paint_cells_of(canvas, view());
  }

 private:
  /// A heap that is enough: of a SoaAllocator, placed objects are not in it.
  static std::size_t needed_bytes(std::uint32_t cells) {
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Red>(cells + app::kSlotsInFlight);
  }

  City view() const { return {rules_, now()}; }

  Rules rules_;
  dynasoar::Lattice<Red, Blue, Vacancy> lattice_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace schelling::placed
