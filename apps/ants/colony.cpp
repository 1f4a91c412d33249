/// @file
/// The ants as objects in continuous space, on a ground of cells with two pheromones. The class of an ant says whether
/// it carries food. README.md defines the model.
///
/// In a step, ants walk and deposit, and ants at food bid for a portion. Then the ant with the lowest bid for each cell
/// takes a portion, and the pheromones diffuse. Ants read only what earlier loops wrote, and change other objects
/// only with atomic sums and minima. Therefore nothing depends on the order in which threads run.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/allocator.h>
#include <app/census_history.h>
#include <app/object_simulation.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/identity.h>
#include <dynasoar/lattice.h>
#include <dynasoar/obstacles.h>
#include <dynasoar/substance.h>

#include "colors.h"
#include "rules.h"
#include "simulation.h"

namespace ants::colony {
inline namespace DYNASOAR_APP_ALLOCATOR {

class Cell;
class Forager;
class Carrier;
using AllocatorT = app::Allocator<Cell, Forager, Carrier>;
using Identity = dynasoar::Identity;
constexpr auto kRelaxed = dynasoar::Order::relaxed;  // for sums and minima; the end of the loop publishes them

class Cell final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  using Bid = dynasoar::AtomicWord<std::uint64_t>;
  using Portions = dynasoar::AtomicWord<std::uint32_t>;
  DYNASOAR_FIELDS(Cell, (home_, float), (trail_, float), (food_, std::uint32_t), (stored_, Portions), (bid_, Bid));

  __device__ Cell() : home_(0.0f), trail_(0.0f), food_(0) {
    stored_->store(0, kRelaxed);
    bid_->store(kNoBid, kRelaxed);
  }

  __device__ bool has_food() const { return food_ > 0; }
  __device__ void bid(std::uint64_t bid) { bid_->fetch_min(bid, kRelaxed); }
  __device__ void store() { stored_->add(1, kRelaxed); }

  /// Gives away a portion if this bid is the lowest. @return whether it is
  __device__ bool gives_to(std::uint64_t bid) {
    if (bid_->load(kRelaxed) != bid) return false;
    bid_->store(kNoBid, kRelaxed);  // no ant that looks later has this bid
    food_ -= 1;
    return true;
  }

  __device__ std::uint32_t stored() const { return stored_->load(kRelaxed); }
  __device__ CellState state() const { return {home_, trail_, food_, stored()}; }
};

using Home = dynasoar::Substance<&Cell::home_, Vector>;
using Trail = dynasoar::Substance<&Cell::trail_, Vector>;

/// The argument of the loops.
struct Ground {
  Rules rules;
  Walls walls;
  Home::View home;
  Trail::View trail;

  __device__ Cell* cell(Vector at) const { return dynasoar::at<Cell>(home.cell(at)); }
};

DYNASOAR_METHOD(Act, act);

class Ant : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Ant, (identity_, Identity), (position_, Vector), (heading_, Vector), (scent_, float),
                  (last_step_, std::uint32_t));

  __device__ Ant(Identity identity, Vector position, Vector heading, float scent, std::uint32_t last_step)
      : identity_(identity), position_(position), heading_(heading), scent_(scent), last_step_(last_step) {}
  __device__ Ant(std::size_t i, const AntState* states)
      : Ant(Identity{states[i].number}, {states[i].x, states[i].y}, {states[i].heading_x, states[i].heading_y},
            states[i].scent, states[i].last_step) {}

  __device__ std::uint64_t number() const { return static_cast<std::uint64_t>(identity_.get()); }
  __device__ Vector position() const { return position_; }
  __device__ AntState state(bool carries) const {
    const Vector at = position_, heading = heading_;
    return {number(), at.x, at.y, heading.x, heading.y, scent_, last_step_, carries};
  }

 protected:
  __device__ Ant() {}  // for `become`, which keeps the fields

  /// Follows one pheromone and deposits the other. @return whether the ant is alive
  /// @param followed   callable with a position; returns the strength of the scent there
  template <class Followed, class Left>
  __device__ bool walk(const Ground& ground, const Followed& followed, const Left& left, std::uint32_t step,
                       const Words& words) {
    if (step >= last_step_) {
      dynasoar::destroy(this);
      return false;
    }
    const Vector from = position_, ahead = heading_;
    const float scent = scent_;
    const Sensed sensed = ground.rules.sensed(from, ahead, followed);
    const Walk walk = ground.rules.walked(from, ground.rules.turned(ahead, sensed, words), ground.walls, words);
    position_ = walk.position;
    heading_ = walk.heading;
    left.deposit(walk.position, scent);
    scent_ = scent * ground.rules.keeping;
    return true;
  }

  /// Turns back, with a new scent.
  __device__ void turn_back() {
    heading_ = Vector{-heading_->x, -heading_->y};
    scent_ = 1.0f;
  }
};

