/// @file
/// Schelling's model with agents as objects that are placed on a lattice. README.md defines the model.
///
/// A step consists of four loops. Agents *look* around, 64 places at a time. Each unhappy agent has a Search, an object
/// at the same place. Searches *bid* for a free place anywhere: the Site there keeps the least lot (an atomic minimum).
/// Agents *move* if the lot there is theirs, and leave if their patience has run out. Newcomers *settle* at free
/// places. A loop reads values that earlier loops have written. In each loop, every location except the lots has a
/// single writer, so the result does not depend on the order of threads.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/neighbor_counts.h>
#include <app/object_simulation.h>
#include <app/on_grid.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace schelling::placed {
inline namespace DYNASOAR_APP_ALLOCATOR {

using app::NeighborCounts;
using app::NeighborSets;
using app::Word;
using dynasoar::Place;
using dynasoar::PlaceBlock;

class Red;
class Blue;
class Search;
class Site;
using AllocatorT = app::Allocator<Red, Blue, Search, Site>;

class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Agent);
};

class Red final : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Red);
};

class Blue final : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Blue);
};

/// An object at every place, with an agent or without.
class Site final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  using Lot = dynasoar::AtomicWord<std::uint64_t>;
  DYNASOAR_FIELDS(Site, (lot_, Lot));  // the least lot of the agents that bid, or kNobody

  __device__ Site() { forget_bids(); }

  __device__ void bid(std::uint64_t lot) { lot_->fetch_min(lot, dynasoar::Order::relaxed); }
  __device__ std::uint64_t least_lot() const { return lot_->load(dynasoar::Order::relaxed); }
  __device__ void forget_bids() { lot_->store(kNobody, dynasoar::Order::relaxed); }
};

/// The argument of the loops.
struct City {
  Rules rules;
  app::StepNumber step;

  __device__ static std::uint32_t number(Place place) {
    return static_cast<std::uint32_t>(dynasoar::lattice_of<Site>().number(place));
  }
  __device__ static Place place(std::uint32_t c) { return dynasoar::lattice_of<Site>().place_of_number(c); }

  __device__ std::uint8_t group(std::uint32_t c) const {
    return dynasoar::at<Red>(place(c)) != nullptr ? kRed : dynasoar::at<Blue>(place(c)) != nullptr ? kBlue : kVacant;
  }
  __device__ CellState state(std::uint32_t c) const;
};

/// The values of a Search, in one field. Few places have a Search, so the values in several fields would be far apart
/// in memory. If several ranks ran the model, the place would have to be a separate field, which they convert.
struct SearchState {
  Place wanted;         ///< for which the agent bids, and which it may then win; or no place
  std::uint64_t steps;  ///< for how many steps the agent has been unhappy
};

/// Belongs to an agent while it is unhappy, and is at the same place.
class Search final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Search, (state_, SearchState));

  __device__ Search() : state_(SearchState{Place(), 0}) {}

  __device__ std::uint32_t steps() const { return static_cast<std::uint32_t>(state_->steps); }

  /// Bids for a free place.
  __device__ void bid(City city) {
    const std::uint32_t here = City::number(dynasoar::place_of(this));
    const auto words = city.rules.search_words(here, city.step);
    Place found;
    for (std::uint32_t look = kLooks; look-- > 0;) {  // backwards, so that no read waits for another
      const Place there = City::place(city.rules.cell_of(words[look]));
      if (dynasoar::is_free<Agent>(there)) found = there;
    }
    state_ = SearchState{found, state_->steps + 1};
    if (found.exists()) dynasoar::at<Site>(found)->bid(lot_from(words[kLooks], here));
  }

  /// Whether the agent moves to the place that it has won, or leaves because its patience has run out.
  __device__ bool ends_here(City city) {
    const std::uint32_t here = City::number(dynasoar::place_of(this));
    const SearchState known = state_;
    if (known.wanted.exists()) {
      if (is_lot_of(dynasoar::at<Site>(known.wanted)->least_lot(), here)) return true;
      state_->wanted = Place();
    }
    return city.rules.gives_up(known.steps);
  }

  __device__ void move(City) {
    const Place here = dynasoar::place_of(this), won = state_->wanted;
    if (won.exists()) {
      dynasoar::at<Site>(won)->forget_bids();  // otherwise, a losing agent would win later
      dynasoar::for_each_at<Agent>(here, [&](Agent* agent) { dynasoar::move_to(agent, won); });
      dynasoar::move_to(this, won);
    } else {
      dynasoar::for_each_at<Agent>(here, [](Agent* agent) { dynasoar::destroy(agent); });
      dynasoar::destroy(this);
    }
  }
};

