/// @file
/// Schelling's model with agents as objects; the cells are plain arrays. The model itself is in README.md.
///
/// A step is three loops. Agents *look* around, and those who are unhappy ask for a vacant cell: of all who ask for
/// one, the cell keeps the least lot, an atomic minimum. Agents *move* if the lot there is theirs; those whose patience
/// is at an end leave. Cells *settle*: newcomers move into vacant ones. A loop reads what the loop before it wrote, and
/// every location but the lots has one writer in a loop, so nothing depends on the order in which threads run.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/cell_columns.h>
#include <app/census_history.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/program/saved_options.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace schelling::agents {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Red;
class Blue;
using AllocatorT = app::Allocator<Red, Blue>;

/// The cells, as the device sees them.
struct City {
  Rules rules;
  app::StepNumber step;
  std::uint8_t* groups;  ///< [cells] kVacant, kRed or kBlue: all that others need to see of an agent
  dynasoar::AtomicWord<std::uint64_t>* lots;  ///< [cells] the least lot of those who ask for it, or kNobody

  __device__ std::uint8_t group(std::uint32_t c) const { return groups[c]; }

  /// Makes the agent of a cell.
  __device__ void move_in(std::uint32_t c, std::uint8_t group) const;
};

/// What red and blue agents have in common: all but what they like.
class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Agent, (position_, std::uint32_t), (wanted_, std::uint32_t), (unhappy_, std::uint32_t));

  __device__ explicit Agent(std::uint32_t position) : position_(position), wanted_(kNothing), unhappy_(0) {}

  __device__ void move(City city) {
    const std::uint32_t from = position_;
    const std::uint32_t to = wanted_;
    if (to == kNothing) return;
    if (to != kWhatIsTaken && is_lot_of(city.lots[to].load(dynasoar::Order::relaxed), from)) {
      city.groups[to] = city.groups[from];
      city.groups[from] = kVacant;
      position_ = to;
      city.lots[to].store(kNobody, dynasoar::Order::relaxed);  // nor is it the lot of those who lost
    } else if (city.rules.gives_up(unhappy_)) {
      city.groups[from] = kVacant;
      dynasoar::destroy(this);
    }
  }

 protected:
  /// Is happy among neighbours of this group, or asks for another cell.
  __device__ void look_for(std::uint8_t group, const City& city) {
    const std::uint32_t c = position_;
    if (!city.rules.is_unhappy(city.rules.neighbours(city, c, group))) {
      wanted_ = kNothing;
      unhappy_ = 0;
      return;
    }
    const Wish wish = city.rules.wish(city, c, city.step);
    wanted_ = wish.cell;
    unhappy_ += 1;
    if (wish.cell != kWhatIsTaken) city.lots[wish.cell].fetch_min(wish.lot, dynasoar::Order::relaxed);
  }
};

class Red : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Red);
  using Agent::Agent;

  __device__ void look(City city) { look_for(kRed, city); }
};

class Blue : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Blue);
  using Agent::Agent;

  __device__ void look(City city) { look_for(kBlue, city); }
};

DYNASOAR_METHOD(Look, look);

__device__ inline void City::move_in(std::uint32_t c, std::uint8_t group) const {
  groups[c] = group;
  if (group == kRed) dynasoar::make_new<Red>(c);
  if (group == kBlue) dynasoar::make_new<Blue>(c);
}

/// Makes a cell's first agent.
struct Populate {
  City city;
  __device__ void operator()(std::size_t index) const {
    const auto c = static_cast<std::uint32_t>(index);
    city.move_in(c, city.rules.initial_group(c));
  }
};

/// If a cell is vacant, somebody may move in.
struct Settle {
  City city;
  __device__ void operator()(std::size_t index) const {
    const auto c = static_cast<std::uint32_t>(index);
    if (city.groups[c] != kVacant) return;
    const std::uint8_t newcomer = city.rules.newcomer(c, city.step);
    if (newcomer != kVacant) city.move_in(c, newcomer);
  }
};

class Objects final : public app::ObjectSimulation<Objects, Simulation, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectSimulation(parameters, needed_bytes(Rules::of(parameters).cells), "city", {"look", "move", "settle"}),
        parameters_(parameters),
        rules_(Rules::of(parameters)),
        groups_(rules_.cells),
        lots_(rules_.cells) {
    lots_.fill_bytes(0xFF);  // kNobody
    handle().parallel_for(rules_.cells, Populate{view()});
    synchronize();
  }

  void submit_step() override {
    count_step();
    const City city = view();
    dynasoar::Executor& executor = handle().executor();
    {
      const auto kept = handle().keep_lists();  // nobody comes or goes before they move
      handle().parallel_do<Agent>(Look{}, city);
      clock().end_phase(executor, 0);
      handle().parallel_do<Agent, &Agent::move>(city);
      clock().end_phase(executor, 1);
    }
    if (rules_.newcomers > 0) handle().parallel_for(rules_.cells, Settle{city});
    clock().end_phase(executor, 2);
  }

  void record() override { history_.record(handle().executor(), rules_.cells, TakeCensus{rules_, view()}); }

  std::vector<Census> take_history() override {
    synchronize();
    return history_.take(handle().executor());
  }

  std::vector<CellState> city() override {
    synchronize();
    dynasoar::DeviceArray<CellState> states(rules_.cells);
    states.fill_bytes(0);
    CellState* const out = states.data();
    const City city = view();
    handle().parallel_do<Agent>([=] __device__(Agent * agent) {
      const std::uint32_t c = agent->position_;
      out[c] = {city.group(c), agent->unhappy_};
    });
    synchronize();
    return states.download();
  }

  app::SavedOptions saved_options() const { return options_of(parameters_); }

  void add_arrays(dynasoar::CheckpointItems& items) const {
    items.add(dynasoar::array("groups", groups_));  // nobody asks between steps
  }

  dynasoar::Columns read_columns() {
    dynasoar::Columns agents = handle().columns<Agent>();
    app::add_cells(agents, "position_");
    return agents;
  }

  static constexpr app::Rgb kBackground = {0, 0, 0};

  void paint_on(const app::Canvas& canvas) {
    const City city = view();
    app::paint_cells(handle().executor(), canvas, {parameters_.width, parameters_.height}, kBackground,
                     [=] __device__(std::uint32_t c) { return color_of(city.group(c)); });
  }

 private:
  /// Enough for an agent in each cell, though half of the slots of their blocks may be free.
  static std::size_t needed_bytes(std::size_t cells) {
    return AllocatorT::heap_bytes_for<Red>(2 * cells + app::kSlotsInFlight);
  }

  City view() const { return {rules_, now(), groups_.data(), lots_.data()}; }

  Parameters parameters_;
  Rules rules_;
  dynasoar::DeviceArray<std::uint8_t> groups_;
  dynasoar::DeviceArray<dynasoar::AtomicWord<std::uint64_t>> lots_;
  app::CensusHistory<Census> history_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace schelling::agents