class Forager final : public Ant {
 public:
  using BaseClass = Ant;
  DYNASOAR_FIELDS(Forager, (bid_, std::uint64_t));  // for food in its cell
  template <class... Args>
  __device__ explicit Forager(Args... args) : Ant(args...), bid_(kNoBid) {}

  __device__ void act(Ground ground, std::uint32_t step) {
    const Words words = ground.rules.words(number(), step);
    const auto scent = [&](Vector at) { return ground.trail.sample(at); };
    if (!walk(ground, scent, ground.home, step, words)) return;
    const Vector here = position_;
    Cell* const cell = ground.cell(here);
    std::uint64_t bid = kNoBid;
    if (ground.rules.is_in_nest(here)) {
      scent_ = 1.0f;
    } else if (cell->has_food()) {
      bid = ground.rules.bid(number(), step);
      cell->bid(bid);
    }
    bid_ = bid;
  }

  __device__ void take(Ground ground);
};

class Carrier final : public Ant {
 public:
  using BaseClass = Ant;
  DYNASOAR_FIELDS(Carrier);
  using Ant::Ant;
  __device__ Carrier() {}

  __device__ void act(Ground ground, std::uint32_t step) {
    const Words words = ground.rules.words(number(), step);
    const auto home = [&](Vector at) { return ground.home.sample(at); };
    const auto scent = [&](Vector at) { return ground.rules.way_home(at, home); };
    if (!walk(ground, scent, ground.trail, step, words)) return;
    const Vector here = position_;
    if (!ground.rules.is_in_nest(here)) return;
    if (ground.rules.has_birth(words)) {
      const Identity child = dynasoar::child_identity(identity_, step);
      dynasoar::make_new<Forager>(child, here, ground.rules.first_heading(static_cast<std::uint64_t>(child)), 1.0f,
                                  step + ground.rules.lifetime);
    } else {
      ground.cell(here)->store();
    }
    turn_back();
    dynasoar::become<Forager>(this);
  }
};

__device__ inline void Forager::take(Ground ground) {
  const std::uint64_t bid = bid_;
  if (bid == kNoBid || !ground.cell(position_)->gives_to(bid)) return;
  turn_back();
  dynasoar::become<Carrier>(this);
}

/// The cells are numbered row by row.
__device__ inline std::size_t number_of(const Cell* cell) {
  return dynasoar::lattice_of<Cell>().number(dynasoar::place_of(cell));
}

/// Not a lambda, because nvcc does not allow one in a constructor.
struct SetFood {
  const std::uint32_t* food;
  __device__ void operator()(Cell* cell) const { cell->food_ = food[number_of(cell)]; }
};

struct IsIn {
  Box gate;
  __device__ bool operator()(const Ant* ant) const { return is_in(gate, ant->position()); }
};

struct StoredIn {
  __device__ std::uint32_t operator()(const Cell* cell) const { return cell->stored(); }
};

class Objects final : public app::ObjectSimulation<Objects, Simulation, AllocatorT> {
 public:
  explicit Objects(const Parameters& parameters)
      : ObjectSimulation(parameters, needed_bytes(parameters), "ants", {"walk", "take", "diffuse"}),
        parameters_(parameters),
        rules_(Rules::of(parameters)),
        lattice_(made([&] {
          const std::size_t side = parameters.world.side;
          return dynasoar::Lattice<Cell>(handle(), {side, side}, {.periodic = {false, false}});
        })),
        home_(lattice_, space_of(parameters.world)),
        trail_(lattice_, space_of(parameters.world)),
        walls_(walls_of(parameters.world)) {
    namespace totals = dynasoar::totals;
    log().add<Forager>(totals::count("foragers"));
    log().add<Carrier>(totals::count("carriers"));
    log().add<Ant>(totals::count_if("first gate", IsIn{parameters.world.gates[0]}),
                   totals::count_if("second gate", IsIn{parameters.world.gates[1]}));
    log().add<Cell>(totals::sum<&Cell::food_>("food"), totals::sum<std::uint32_t>("stored", StoredIn{}));
    create<Forager>(parameters.initial, &AntState::carries, false);
    create<Carrier>(parameters.initial, &AntState::carries, true);
    dynasoar::DeviceArray<std::uint32_t> food(parameters.world.food.size());
    food.upload(parameters.world.food);
    handle().parallel_do<Cell>(SetFood{food.data()});
    synchronize();
    walls_.view();  // before the step is recorded
  }

