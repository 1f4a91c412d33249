/// @file
/// The sequential reference: the model of README.md, written to be read. It shares only the interface and the random
/// number generator with the other implementations, so that tests can compare them with it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <app/reference.h>

#include "simulation.h"

namespace sugarscape {
namespace {

using Cell = std::size_t;
using Cells = std::vector<Cell>;

struct Agent {
  bool male;
  std::uint32_t vision;
  std::uint32_t max_age;
  std::uint32_t endowment;
  std::uint32_t metabolism;
  std::uint32_t max_children;
  std::uint32_t wealth;
  std::uint32_t age = 0;
  std::uint32_t children = 0;

  bool ready() const { return age >= 22 && 3 * wealth >= 2 * endowment; }
};

struct Place {
  std::uint32_t growth = 0;
  std::uint32_t sugar = 0;
  std::optional<Agent> agent;
};

class Reference final : public app::Reference<Simulation, Census> {
 public:
  explicit Reference(const Parameters& parameters)
      : app::Reference<sugarscape::Simulation, Census>(parameters.seed),
        width_(static_cast<std::int64_t>(parameters.width)),
        height_(static_cast<std::int64_t>(parameters.height)),
        places_(static_cast<Cell>(width_ * height_)) {
    const std::uint64_t males = app::words_of(parameters.males);
    const std::uint64_t females = app::words_of(parameters.females);
    for (Cell cell = 0; cell < places_.size(); ++cell) {
      places_[cell].growth = initial_growth(cell);
      const std::uint32_t word = random_words(1, cell)[0];
      if (word < males + females) places_[cell].agent = initial_agent(cell, word < males);
    }
  }

  void step() override {
    ++step_;
    grow();
    diffuse();
    live();
    move();
    harvest();
    mate();
  }

  std::vector<CellState> cells() override {
    std::vector<CellState> states;
    for (const Place& place : places_) states.push_back(state_of(place));
    return states;
  }

 private:
  Census census() const override {
    Census census;
    for (const Place& place : places_) {
      census.sugar += place.sugar;
      if (place.agent) ++(place.agent->male ? census.males : census.females);
    }
    return census;
  }

  // The cells that agents ask for, each with these agents, row by row.
  using Requests = std::map<Cell, Cells>;

  std::uint32_t initial_growth(Cell cell) const {
    const std::uint32_t word = random_words(0, cell)[0];
    if (word < 85899345) return 50;
    if (word < 171798691) return 25;
    if (word < 343597383) return 12;
    return 0;
  }

  Agent initial_agent(Cell cell, bool male) const {
    const std::array<std::uint32_t, 4> first = random_words(1, cell, 0);
    const std::array<std::uint32_t, 4> second = random_words(1, cell, 1);
    Agent agent{};
    agent.male = male;
    agent.vision = 1 + app::scaled(first[1], 2);
    agent.max_age = 66 + app::scaled(first[2], 33);
    agent.endowment = 50 + app::scaled(first[3], 150);
    agent.metabolism = 26 + app::scaled(second[0], 53);
    agent.max_children = male ? 0 : 2 + app::scaled(second[1], 6);
    agent.wealth = agent.endowment;
    return agent;
  }

  void grow() {
    for (Place& place : places_) place.sugar = std::min(place.sugar + place.growth, 3500u);
  }

  void diffuse() {
    std::vector<std::uint32_t> received(places_.size());
    for (Cell cell = 0; cell < places_.size(); ++cell) {
      const std::uint32_t given = std::min(places_[cell].sugar / 8, 60u);
      places_[cell].sugar -= given;
      for (const Cell neighbor : around(cell, 2)) received[neighbor] += given / 8;
    }
    for (Cell cell = 0; cell < places_.size(); ++cell) {
      places_[cell].sugar = std::min(places_[cell].sugar + received[cell], 3500u);
    }
  }

  void live() {
    for (Place& place : places_) {
      if (!place.agent) continue;
      Agent& agent = *place.agent;
      ++agent.age;
      if (agent.age > agent.max_age || agent.wealth <= agent.metabolism) {
        place.agent.reset();
      } else {
        agent.wealth -= agent.metabolism;
      }
    }
  }

  void move() {
    Requests requests;
    for (Cell cell = 0; cell < places_.size(); ++cell) {
      if (!places_[cell].agent) continue;
      const std::optional<Cell> wanted = drawn(best_free(cell), 2, cell);
      if (wanted) requests[*wanted].push_back(cell);
    }
    for (const auto& [cell, askers] : requests) {
      const Cell winner = *drawn(askers, 3, cell);
      places_[cell].agent = std::exchange(places_[winner].agent, std::nullopt);
    }
  }

  void harvest() {
    for (Place& place : places_) {
      if (place.agent) place.agent->wealth += std::exchange(place.sugar, 0);
    }
  }

