/// @file
/// The sequential reference: the model of README.md, written to be read. It shares only the interface and the random
/// number generator with the other implementations, so that tests can compare them with it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <app/reference.h>

#include "simulation.h"

namespace schelling {
namespace {

using Cell = std::size_t;
using Words = std::array<std::uint32_t, 4>;

constexpr std::uint32_t kVacant = 0;

class Reference final : public app::Reference<Simulation, Census> {
 public:
  explicit Reference(const Parameters& parameters)
      : app::Reference<schelling::Simulation, Census>(parameters.seed),
        parameters_(parameters),
        width_(static_cast<Cell>(parameters.width)),
        height_(static_cast<Cell>(parameters.height)),
        city_(width_ * height_) {
    const std::uint64_t red = app::words_of(parameters.red);
    const std::uint64_t blue = app::words_of(parameters.blue);
    for (Cell cell = 0; cell < city_.size(); ++cell) {
      const std::uint32_t word = random_words(0, cell)[0];
      city_[cell].group = word < red ? 1 : word < red + blue ? 2 : kVacant;
    }
  }

  void step() override {
    ++step_;
    const std::vector<CellState> before = city_;
    std::map<Cell, std::map<std::uint32_t, Cell>> askers;  // of a cell: from where, by their lots
    std::vector<Cell> unhappy;
    for (Cell cell = 0; cell < city_.size(); ++cell) {
      if (before[cell].group == kVacant) continue;
      if (!is_unhappy(before, cell)) {
        city_[cell].unhappy = 0;
        continue;
      }
      ++city_[cell].unhappy;
      unhappy.push_back(cell);
      const Words words = random_words(1, cell);
      for (int look = 0; look < 3; ++look) {
        const auto there = static_cast<Cell>(app::scaled(words[look], city_.size()));
        if (before[there].group != kVacant) continue;
        askers[there].emplace(words[3], cell);  // among equal lots the first stays, because cells come in order
        break;
      }
    }
    std::vector<bool> has_moved(city_.size());
    for (const auto& [there, by_lot] : askers) {
      const Cell winner = by_lot.begin()->second;
      city_[there] = std::exchange(city_[winner], CellState{});
      has_moved[winner] = true;
    }
    for (const Cell cell : unhappy) {
      const bool gives_up = parameters_.patience > 0 && city_[cell].unhappy >= parameters_.patience;
      if (!has_moved[cell] && gives_up) city_[cell] = CellState{};
    }
    for (Cell cell = 0; cell < city_.size(); ++cell) {
      if (city_[cell].group != kVacant) continue;
      const Words words = random_words(2, cell);
      if (app::happens(words[0], parameters_.newcomers)) city_[cell].group = words[1] < 0x80000000u ? 1 : 2;
    }
  }

  std::vector<CellState> cells() override { return city_; }

 private:
  Census census() const override {
    Census census;
    for (Cell cell = 0; cell < city_.size(); ++cell) {
      if (city_[cell].group == kVacant) continue;
      ++(city_[cell].group == 1 ? census.red : census.blue);
      const auto [own, all] = neighbours(city_, cell);
      if (is_unhappy(city_, cell)) ++census.unhappy;
      census.own += own;
      census.neighbours += all;
    }
    return census;
  }

  // The number of an agent's neighbours of its group, and of all.
  std::pair<std::uint64_t, std::uint64_t> neighbours(const std::vector<CellState>& city, Cell cell) const {
    std::uint64_t own = 0;
    std::uint64_t all = 0;
    for (const Cell down : {height_ - 1, Cell{0}, Cell{1}}) {
      for (const Cell across : {width_ - 1, Cell{0}, Cell{1}}) {
        const Cell x = (cell % width_ + across) % width_;
        const Cell y = (cell / width_ + down) % height_;
        const CellState& other = city[y * width_ + x];
        own += other.group == city[cell].group;
        all += other.group != kVacant;
      }
    }
    return {own - 1, all - 1};  // without the agent itself, in the middle
  }

  bool is_unhappy(const std::vector<CellState>& city, Cell cell) const {
    const auto [own, all] = neighbours(city, cell);
    return (own << 32) < app::words_of(parameters_.similar) * all;
  }

  Parameters parameters_;
  Cell width_;
  Cell height_;
  std::vector<CellState> city_;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace schelling
