/// @file
/// The sequential reference: the model of README.md, written to be read. It shares only the interface and the random
/// number generator with the other implementations, so that tests can compare them with it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <app/reference.h>

#include "simulation.h"

namespace wa_tor {
namespace {

enum class Kind : std::uint8_t { free = 0, fish = 1, shark = 2 };

using Cell = std::size_t;

class Reference final : public app::Reference<Simulation, Population> {
 public:
  explicit Reference(const Parameters& parameters)
      : app::Reference<Simulation, Population>(parameters.seed),
        width_(static_cast<Cell>(parameters.width)),
        height_(static_cast<Cell>(parameters.height)),
        ocean_(width_ * height_) {
    for (Cell cell = 0; cell < ocean_.size(); ++cell) {
      const std::array<std::uint32_t, 4> words = random_words(0, cell);
      const std::uint32_t age = app::scaled(words[1], 4);
      if (app::happens(words[0], parameters.fish)) {
        ocean_[cell] = fish(age);
      } else if (words[0] < app::words_of(parameters.fish) + app::words_of(parameters.sharks)) {
        ocean_[cell] = shark(age, 2);
      }
    }
  }

  void step() override {
    ++step_;
    fish_half();
    shark_half();
  }

  std::vector<CellState> cells() override { return ocean_; }

 private:
  Population census() const override {
    Population population;
    for (const CellState& cell : ocean_) {
      if (is(cell, Kind::fish)) ++population.fish;
      if (is(cell, Kind::shark)) ++population.sharks;
    }
    return population;
  }

  // For every agent that asks for a cell, the direction it asks for.
  using Requests = std::vector<std::optional<int>>;

  void fish_half() {
    Requests requests(ocean_.size());
    for (Cell cell = 0; cell < ocean_.size(); ++cell) {
      if (!is(ocean_[cell], Kind::fish)) continue;
      ++ocean_[cell].age;
      requests[cell] = drawn(directions_to(Kind::free, cell), 1, cell);
    }
    const std::vector<CellState> before = ocean_;
    for (Cell cell = 0; cell < ocean_.size(); ++cell) {
      if (!is(before[cell], Kind::free)) continue;
      const std::optional<int> winner = drawn(askers(requests, cell), 2, cell);
      if (!winner) continue;
      const Cell origin = neighbor(cell, *winner);
      ocean_[cell] = before[origin];
      ocean_[origin] = CellState{};
      if (ocean_[cell].age > 4) {
        ocean_[cell].age = 0;
        ocean_[origin] = fish(random_integer(3, origin, 4));
      }
    }
  }

  void shark_half() {
    Requests requests(ocean_.size());
    std::vector<Cell> dead;
    for (Cell cell = 0; cell < ocean_.size(); ++cell) {
      if (!is(ocean_[cell], Kind::shark)) continue;
      ++ocean_[cell].age;
      --ocean_[cell].energy;
      if (ocean_[cell].energy == 0) {
        dead.push_back(cell);
        continue;
      }
      std::vector<int> candidates = directions_to(Kind::fish, cell);
      if (candidates.empty()) candidates = directions_to(Kind::free, cell);
      requests[cell] = drawn(candidates, 4, cell);
    }
    const std::vector<CellState> before = ocean_;
    for (Cell cell = 0; cell < ocean_.size(); ++cell) {
      if (is(before[cell], Kind::shark)) continue;
      const std::optional<int> winner = drawn(askers(requests, cell), 5, cell);
      if (!winner) continue;
      const Cell origin = neighbor(cell, *winner);
      ocean_[cell] = before[origin];
      if (is(before[cell], Kind::fish)) ocean_[cell].energy += 4;
      ocean_[origin] = CellState{};
      if (ocean_[cell].age > 4) {
        ocean_[cell].age = 0;
        ocean_[origin] = shark(random_integer(6, origin, 4), 2);
      }
    }
    for (const Cell cell : dead) ocean_[cell] = CellState{};
  }

  // Directions from `cell` to neighbours of this kind.
  std::vector<int> directions_to(Kind kind, Cell cell) const {
    std::vector<int> directions;
    for (int direction = 0; direction < 4; ++direction) {
      if (is(ocean_[neighbor(cell, direction)], kind)) directions.push_back(direction);
    }
    return directions;
  }

  // Directions from `cell` to neighbours that ask for it.
  std::vector<int> askers(const Requests& requests, Cell cell) const {
    std::vector<int> directions;
    for (int direction = 0; direction < 4; ++direction) {
      if (requests[neighbor(cell, direction)] == (direction + 2) % 4) directions.push_back(direction);
    }
    return directions;
  }

  Cell neighbor(Cell cell, int direction) const {
    const Cell x = cell % width_;
    const Cell y = cell / width_;
    switch (direction) {
      case 0: return y * width_ + (x + width_ - 1) % width_;
      case 1: return (y + height_ - 1) % height_ * width_ + x;
      case 2: return y * width_ + (x + 1) % width_;
      default: return (y + 1) % height_ * width_ + x;
    }
  }

  // One of the directions, if there are any.
  std::optional<int> drawn(const std::vector<int>& directions, std::uint32_t decision, Cell cell) const {
    if (directions.empty()) return std::nullopt;
    return directions[random_integer(decision, cell, static_cast<std::uint32_t>(directions.size()))];
  }

  std::uint32_t random_integer(std::uint32_t decision, Cell cell, std::uint32_t n) const {
    return app::scaled(random_words(decision, cell)[0], n);
  }

  static bool is(const CellState& cell, Kind kind) { return cell.kind == static_cast<std::uint8_t>(kind); }
  static CellState fish(std::uint32_t age) { return {static_cast<std::uint8_t>(Kind::fish), age, 0}; }
  static CellState shark(std::uint32_t age, std::uint32_t energy) {
    return {static_cast<std::uint8_t>(Kind::shark), age, energy};
  }

  Cell width_;
  Cell height_;
  std::vector<CellState> ocean_;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace wa_tor
