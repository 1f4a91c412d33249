#include "network.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "rules.h"

namespace traffic {
namespace {

// Of a random network.
constexpr std::uint32_t kMostIncoming = 4;
constexpr std::uint32_t kMostOutgoing = 4;
constexpr double kCellsPerUnit = 200;
constexpr std::uint32_t kLeastLimit = 5;

std::uint64_t threshold(double fraction) {
  return static_cast<std::uint64_t>(fraction * 4294967296.0);
}

// The intersections where a street may still end, with the place of each in the list.
class OpenIntersections {
 public:
  explicit OpenIntersections(std::uint32_t count) : numbers_(count), places_(count), incoming_(count) {
    std::iota(numbers_.begin(), numbers_.end(), 0u);
    std::iota(places_.begin(), places_.end(), 0u);
  }

  // One of these intersections except `from`, by a random word; nothing if there is none.
  std::optional<std::uint32_t> draw_other_than(std::uint32_t from, std::uint32_t word) const {
    const bool is_listed = places_[from] != kNowhere;
    const auto others = static_cast<std::uint32_t>(numbers_.size()) - (is_listed ? 1 : 0);
    if (others == 0) return std::nullopt;
    const std::uint32_t place = below(word, others);
    return numbers_[is_listed && place >= places_[from] ? place + 1 : place];
  }

  // Adds a street that ends there. If the intersection is full, the last one in the list replaces it.
  void enter(std::uint32_t intersection) {
    if (++incoming_[intersection] < kMostIncoming) return;
    const std::uint32_t place = places_[intersection];
    numbers_[place] = numbers_.back();
    places_[numbers_[place]] = place;
    numbers_.pop_back();
    places_[intersection] = kNowhere;
  }

  // Streets that end there.
  std::uint32_t incoming(std::uint32_t intersection) const { return incoming_[intersection]; }

 private:
  static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> places_;
  std::vector<std::uint32_t> incoming_;
};

// Multiples of 2^-24: differences and sums of squares are exact.
Point random_point(std::uint32_t x, std::uint32_t y) {
  return {(x >> 8) * 0x1p-24, (y >> 8) * 0x1p-24};
}

std::uint32_t cells_between(Point a, Point b) {
  const double x = b.x - a.x;
  const double y = b.y - a.y;
  return std::max(1u, static_cast<std::uint32_t>(std::lround(kCellsPerUnit * std::sqrt(x * x + y * y))));
}

// Cars may turn into every street that begins where theirs ends.
void allow_all_turns(Network& network) {
  std::vector<std::vector<std::uint32_t>> beginning(network.intersections.size());
  for (std::uint32_t s = 0; s < network.streets.size(); ++s) beginning[network.streets[s].from].push_back(s);
  for (Street& street : network.streets) street.exits = beginning[street.to];
}

[[noreturn]] void refuse(const std::string& what, std::size_t number, const std::string& problem) {
  throw std::invalid_argument(what + " " + std::to_string(number) + " " + problem);
}

bool is_finite(Point p) {
  return std::isfinite(p.x) && std::isfinite(p.y);
}

void check_street(const Network& network, std::uint32_t number) {
  const Street& street = network.streets[number];
  const std::size_t intersections = network.intersections.size();
  if (street.from >= intersections || street.to >= intersections)
    refuse("street", number, "does not join intersections");
  if (street.cells < 1 || street.cells > kMostCells) {
    refuse("street", number, "has no cells, or too many: the most is " + std::to_string(kMostCells));
  }
  if (street.limit < 1 || street.limit > kMostSpeed) refuse("street", number, "has a limit that is not from 1 to 9");
  if (street.phase >= kMostPhases) refuse("street", number, "has a phase over 254");
  if (!std::all_of(street.bends.begin(), street.bends.end(), is_finite)) {
    refuse("street", number, "has a coordinate that is no number");
  }
  if (street.exits.size() > kMostExits) refuse("street", number, "has more than 8 exits");
}

void check_exits(const Network& network, std::uint32_t number) {
  const std::vector<std::uint32_t>& exits = network.streets[number].exits;
  for (std::size_t e = 0; e < exits.size(); ++e) {
    if (const auto problem = problem_of_exit(network, number, exits[e])) refuse("street", number, *problem);
    if (std::find(exits.begin(), exits.begin() + static_cast<std::ptrdiff_t>(e), exits[e]) !=
        exits.begin() + static_cast<std::ptrdiff_t>(e)) {
      refuse("street", number, "has the same exit twice");
    }
  }
}

void check_places(const Network& network, const std::string& what, const std::vector<Place>& places) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (const auto problem = problem_of_place(network, places[i])) refuse(what, i, *problem);
    if (i > 0 && !(places[i - 1] < places[i])) refuse(what, i, "is not behind the one before it");
  }
}

}  // namespace

