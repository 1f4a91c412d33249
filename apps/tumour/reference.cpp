/// @file
/// The sequential reference: the model of README.md as readable code, in which every cell reads all others. It shares
/// only the interface and the random numbers with the other implementations, so that tests can compare them with it.

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

namespace tumour {
namespace {

class Reference final : public Simulation {
 public:
  explicit Reference(const Parameters& parameters)
      : parameters_(parameters),
        cells_(parameters.initial),
        oxygen_(places(), 1.0f),
        vessels_(places(), true),
        uptake_(places(), 0) {}

  void step() override {
    ++step_;
    const std::vector<CellState> before = cells_;
    cells_.clear();
    for (CellState cell : before) {
      push(cell, before);
      if (lives(cell)) cells_.push_back(cell);
    }
    supply();
    diffuse(true);
    diffuse(false);
  }

  void synchronize() override {}

  void record() override {
    Census census;
    for (const CellState& cell : cells_) {
      census.proliferating += cell.state == State::proliferating ? 1 : 0;
      census.hypoxic += cell.state == State::hypoxic ? 1 : 0;
      census.necrotic += cell.state == State::necrotic ? 1 : 0;
      const float distance = std::sqrt(cell.x * cell.x + cell.y * cell.y + cell.z * cell.z);
      census.radius = std::max(census.radius, distance + cell.radius);
    }
    census.oxygen = *std::min_element(oxygen_.begin(), oxygen_.end());
    history_.push_back(census);
  }

  std::vector<Census> take_history() override {
    for (const Census& census : history_) check_room(census.cells(), room_of(parameters_));
    return std::exchange(history_, {});
  }

  std::vector<CellState> cells() override {
    check_room(cells_.size(), room_of(parameters_));
    std::vector<CellState> sorted = cells_;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return sorted;
  }

  std::vector<float> oxygen() override { return oxygen_; }

 private:
  static constexpr double kWords = 4294967296.0;
  static constexpr float kUnitsOfLength = 1048576;
  static constexpr double kUnitsOfOxygen = 4294967296.0;

  std::size_t places() const {
    const auto side = static_cast<std::size_t>(parameters_.world);
    return side * side * side;
  }

  /// Moves a cell away from the cells that it overlaps.
  void push(CellState& me, const std::vector<CellState>& all) const {
    const auto mobility = static_cast<float>(parameters_.mobility);
    std::int64_t x = 0, y = 0, z = 0;
    for (const CellState& other : all) {
      const float dx = other.x - me.x;
      const float dy = other.y - me.y;
      const float dz = other.z - me.z;
      const float xx = dx * dx;
      const float yy = dy * dy;
      const float zz = dz * dz;
      const float distance = std::sqrt(xx + yy + zz);
      const float overlap = me.radius + other.radius - distance;
      if (distance == 0 || overlap <= 0) continue;
      const float share = mobility * overlap;
      const float units = kUnitsOfLength * share / distance;
      x -= static_cast<std::int64_t>(units * dx);
      y -= static_cast<std::int64_t>(units * dy);
      z -= static_cast<std::int64_t>(units * dz);
    }
    me.x += static_cast<float>(x) / kUnitsOfLength;
    me.y += static_cast<float>(y) / kUnitsOfLength;
    me.z += static_cast<float>(z) / kUnitsOfLength;
  }

  /// Lets a cell live for a step. @return whether it still exists
  bool lives(CellState& cell) {
    if (cell.state == State::necrotic) {
      cell.radius -= static_cast<float>(parameters_.shrinking);
      return cell.radius >= kLeastRadius;
    }
    const float oxygen = breathe(cell);
    const double word = dynasoar::random::words({parameters_.seed}, 1, cell.number, step_)[0];
    const bool has_enough = oxygen >= static_cast<float>(parameters_.hypoxia);
    if (cell.state == State::hypoxic) {
      if (has_enough) {
        cell.state = State::proliferating;
      } else if (oxygen < static_cast<float>(parameters_.necrosis) && word < parameters_.death * kWords) {
        cell.state = State::necrotic;
      }
    } else if (!has_enough) {
      cell.state = State::hypoxic;
    } else {
      cell.radius = std::min(cell.radius + static_cast<float>(parameters_.growth), kFullRadius);
      if (cell.radius == kFullRadius && word < parameters_.division * kWords) divide(cell);
    }
    return true;
  }