  void submit_step() override {
    count_step();
    const Ground ground{rules_, walls_.view(), home_.view(), trail_.view()};
    handle().parallel_do<Ant>(Act{}, ground, now());
    end_phase(0);
    handle().parallel_do<&Forager::take>(ground);
    end_phase(1);
    const dynasoar::DiffusionOptions options{
        .diffusion = parameters_.diffusion, .decay = parameters_.evaporation, .step = 1};
    home_.diffuse(options);
    trail_.diffuse(options);
    end_phase(2);
  }

  std::vector<Census> take_history() override {
    std::vector<Census> history = app::censuses_of<Census>(take_rows());
    for (const Census& census : history) check_room(census.ants(), room_of(parameters_));
    return history;
  }

  State state() override {
    check_room(handle().count<Ant>(), room_of(parameters_));
    const std::size_t side = parameters_.world.side;
    const dynasoar::DeviceArray<CellState> cells(side * side);
    handle().parallel_do<Cell>(
        [states = cells.data()] __device__(Cell * cell) { states[number_of(cell)] = cell->state(); });
    return {states<Ant, AntState>([] __device__(Ant * ant) { return ant->state(dynasoar::is_a<Carrier>(ant)); }),
            cells.download()};
  }

  app::SavedOptions saved_options() const {
    app::InputSum world;
    world.add(parameters_.world.side);
    for (const std::uint32_t food : parameters_.world.food) world.add(food);
    for (const Box& wall : parameters_.world.walls) world.add(wall.left, wall.top, wall.right, wall.bottom);
    app::InputSum initial;
    initial.add(parameters_.seed);  // also if there are no ants, whose numbers depend on it
    for (const AntState& ant : parameters_.initial) initial.add(ant.number, ant.x, ant.y, ant.carries, ant.last_step);
    return app::SavedOptions()
        .add("--ants", parameters_.initial.size())
        .add("--side", parameters_.world.side)
        .add("--scenario", world)
        .add("--sight", parameters_.sight)
        .add("--turn", parameters_.turn)
        .add("--wobble", parameters_.wobble)
        .add("--threshold", parameters_.threshold)
        .add("--fading", parameters_.fading)
        .add("--diffusion", parameters_.diffusion)
        .add("--evaporation", parameters_.evaporation)
        .add("--births", parameters_.births)
        .add("--lifetime", parameters_.lifetime)
        .add("--seed", initial);
  }

  dynasoar::Columns read_columns() { return handle().all_columns<Ant>(); }

  static constexpr app::Rgb kBackground = kGround;

  void paint_on(const app::Canvas& canvas) {
    const double radius = std::clamp(0.7 * canvas.viewport.scale, 0.5, 4.0);
    handle().parallel_do<Cell>([=] __device__(Cell * cell) {
      const auto at = dynasoar::lattice_of<Cell>().coordinates(dynasoar::place_of(cell));
      canvas.cell(at.x, at.y, color_of(cell->state()), 2);
    });
    handle().parallel_do<Ant>([=] __device__(Ant * ant) {
      const Vector at = ant->position();
      if (dynasoar::is_a<Carrier>(ant)) {
        canvas.dot(at.x, at.y, radius, kCarrier, 0);
      } else {
        canvas.dot(at.x, at.y, radius, kForager, 1);
      }
    });
  }

 private:
  static dynasoar::SubstanceOptions<Vector> space_of(const World& world) {
    const auto side = static_cast<float>(world.side);
    return {.lower = {0, 0}, .upper = {side, side}};
  }

  /// Enough for all ants that there is room for. Blocks of a class stay half empty when ants leave it, so each of the
  /// two classes may need blocks for all ants. In addition, each warp of a large GPU opens a block. With other
  /// allocators, cells are in the heap, too.
  static std::size_t needed_bytes(const Parameters& parameters) {
    const std::size_t cells = std::size_t{parameters.world.side} * parameters.world.side;
    return 2 * AllocatorT::heap_bytes_for<Forager>(static_cast<std::size_t>(room_of(parameters)) +
                                                   app::kSlotsInFlight) +
           AllocatorT::heap_bytes_for<Cell>(cells);
  }

  Parameters parameters_;
  Rules rules_;
  dynasoar::Lattice<Cell> lattice_;
  Home home_;
  Trail trail_;
  dynasoar::Obstacles<Vector> walls_;
};

std::unique_ptr<Simulation> make(const Parameters& parameters) {
  return std::make_unique<Objects>(parameters);
}

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace ants::colony