std::size_t Network::cells() const {
  std::size_t count = 0;
  for (const Street& street : streets) count += street.cells;
  return count;
}

std::vector<std::uint32_t> Network::first_cells() const {
  std::vector<std::uint32_t> first;
  std::uint32_t next = 0;
  for (const Street& street : streets) {
    first.push_back(next);
    next += street.cells;
  }
  return first;
}

std::vector<std::uint32_t> Network::phases() const {
  std::vector<std::uint32_t> phases(intersections.size());
  for (const Street& street : streets) phases[street.to] = std::max(phases[street.to], street.phase + 1);
  return phases;
}

void place_sources(Network& network, const Sources& sources) {
  const std::uint64_t producers = threshold(sources.producers);
  const std::uint64_t both = producers + threshold(sources.destinations);
  std::uint32_t first = 0;
  for (std::uint32_t s = 0; s < network.streets.size(); ++s) {
    const std::uint32_t cells = network.streets[s].cells;
    for (std::uint32_t c = 0; c + 1 < cells; ++c) {
      const std::uint32_t word = dynasoar::random::words(Seed{sources.seed}, Decision::source, first + c, 0)[0];
      if (word < producers) {
        network.producers.push_back({s, c});
      } else if (word < both) {
        network.destinations.push_back({s, c});
      }
    }
    first += cells;
  }
}

Network random_network(std::uint32_t intersections, std::uint32_t green, const Sources& sources) {
  const Seed seed{sources.seed};
  Network network;
  std::vector<std::uint32_t> outgoing;
  for (std::uint32_t i = 0; i < intersections; ++i) {
    const auto word = dynasoar::random::words(seed, Decision::intersection, i, 0);
    network.intersections.push_back({random_point(word[0], word[1]), green});
    outgoing.push_back(1 + below(word[2], kMostOutgoing));
  }
  OpenIntersections open(intersections);
  std::uint64_t cells = 0;
  for (std::uint32_t from = 0; from < intersections; ++from) {
    for (std::uint32_t i = 0; i < outgoing[from]; ++i) {
      const auto word =
          dynasoar::random::words(seed, Decision::street, static_cast<std::uint32_t>(network.streets.size()), 0);
      const std::optional<std::uint32_t> to = open.draw_other_than(from, word[0]);
      if (!to) break;
      Street street;
      street.from = from;
      street.to = *to;
      street.cells = cells_between(network.intersections[from].at, network.intersections[*to].at);
      street.limit = kLeastLimit + below(word[1], kMostSpeed - kLeastLimit + 1);
      street.phase = open.incoming(*to);
      open.enter(*to);
      cells += street.cells;
      network.streets.push_back(std::move(street));
    }
  }
  if (cells >= kCellLimit) throw std::invalid_argument("the network would have more than 2^28 - 1 cells");
  allow_all_turns(network);
  place_sources(network, sources);
  return network;
}

std::optional<std::string> problem_of_exit(const Network& network, std::uint32_t street, std::uint32_t exit) {
  if (exit >= network.streets.size()) return "has an exit that is no street";
  if (network.streets[exit].from != network.streets[street].to) {
    return "has an exit, street " + std::to_string(exit) + ", that does not begin where it ends";
  }
  return std::nullopt;
}

std::optional<std::string> problem_of_place(const Network& network, Place place) {
  if (place.street >= network.streets.size()) return "is on no street";
  const std::uint32_t cells = network.streets[place.street].cells;
  if (place.cell >= cells) return "is beyond the end of its street of " + std::to_string(cells) + " cells";
  if (place.cell + 1 == cells) return "is on the last cell of its street, which is for the intersection";
  return std::nullopt;
}

void check_network(const Network& network) {
  for (std::size_t i = 0; i < network.intersections.size(); ++i) {
    const Intersection& intersection = network.intersections[i];
    if (!is_finite(intersection.at)) refuse("intersection", i, "has a coordinate that is no number");
    if (intersection.green > kMostGreen)
      refuse("intersection", i, "has a light that is green for too long: the most is " + std::to_string(kMostGreen));
  }
  const auto streets = static_cast<std::uint32_t>(network.streets.size());
  for (std::uint32_t s = 0; s < streets; ++s) check_street(network, s);
  if (network.cells() >= kCellLimit) throw std::invalid_argument("the network has more than 2^28 - 1 cells");
  for (std::uint32_t s = 0; s < streets; ++s) check_exits(network, s);
  check_places(network, "producer", network.producers);
  check_places(network, "destination", network.destinations);
  std::vector<Place> both;
  std::set_intersection(network.producers.begin(), network.producers.end(), network.destinations.begin(),
                        network.destinations.end(), std::back_inserter(both));
  if (both.empty()) return;
  throw std::invalid_argument("cell " + std::to_string(both[0].cell) + " of street " + std::to_string(both[0].street) +
                              " is a producer and a destination");
}

}  // namespace traffic
