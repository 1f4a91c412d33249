/// @file
/// The sequential reference: the model of README.md, written to be read. With the other implementations, it shares only
/// the interface, the network and the random number generator, so that tests can compare them with it.
///
/// Paths are lists of cells here, and cars claim every cell of their paths, not only the first cells of streets. So the
/// comparison tests the argument of README.md that claims on these cells are sufficient.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <app/reference.h>

#include "simulation.h"

namespace traffic {
namespace {

struct Vehicle {
  int speed = 0;
  int top_speed = 0;
};

class Reference final : public app::Reference<Simulation, Census> {
 public:
  Reference(const Parameters& parameters, const Network& network)
      : app::Reference<Simulation, Census>(parameters.seed),
        parameters_(parameters),
        network_(network),
        phases_(network.intersections.size()) {
    check_network(network);
    for (std::size_t street = 0; street < network_.streets.size(); ++street) {
      std::uint32_t& phases = phases_[network_.streets[street].to];
      phases = std::max(phases, network_.streets[street].phase + 1);
      first_.push_back(street_of_.size());
      street_of_.insert(street_of_.end(), network_.streets[street].cells, street);
    }
    leaves_.resize(street_of_.size());
    for (const Place& place : network_.destinations) leaves_[first_[place.street] + place.cell] = true;
    for (std::size_t street = 0; street < network_.streets.size(); ++street) {
      if (network_.streets[street].exits.empty()) leaves_[last_cell(street)] = true;
    }
    vehicles_.resize(street_of_.size());
    for (std::size_t cell = 0; cell < vehicles_.size(); ++cell) {
      if (!leaves_[cell]) vehicles_[cell] = perhaps_a_vehicle(0, cell, parameters_.density);
    }
  }

  void step() override {
    ++step_;
    for (const Place& place : network_.producers) {
      const std::size_t cell = first_[place.street] + place.cell;
      if (!vehicles_[cell]) vehicles_[cell] = perhaps_a_vehicle(1, cell, parameters_.production);
    }
    std::map<std::size_t, std::vector<std::size_t>> paths;  // by the cell where the car is
    for (std::size_t cell = 0; cell < vehicles_.size(); ++cell) {
      if (vehicles_[cell]) paths[cell] = path_from(cell);
    }
    cut_short(paths);
    for (const auto& [cell, path] : paths) move(cell, path);
  }

  std::vector<CellState> cells() override {
    std::vector<CellState> states;
    for (std::size_t cell = 0; cell < vehicles_.size(); ++cell) {
      CellState state;
      state.limit = static_cast<std::uint8_t>(limit_of(cell));
      if (const std::optional<Vehicle>& vehicle = vehicles_[cell]) {
        state.has_car = 1;
        state.speed = static_cast<std::uint8_t>(vehicle->speed);
        state.top_speed = static_cast<std::uint8_t>(vehicle->top_speed);
      }
      states.push_back(state);
    }
    return states;
  }

 private:
  Census census() const override {
    Census census;
    for (const std::optional<Vehicle>& vehicle : vehicles_) {
      if (!vehicle) continue;
      ++census.cars;
      if (vehicle->speed > 0) ++census.moving;
      census.speeds += static_cast<std::uint64_t>(vehicle->speed);
    }
    return census;
  }

  std::size_t last_cell(std::size_t street) const { return first_[street] + network_.streets[street].cells - 1; }

  // The last cell of a street that has exits.
  bool is_at_intersection(std::size_t cell) const {
    return cell == last_cell(street_of_[cell]) && !network_.streets[street_of_[cell]].exits.empty();
  }

  int limit_of(std::size_t cell) const {
    const Street& street = network_.streets[street_of_[cell]];
    const std::uint32_t green = network_.intersections[street.to].green;
    if (green == 0 || !is_at_intersection(cell)) return static_cast<int>(street.limit);
    const std::uint32_t phase = step_ == 0 ? 0 : (step_ - 1) / green % phases_[street.to];
    return phase == street.phase ? static_cast<int>(street.limit) : 0;
  }

  // The cells of the path of the car in `cell`, in order, without regard to the paths of other cars.
  std::vector<std::size_t> path_from(std::size_t cell) const {
    const std::array<std::uint32_t, 4> words = random_words(2, cell);
    const Vehicle& vehicle = *vehicles_[cell];
    std::size_t speed =
        static_cast<std::size_t>(std::min(vehicle.top_speed, vehicle.speed + 1 + (words[0] >= 0x80000000u ? 1 : 0)));
    std::vector<std::size_t> path;
    bool has_turned = false;
    while (path.size() < speed) {
      const std::size_t here = path.empty() ? cell : path.back();
      if (!path.empty() && leaves_[here]) break;
      std::size_t next = here + 1;
      if (is_at_intersection(here)) {
        if (has_turned) break;
        has_turned = true;
        const std::vector<std::uint32_t>& exits = network_.streets[street_of_[here]].exits;
        next = first_[exits[app::scaled(words[2], exits.size())]];
      }
      if (vehicles_[next]) break;
      const auto limit = static_cast<std::size_t>(limit_of(next));
      if (limit < speed) speed = std::max(limit, path.size());
      if (path.size() < speed) path.push_back(next);
    }
    if (!path.empty() && app::happens(words[1], parameters_.dawdling)) path.pop_back();
    return path;
  }

  // Each cell goes to the car with the fewest cells before it or, among equals, with the lowest number. The others stop
  // before it.
  static void cut_short(std::map<std::size_t, std::vector<std::size_t>>& paths) {
    using Claim = std::pair<std::size_t, std::size_t>;  // cells before it on the path, where the car is
    std::map<std::size_t, Claim> best;
    for (const auto& [cell, path] : paths) {
      for (std::size_t i = 0; i < path.size(); ++i) {
        const Claim claim = {i, cell};
        const auto [found, is_new] = best.try_emplace(path[i], claim);
        if (!is_new) found->second = std::min(found->second, claim);
      }
    }
    for (auto& [cell, path] : paths) {
      std::size_t won = 0;
      while (won < path.size() && best[path[won]] == Claim{won, cell}) ++won;
      path.resize(won);
    }
  }

  void move(std::size_t cell, const std::vector<std::size_t>& path) {
    Vehicle vehicle = *vehicles_[cell];
    vehicle.speed = static_cast<int>(path.size());
    vehicles_[cell].reset();
    const std::size_t target = path.empty() ? cell : path.back();
    if (leaves_[target]) return;
    if (vehicles_[target]) throw std::logic_error("two cars in one cell");
    vehicles_[target] = vehicle;
  }

  std::optional<Vehicle> perhaps_a_vehicle(std::uint32_t decision, std::size_t cell, double probability) const {
    const std::array<std::uint32_t, 4> words = random_words(decision, cell);
    if (!app::happens(words[0], probability)) return std::nullopt;
    return Vehicle{0, 5 + static_cast<int>(app::scaled(words[1], 5))};
  }

  Parameters parameters_;
  Network network_;
  std::vector<std::uint32_t> phases_;             // [intersections] of their lights
  std::vector<std::size_t> first_;                // [streets] number of the first cell
  std::vector<std::size_t> street_of_;            // [cells]
  std::vector<bool> leaves_;                      // [cells] cars that come here leave
  std::vector<std::optional<Vehicle>> vehicles_;  // [cells]
};

}  // namespace

std::unique_ptr<Simulation> make_reference(const Parameters& parameters, const Network& network) {
  return std::make_unique<Reference>(parameters, network);
}

}  // namespace traffic