__device__ inline CellState City::state(std::uint32_t c) const {
  const Search* const search = dynasoar::at<Search>(place(c));
  return {group(c), search != nullptr ? search->steps() : 0};
}

/// The agents at 64 places look at their neighbours.
struct Look {
  Rules rules;

  __device__ void operator()(PlaceBlock block) const {
    const auto red = NeighborSets::of<Red>(block), blue = NeighborSets::of<Blue>(block);
    const NeighborCounts all(red | blue), own(NeighborSets::choose(dynasoar::where<Red>(block), red, blue));
    Word unhappy = 0;
    for (std::uint32_t n = 1; n <= app::kMostNeighbors; ++n)
      unhappy |= all.equal_to(n) & own.less_than(rules.enough(n));
    unhappy &= dynasoar::where<Agent>(block);
    dynasoar::destroy_where<Search>(block, ~unhappy);
    dynasoar::create_where<Search>(block, unhappy);
  }
};

/// The group of the agent that settles at a place, at the start or later, or kVacant.
struct InitialGroup {
  Rules rules;
  __device__ std::uint8_t operator()(Place place) const { return rules.initial_group(City::number(place)); }
};
struct Newcomer {
  City city;
  __device__ std::uint8_t operator()(Place place) const { return city.rules.newcomer(City::number(place), city.step); }
};

struct MoveIn {
  __device__ void operator()(Place place, std::uint8_t group) const {
    if (group == kRed) dynasoar::make_new_at<Red>(place);
    if (group == kBlue) dynasoar::make_new_at<Blue>(place);
  }
};

class Objects final : public app::OnGrid<app::ObjectSimulation<Objects, Simulation, AllocatorT>> {
 public:
  explicit Objects(const Parameters& parameters)
      : OnGrid(parameters, needed_bytes(parameters.cells()), "city", app::PhaseNames{"look", "move", "settle"}),
        rules_(Rules::of(parameters)),
        lattice_(handle(), {static_cast<std::size_t>(parameters.width), static_cast<std::size_t>(parameters.height)}) {
    lattice_.parallel_for_if(InitialGroup{rules_}, MoveIn{});
    synchronize();
  }

  void submit_step() override {
    count_step();
    const City city = view();
    lattice_.parallel_for_blocks(Look{rules_});
    handle().parallel_do<&Search::bid>(city);
    end_phase(0);
    handle().parallel_do_if<&Search::ends_here, &Search::move>(city);
    end_phase(1);
    if (rules_.newcomers > 0) lattice_.parallel_for_free_if<Red, Blue>(Newcomer{city}, MoveIn{});
    end_phase(2);
  }

  void record() override {
    handle().device_pointer();  // the kernel that counts sees the changes of the last loop
    count_cells(TakeCensus{rules_, view()});
  }

  std::vector<CellState> cells() override { return states_of(view()); }

  /// The agents, with the number of steps for which each has been unhappy.
  dynasoar::Columns read_columns() {
    dynasoar::Columns agents = handle().columns<Agent>();
    const std::vector<CellState> states = cells();
    std::vector<std::uint32_t> unhappy;
    for (const std::uint64_t c : agents["place"].as<std::uint64_t>()) unhappy.push_back(states[c].unhappy);
    agents.columns.push_back(dynasoar::make_column("unhappy", unhappy));
    return agents;
  }

  void paint_on(const app::Canvas& canvas) {
    handle().device_pointer();
    paint_cells_of(canvas, view());
  }

 private:
  /// A sufficient heap. Placed objects of a SoaAllocator are not in it.
  static std::size_t needed_bytes(std::uint32_t cells) {
    const std::size_t agents = cells + app::kSlotsInFlight;
    return AllocatorT::least_heap_bytes() + AllocatorT::heap_bytes_for<Red>(agents) +
           AllocatorT::heap_bytes_for<Search>(agents) + AllocatorT::heap_bytes_for<Site>(cells);
  }

  City view() const { return {rules_, now()}; }

  Rules rules_;
  dynasoar::Lattice<Red, Blue, Search, Site> lattice_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace schelling::placed
