/// @file
/// The sequential reference: the model of README.md, written to be read. Every susceptible person reads all infected
/// ones. It shares only the interface with the other implementations, so that tests can compare them with it.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <dynasoar/identity.h>
#include <dynasoar/random.h>

#include "simulation.h"

namespace epidemic {
namespace {

class Reference final : public Simulation {
 public:
  explicit Reference(const Parameters& parameters) : parameters_(parameters), people_(parameters.initial) {}

  void step() override {
    ++step_;
    std::vector<PersonState> living;
    for (PersonState person : people_) {
      const auto words = dynasoar::random::words({parameters_.seed}, 1, person.number, step_);
      person.x = moved(person.x, words[0]);
      person.y = moved(person.y, words[1]);
      const double life = words[2];
      if (life < parameters_.deaths * kWords) continue;
      if (life < (parameters_.deaths + parameters_.births) * kWords) {
        const dynasoar::Identity child = dynasoar::child_identity(dynasoar::Identity{person.number}, step_);
        living.push_back({static_cast<std::uint64_t>(child), person.x, person.y, State::susceptible});
      }
      if (person.state == State::infected && words[3] < parameters_.recovery * kWords) {
        if (words[3] < parameters_.recovery * parameters_.fatality * kWords) continue;
        person.state = State::recovered;
      }
      living.push_back(person);
    }
    people_ = living;
    for (std::size_t i = 0; i < living.size(); ++i) {
      if (living[i].state == State::susceptible && is_infected(living[i], living)) people_[i].state = State::infected;
    }
  }

  void synchronize() override {}

  void record() override {
    Census census;
    for (const PersonState& person : people_) {
      census.susceptible += person.state == State::susceptible ? 1 : 0;
      census.infected += person.state == State::infected ? 1 : 0;
      census.recovered += person.state == State::recovered ? 1 : 0;
    }
    history_.push_back(census);
  }

  std::vector<Census> take_history() override {
    for (const Census& census : history_) check_room(census.people(), room_of(parameters_));
    return std::exchange(history_, {});
  }

  std::vector<PersonState> people() override {
    check_room(people_.size(), room_of(parameters_));
    std::vector<PersonState> sorted = people_;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return sorted;
  }

 private:
  static constexpr double kWords = 4294967296.0;

  bool is_infected(const PersonState& me, const std::vector<PersonState>& all) const {
    std::uint32_t contacts = 0;
    for (const PersonState& other : all) {
      if (other.state != State::infected) continue;
      const float dx = nearest(other.x - me.x);
      const float dy = nearest(other.y - me.y);
      const float xx = dx * dx;
      const float yy = dy * dy;
      if (xx + yy <= 1.0f) ++contacts;
    }
    for (std::uint32_t i = 0; i < contacts; ++i) {
      const auto words = dynasoar::random::words({parameters_.seed}, 2, me.number, step_, i / 4);
      if (words[i % 4] < parameters_.infection * kWords) return true;
    }
    return false;
  }

  float moved(float coordinate, std::uint32_t word) const {
    const float way = parameters_.stride * (2 * dynasoar::random::unit(word) - 1);
    coordinate += way;
    if (coordinate < 0) coordinate += parameters_.side;
    if (coordinate >= parameters_.side) coordinate -= parameters_.side;
    return coordinate;
  }

  // The shortest offset across the joined borders.
  float nearest(float offset) const {
    if (offset > parameters_.side / 2) return offset - parameters_.side;
    if (offset < -parameters_.side / 2) return offset + parameters_.side;
    return offset;
  }

  Parameters parameters_;
  std::vector<PersonState> people_;
  std::vector<Census> history_;
  std::uint32_t step_ = 0;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace epidemic