  void mate() {
    const std::map<Cell, Cell> couples = accepted(proposals());  // males to females
    Requests requests;
    for (const auto& [male, female] : couples) {
      const std::optional<Cell> wanted = drawn(free_in_sight(male), 4, male);
      if (wanted) requests[*wanted].push_back(male);
    }
    for (const auto& [cell, fathers] : requests) {
      const Cell father = *drawn(fathers, 5, cell);
      give_birth(cell, *places_[father].agent, *places_[couples.at(father)].agent);
    }
  }

  // The females that males propose to, each with those males, row by row.
  Requests proposals() const {
    Requests suitors;
    for (Cell cell = 0; cell < places_.size(); ++cell) {
      const std::optional<Agent>& agent = places_[cell].agent;
      if (!agent || !agent->male || !agent->ready()) continue;
      std::optional<Cell> best;
      for (const Cell other : around(cell, agent->vision)) {
        const std::optional<Agent>& female = places_[other].agent;
        if (!female || female->male || !female->ready()) continue;
        if (!best || female->wealth > places_[*best].agent->wealth) best = other;
      }
      if (best) suitors[*best].push_back(cell);
    }
    return suitors;
  }

  std::map<Cell, Cell> accepted(const Requests& suitors) const {
    std::map<Cell, Cell> couples;
    for (const auto& [female, males] : suitors) {
      if (places_[female].agent->children >= places_[female].agent->max_children) continue;
      const Cell richest = *std::max_element(males.begin(), males.end(), [this](Cell a, Cell b) {
        return places_[a].agent->wealth < places_[b].agent->wealth;
      });
      couples[richest] = female;
    }
    return couples;
  }

  void give_birth(Cell cell, Agent& father, Agent& mother) {
    const std::array<std::uint32_t, 4> words = random_words(6, cell);
    Agent child{};
    child.male = app::scaled(words[0], 2) == 0;
    child.vision = (father.vision + mother.vision) / 2;
    child.max_age = (father.max_age + mother.max_age) / 2;
    child.endowment = (father.endowment + mother.endowment) / 2;
    child.metabolism = (father.metabolism + mother.metabolism) / 2;
    child.max_children = child.male ? 0 : 2 + app::scaled(words[1], 6);
    child.wealth = child.endowment;
    places_[cell].agent = child;
    father.wealth -= father.endowment / 2;
    mother.wealth -= mother.endowment / 2;
    ++mother.children;
  }

  // The cells within this distance, without the cell itself, row by row.
  Cells around(Cell cell, std::int64_t distance) const {
    const std::int64_t x = static_cast<std::int64_t>(cell) % width_;
    const std::int64_t y = static_cast<std::int64_t>(cell) / width_;
    Cells cells;
    for (std::int64_t j = std::max<std::int64_t>(y - distance, 0); j <= std::min(y + distance, height_ - 1); ++j) {
      for (std::int64_t i = std::max<std::int64_t>(x - distance, 0); i <= std::min(x + distance, width_ - 1); ++i) {
        if (i != x || j != y) cells.push_back(static_cast<Cell>(j * width_ + i));
      }
    }
    return cells;
  }

  Cells free_in_sight(Cell cell) const {
    Cells cells = around(cell, places_[cell].agent->vision);
    std::erase_if(cells, [this](Cell other) { return places_[other].agent.has_value(); });
    return cells;
  }

  Cells best_free(Cell cell) const {
    Cells cells = free_in_sight(cell);
    std::uint32_t most = 0;
    for (const Cell other : cells) most = std::max(most, places_[other].sugar);
    std::erase_if(cells, [this, most](Cell other) { return places_[other].sugar < most; });
    return cells;
  }

  // One of the cells, if there are any.
  std::optional<Cell> drawn(const Cells& cells, std::uint32_t decision, Cell cell) const {
    if (cells.empty()) return std::nullopt;
    return cells[app::scaled(random_words(decision, cell)[0], cells.size())];
  }

  static CellState state_of(const Place& place) {
    CellState state;
    state.sugar = static_cast<std::uint16_t>(place.sugar);
    state.growth = static_cast<std::uint8_t>(place.growth);
    if (!place.agent) return state;
    const Agent& agent = *place.agent;
    state.kind = agent.male ? 1 : 2;
    state.vision = static_cast<std::uint8_t>(agent.vision);
    state.max_age = static_cast<std::uint8_t>(agent.max_age);
    state.endowment = static_cast<std::uint8_t>(agent.endowment);
    state.metabolism = static_cast<std::uint8_t>(agent.metabolism);
    state.wealth = agent.wealth;
    state.age = static_cast<std::uint8_t>(agent.age);
    state.children = static_cast<std::uint8_t>(agent.children);
    state.max_children = static_cast<std::uint8_t>(agent.max_children);
    return state;
  }

  std::int64_t width_;
  std::int64_t height_;
  std::vector<Place> places_;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace sugarscape