  void divide(CellState& mother) {
    std::uint32_t draw = 0;
    float a = 0, b = 0, square = 0;
    do {  // each draw has two pairs of words
      const auto words = dynasoar::random::words({parameters_.seed}, 2, mother.number, step_, draw / 2);
      a = 2 * dynasoar::random::unit(words[draw % 2 * 2]) - 1;
      b = 2 * dynasoar::random::unit(words[draw % 2 * 2 + 1]) - 1;
      const float aa = a * a;
      const float bb = b * b;
      square = aa + bb;
      ++draw;
    } while (square >= 1);
    const float half = kDaughterRadius / 2;
    const float root = 2 * std::sqrt(1 - square);
    const float x = half * (root * a);
    const float y = half * (root * b);
    const float z = half * (1 - 2 * square);
    const dynasoar::Identity number = dynasoar::child_identity(dynasoar::Identity{mother.number}, step_);
    cells_.push_back({static_cast<std::uint64_t>(number), mother.x + x, mother.y + y, mother.z + z, kDaughterRadius});
    mother.x -= x;
    mother.y -= y;
    mother.z -= z;
    mother.radius = kDaughterRadius;
  }

  /// A coordinate in widths of a place, from the lower end of the lattice.
  float along(float coordinate) const {
    const auto side = static_cast<float>(parameters_.world);
    return std::min(std::max((coordinate + side * kSpacing / 2) / kSpacing, 0.0f), side);
  }

  /// The oxygen of a place or, beyond the lattice, of the border.
  float oxygen_at(const std::vector<float>& oxygen, int x, int y, int z) const {
    const int side = parameters_.world;
    for (const int i : {x, y, z}) {
      if (i < 0 || i >= side) return 1;
    }
    return oxygen[place(x, y, z)];
  }

  std::size_t place(int x, int y, int z) const {
    const auto side = static_cast<std::size_t>(parameters_.world);
    return (static_cast<std::size_t>(z) * side + static_cast<std::size_t>(y)) * side + static_cast<std::size_t>(x);
  }

  float breathe(const CellState& cell) {
    const float at[] = {along(cell.x), along(cell.y), along(cell.z)};
    int first[3], own[3];
    float share[3];
    for (int a = 0; a < 3; ++a) {
      own[a] = std::min(static_cast<int>(at[a]), parameters_.world - 1);
      first[a] = static_cast<int>(std::floor(at[a] - 0.5f));
      share[a] = at[a] - 0.5f - std::floor(at[a] - 0.5f);
    }
    const auto between = [](float low, float high, float share) {
      const float way = share * (high - low);
      return low + way;
    };
    float layers[2];
    for (int z = 0; z < 2; ++z) {
      float rows[2];
      for (int y = 0; y < 2; ++y) {
        const auto oxygen = [&](int x) { return oxygen_at(oxygen_, first[0] + x, first[1] + y, first[2] + z); };
        rows[y] = between(oxygen(0), oxygen(1), share[0]);
      }
      layers[z] = between(rows[0], rows[1], share[1]);
    }
    const float found = between(layers[0], layers[1], share[2]);
    const float taken = static_cast<float>(parameters_.uptake) * found;
    uptake_[place(own[0], own[1], own[2])] -= std::llround(double{taken} * kUnitsOfOxygen);
    return found;
  }

  void supply() {
    const auto rate = static_cast<float>(parameters_.supply);
    for (std::size_t i = 0; i < oxygen_.size(); ++i) {
      if (oxygen_[i] < static_cast<float>(parameters_.hypoxia)) vessels_[i] = false;
      const float added = rate * (1 - oxygen_[i]);
      if (vessels_[i]) oxygen_[i] += added;
    }
  }

  /// Half a step of diffusion. @param is_first   whether it is the first half, which subtracts the uptake
  void diffuse(bool is_first) {
    const std::vector<float> before = oxygen_;
    const auto rate = static_cast<float>(parameters_.diffusion / 2 / (kSpacing * kSpacing));
    const int side = parameters_.world;
    for (int z = 0; z < side; ++z) {
      for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
          const float here = before[place(x, y, z)];
          const auto flow = [&](int dx, int dy, int dz) {
            const float inward =
                (oxygen_at(before, x - dx, y - dy, z - dz) - here) + (oxygen_at(before, x + dx, y + dy, z + dz) - here);
            return rate * inward;
          };
          const float flows = flow(1, 0, 0) + flow(0, 1, 0) + flow(0, 0, 1);
          float after = here + flows;
          if (is_first) {
            std::int64_t& units = uptake_[place(x, y, z)];
            after += static_cast<float>(static_cast<double>(units) / kUnitsOfOxygen / (kSpacing * kSpacing * kSpacing));
            units = 0;
          }
          oxygen_[place(x, y, z)] = after;
        }
      }
    }
  }

  Parameters parameters_;
  std::vector<CellState> cells_;
  std::vector<float> oxygen_;
  std::vector<bool> vessels_;
  std::vector<std::int64_t> uptake_;  // in units, since the last step
  std::vector<Census> history_;
  std::uint32_t step_ = 0;
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters) {
  return std::make_unique<Reference>(parameters);
}

}  // namespace tumour
