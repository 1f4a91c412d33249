#include "network.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include <dynasoar/random.h>

#include "rules.h"

namespace structure {
namespace {

// A random network fills this square.
constexpr double kLowest = 0.35;
constexpr double kWidth = 0.3;

constexpr double kLeastFactor = 3;
constexpr double kFactorRange = 2;

using dynasoar::random::Seed;

// The purpose of a random number. It is part of the key, so no two decisions share random numbers.
enum class Decision : std::uint32_t {
  node = 0,      ///< kind and position of a node
  velocity = 1,  ///< of a pulled anchor
  ends = 2,      ///< which nodes a spring joins
  factor = 3,    ///< of a spring
};

double unit_real(std::uint32_t word) {
  return dynasoar::random::unit(word);
}

// The entries of a list from which numbers are drawn until none is left.
class Candidates {
 public:
  explicit Candidates(std::uint32_t count) : numbers_(count) { std::iota(numbers_.begin(), numbers_.end(), 0u); }

  std::uint32_t size() const { return static_cast<std::uint32_t>(numbers_.size()); }
  std::uint32_t operator[](std::uint32_t place) const { return numbers_[place]; }

  // The last entry replaces the removed one.
  void remove(std::uint32_t place) {
    numbers_[place] = numbers_.back();
    numbers_.pop_back();
  }

 private:
  std::vector<std::uint32_t> numbers_;
};

NodeState random_node(const RandomNetwork& options, std::uint32_t number) {
  const auto threshold = [](double fraction) { return static_cast<std::uint64_t>(fraction * 4294967296.0); };
  const Seed seed{options.seed};
  const auto word = dynasoar::random::words(seed, Decision::node, number, 0);
  NodeState node;
  node.kind = Kind::anchor;
  if (word[0] < threshold(options.free) + threshold(options.pulled)) node.kind = Kind::pulled;
  if (word[0] < threshold(options.free)) node.kind = Kind::free;
  node.position = {static_cast<float>(kLowest + kWidth * unit_real(word[1])),
                   static_cast<float>(kLowest + kWidth * unit_real(word[2]))};
  if (node.kind == Kind::pulled) {
    const auto speed = dynasoar::random::words(seed, Decision::velocity, number, 0);
    node.velocity = {static_cast<float>(options.pull_speed * (2 * unit_real(speed[0]) - 1)),
                     static_cast<float>(options.pull_speed * (2 * unit_real(speed[1]) - 1))};
  }
  return node;
}

SpringState make_spring(const Network& network, std::uint64_t seed, std::uint32_t first, std::uint32_t second) {
  const auto number = static_cast<std::uint32_t>(network.springs.size());
  const auto word = dynasoar::random::words(Seed{seed}, Decision::factor, number, 0);
  SpringState spring;
  spring.first = first;
  spring.second = second;
  spring.factor = static_cast<float>(kLeastFactor + kFactorRange * unit_real(word[0]));
  spring.rest_length = length(network.nodes[second].position - network.nodes[first].position);
  return spring;
}

[[noreturn]] void refuse(const std::string& what, std::size_t number, const std::string& problem) {
  throw std::invalid_argument(what + " " + std::to_string(number) + " " + problem);
}

// Whatever the locale.
std::string text_of(float value) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 6).ptr};
}

bool is_finite(Vector v) {
  return std::isfinite(v.x) && std::isfinite(v.y);
}

}  // namespace

Network random_network(const RandomNetwork& options) {
  Network network;
  const auto nodes = static_cast<std::uint32_t>(options.nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) network.nodes.push_back(random_node(options, n));

  const auto springs = static_cast<std::uint32_t>(options.springs_per_node * static_cast<double>(nodes));
  Candidates candidates(nodes);
  std::vector<std::uint8_t> degrees(nodes);
  while (network.springs.size() < springs && candidates.size() >= 2) {
    const auto number = static_cast<std::uint32_t>(network.springs.size());
    const auto word = dynasoar::random::words(Seed{options.seed}, Decision::ends, number, 0);
    const std::uint32_t i = dynasoar::random::below(word[0], candidates.size());
    std::uint32_t j = dynasoar::random::below(word[1], candidates.size() - 1);
    if (j >= i) ++j;
    network.springs.push_back(make_spring(network, options.seed, candidates[i], candidates[j]));
    for (const std::uint32_t place : {std::max(i, j), std::min(i, j)}) {  // the last one cannot move into the other
      if (++degrees[candidates[place]] == kRandomSprings) candidates.remove(place);
    }
  }
  return network;
}

Network mesh_network(const Mesh& mesh, const MeshSetup& setup) {
  Network network;
  if (mesh.points.empty()) return network;
  const auto less = [](const Mesh::Point& a, const Mesh::Point& b) { return a.x < b.x; };
  const auto [left, right] = std::minmax_element(mesh.points.begin(), mesh.points.end(), less);
  const double width = static_cast<double>(right->x) - static_cast<double>(left->x);
  for (const Mesh::Point& point : mesh.points) {
    NodeState node;
    node.kind = Kind::free;
    node.position = {point.x, point.y};
    if (point.x >= right->x - setup.pull_right * width) {
      node.kind = Kind::pulled;
      node.velocity = {static_cast<float>(setup.pull_speed), 0};
    }
    if (point.x <= left->x + setup.anchor_left * width) {
      node.kind = Kind::anchor;
      node.velocity = {};
    }
    network.nodes.push_back(node);
  }
  for (const auto& [first, second] : mesh.edges) {
    network.springs.push_back(make_spring(network, setup.seed, first, second));
  }
  return network;
}

Slots assign_slots(const Network& network) {
  check_network(network);
  Slots slots;
  slots.used.resize(network.nodes.size());
  for (const SpringState& spring : network.springs) {
    slots.springs.push_back({spring, slots.used[spring.first], slots.used[spring.second]});
    if (!spring.exists) continue;
    ++slots.used[spring.first];
    ++slots.used[spring.second];
  }
  for (const std::uint8_t used : slots.used) slots.most = std::max<std::uint32_t>(slots.most, used);
  return slots;
}

void check_network(const Network& network) {
  for (std::size_t n = 0; n < network.nodes.size(); ++n) {
    const NodeState& node = network.nodes[n];
    if (!is_finite(node.position) || !is_finite(node.velocity)) refuse("node", n, "has a coordinate that is no number");
    if (node.kind == Kind::anchor && !(node.velocity == Vector{}))
      refuse("node", n, "is an anchor, but has a velocity");
  }
  std::vector<std::uint32_t> degrees(network.nodes.size());
  for (std::size_t s = 0; s < network.springs.size(); ++s) {
    const SpringState& spring = network.springs[s];
    if (spring.first >= degrees.size() || spring.second >= degrees.size() || spring.first == spring.second) {
      refuse("spring", s, "does not join two nodes");
    }
    if (!spring.exists) continue;
    if (!(spring.factor >= 0) || !(spring.rest_length >= 0)) refuse("spring", s, "has a factor or rest length below 0");
    if (std::isinf(spring.factor) || std::isinf(spring.rest_length)) {
      refuse("spring", s, "has an infinite factor or rest length");
    }
    for (const std::uint32_t end : {spring.first, spring.second}) {
      if (network.nodes[end].kind == Kind::gone) refuse("spring", s, "is at a node that is gone");
      if (++degrees[end] > kSpringSlots) {
        const Vector at = network.nodes[end].position;
        refuse("node", end,
               "at (" + text_of(at.x) + ", " + text_of(at.y) + ") has more than " + std::to_string(kSpringSlots) +
                   " springs");
      }
    }
  }
}

}  // namespace structure
