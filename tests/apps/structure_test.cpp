/// @file
/// The model "structure": all implementations compute the same bits, those that apps/structure/README.md defines; each
/// step agrees with the reference in double precision; and whole runs obey the model's laws.

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "model_suite.h"
#include "structure/network.h"
#include "structure/simulation.h"

namespace {

using structure::Census;
using structure::Kind;
using structure::Network;
using structure::NodeState;
using structure::Parameters;
using structure::RandomNetwork;
using structure::Simulation;
using structure::SpringState;
using structure::Vector;

using namespace dynasoar::test;

using StructureModel = Model<Simulation, Parameters, Network>;

StructureModel::Implementations implementations() {
  return {{"springs", structure::make_springs},
          {"soa", structure::make_soa_baseline},
          {"aos", structure::make_aos_baseline},
          {"fused", structure::make_fused_baseline}};
}

StructureModel::Implementations implementations_and_reference() {
  return implementations() + StructureModel::Implementations{{"reference", structure::make_reference}};
}

Network random_network(std::uint64_t nodes, std::uint64_t seed = 42, double pull_speed = 0.05) {
  RandomNetwork options;
  options.nodes = nodes;
  options.seed = seed;
  options.pull_speed = pull_speed;
  return structure::random_network(options);
}

NodeState node(Kind kind, float x, float y, Vector velocity = {}) {
  return {kind, {x, y}, velocity};
}

SpringState spring(std::uint32_t first, std::uint32_t second, float factor, float rest_length) {
  return {first, second, factor, rest_length, true};
}

// Free nodes in a row, joined by springs, at the end of which there is an anchor.
Network chain(std::uint32_t nodes) {
  Network network;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    network.nodes.push_back(node(n + 1 == nodes ? Kind::anchor : Kind::free, 0.1f * static_cast<float>(n), 0));
    if (n > 0) network.springs.push_back(spring(n - 1, n, 4, 0.2f));
  }
  return network;
}

// A node with all the slots that there are, its neighbours around it, and another anchor that pulls.
Network star() {
  Network network;
  network.nodes.push_back(node(Kind::free, 0, 0));
  for (std::uint32_t n = 1; n <= structure::kSpringSlots; ++n) {
    const float angle = 0.7f * static_cast<float>(n);
    const Kind kind = n == 1 ? Kind::pulled : n % 3 == 0 ? Kind::anchor : Kind::free;
    network.nodes.push_back(
        node(kind, std::cos(angle), std::sin(angle), kind == Kind::pulled ? Vector{0.1f, 0.3f} : Vector{}));
    const float rest = 0.85f + 0.005f * static_cast<float>(n);
    network.springs.push_back(n % 2 == 0 ? spring(0, n, 3, rest) : spring(n, 0, 4, rest));
  }
  return network;
}

struct Structure : StructureModel {
  static constexpr auto implementations = ::implementations;
  // The reference computes in double precision; these compute the same bits.
  static constexpr auto reference = structure::make_soa_baseline;
  static constexpr int kSteps = kQuick ? 1 : 8;
  static constexpr std::uint64_t kTooSmall = 256 << 10;
  static constexpr int kCrowdedSteps = 1;

  static Implementations object_variants() { return {{"springs", structure::make_springs}}; }
  static std::pair<Network, std::vector<std::uint32_t>> state(Simulation& simulation) {
    return {simulation.network(), simulation.degrees()};
  }
  static Implementation::Start small() { return {Parameters{.strength = 0.3}, random_network(400, 9, 0.3)}; }
  static Implementation::Start crowded() { return {Parameters(), random_network(3000)}; }
};

void check_all(const Parameters& parameters, const Network& start, int steps) {
  CAPTURE(start.nodes.size());
  CAPTURE(start.springs.size());
  dynasoar::test::check_all<Structure>({parameters, start}, steps);
}

// A number that depends on every bit of the state: FNV-1a over the nodes that are there, then the springs.
std::uint64_t fingerprint(const Network& network) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) hash = (hash ^ (value >> 8 * i & 0xFF)) * 0x100000001b3u;
  };
  for (const NodeState& n : network.nodes) {
    if (n.kind == Kind::gone) continue;
    for (const float value : {n.position.x, n.position.y, n.velocity.x, n.velocity.y}) {
      add(std::bit_cast<std::uint32_t>(value), 4);
    }
  }
  for (const SpringState& s : network.springs) add(s.exists, 1);
  return hash;
}

bool is_there(const NodeState& n) {
  return n.kind != Kind::gone;
}

bool is_anchor(const NodeState& n) {
  return n.kind == Kind::anchor || n.kind == Kind::pulled;
}

// Which nodes the springs that `counts` connect to an anchor, found by spreading until nothing changes: not the search
// that the implementations use.
std::vector<bool> anchored(const Network& network, const std::vector<NodeState>& nodes,
                           const std::vector<bool>& counts) {
  std::vector<bool> held;
  for (const NodeState& n : nodes) held.push_back(is_anchor(n));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t s = 0; s < network.springs.size(); ++s) {
      const auto [first, second] = std::pair(network.springs[s].first, network.springs[s].second);
      if (!counts[s] || held[first] == held[second]) continue;
      held[first] = held[second] = true;
      changed = true;
    }
  }
  return held;
}

std::vector<bool> existing(const Network& network) {
  std::vector<bool> result;
  for (const SpringState& s : network.springs) result.push_back(s.exists);
  return result;
}

// The first of `count` numbers for which something is wrong, -1 if it is for none. (An assertion for each would take
// most of the tests' time.)
template <class Predicate>
std::ptrdiff_t first_wrong(std::size_t count, Predicate is_wrong) {
  for (std::size_t i = 0; i < count; ++i) {
    if (is_wrong(i)) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

// What must hold after every step.
void check_laws(const Network& now, const std::vector<std::uint32_t>& degrees) {
  std::vector<std::uint32_t> ends(now.nodes.size());
  for (const SpringState& s : now.springs) {
    if (!s.exists) continue;
    ++ends[s.first];
    ++ends[s.second];
  }
  CHECK(degrees == ends);
  const auto is_isolated = [&](std::size_t n) { return is_there(now.nodes[n]) != (ends[n] > 0); };
  CHECK(first_wrong(ends.size(), is_isolated) == -1);
  const std::vector<bool> held = anchored(now, now.nodes, existing(now));
  const auto is_loose = [&](std::size_t s) {
    const SpringState& spring = now.springs[s];
    return spring.exists && !(held[spring.first] && held[spring.second]);
  };
  CHECK(first_wrong(now.springs.size(), is_loose) == -1);
}

// How far a step in single precision may be from one in double precision. Positions are rounded 40 times, by 2^-24 at
// most where the networks below are less than 2 wide. Forces follow from positions by factors of up to 5, at both ends
// of a spring; a node adds up at most a few that differ, 40 times.
constexpr double kPositionTolerance = 40 * 0x1p-23;
constexpr double kForceTolerance = 2 * 5 * kPositionTolerance;
constexpr double kImpulseTolerance = 40 * 0.2 * kForceTolerance;

// Springs and nodes go for one of the model's reasons only, springs that must go do, and anchors follow their velocity.
void check_changes(const Network& before, const Network& now, const std::vector<double>& peak_forces,
                   const Parameters& parameters) {
  const std::size_t springs = before.springs.size();
  const auto reappears = [&](std::size_t s) { return now.springs[s].exists && !before.springs[s].exists; };
  CHECK(first_wrong(springs, reappears) == -1);
  const auto bears_too_much = [&](std::size_t s) {
    return now.springs[s].exists && peak_forces[s] > parameters.strength + kForceTolerance;
  };
  CHECK(first_wrong(springs, bears_too_much) == -1);

  std::vector<bool> unbroken = existing(before);  // all that cannot have broken
  for (std::size_t s = 0; s < springs; ++s) {
    if (peak_forces[s] > parameters.strength - kForceTolerance) unbroken[s] = false;
  }
  const std::vector<bool> held = anchored(before, before.nodes, unbroken);
  const auto is_lost = [&](std::size_t s) {
    return unbroken[s] && held[before.springs[s].first] && !now.springs[s].exists;
  };
  CHECK(first_wrong(springs, is_lost) == -1);

  const auto strays = [&](std::size_t n) {
    const NodeState& was = before.nodes[n];
    const NodeState& is = now.nodes[n];
    if (!is_there(is)) return false;
    if (is.kind != was.kind) return true;
    if (!is_anchor(is)) return false;
    const double x = was.position.x + 0.2 * double{was.velocity.x};
    const double y = was.position.y + 0.2 * double{was.velocity.y};
    return !(is.velocity == was.velocity) || std::hypot(is.position.x - x, is.position.y - y) > kPositionTolerance;
  };
  CHECK(first_wrong(now.nodes.size(), strays) == -1);
}

// Whether single precision could see another spring break than double precision does.
bool is_close_call(const std::vector<double>& peak_forces, double strength) {
  return std::any_of(peak_forces.begin(), peak_forces.end(),
                     [strength](double peak) { return std::abs(peak - strength) < kForceTolerance; });
}

struct Deviation {
  double position = 0;
  double velocity = 0;
};

Deviation deviation(const Network& a, const Network& b) {
  Deviation most;
  const auto distance = [](Vector p, Vector q) { return std::hypot(double{p.x} - q.x, double{p.y} - q.y); };
  for (std::size_t n = 0; n < a.nodes.size(); ++n) {
    most.position = std::max(most.position, distance(a.nodes[n].position, b.nodes[n].position));
    most.velocity = std::max(most.velocity, distance(a.nodes[n].velocity, b.nodes[n].velocity));
  }
  return most;
}

// Runs an implementation and judges each step by the reference, started from the state before.
void check_steps(const Structure::Implementation& implementation, const Parameters& parameters, const Network& start,
                 int steps) {
  CAPTURE(implementation.name);
  const std::unique_ptr<Simulation> simulation = implementation.make(parameters, start);
  int close_calls = 0;
  Network before = start;
  for (int step = 1; step <= steps; ++step) {
    CAPTURE(step);
    const std::unique_ptr<structure::ReferenceSimulation> reference = structure::make_reference(parameters, before);
    simulation->step();
    reference->step();
    const Network now = simulation->network();
    check_laws(now, simulation->degrees());
    check_changes(before, now, reference->peak_forces(), parameters);
    if (is_close_call(reference->peak_forces(), parameters.strength)) {
      ++close_calls;
    } else {
      const Network expected = reference->network();
      CHECK((now.springs == expected.springs));
      const Deviation most = deviation(now, expected);
      CHECK(most.position < kPositionTolerance);
      CHECK(most.velocity * parameters.mass < kImpulseTolerance);
    }
    before = now;
  }
  CHECK(close_calls <= 1 + steps / 20);
  MESSAGE(implementation.name << ": " << close_calls << " of " << steps << " steps too close to call");
}

double total_momentum(const Network& network, float Vector::*component) {
  double momentum = 0;
  for (const NodeState& n : network.nodes) {
    if (n.kind == Kind::free) momentum += 500 * double{n.velocity.*component};
  }
  return momentum;
}

}  // namespace

DYNASOAR_MODEL_CASE(model_allocators, Structure);
DYNASOAR_MODEL_CASE(model_timed_steps, Structure);
DYNASOAR_MODEL_CASE(model_heap, Structure);

TEST_CASE("all implementations compute the bits that the definition gives") {
  // Computed by a separate program in another language, written from README.md.
  const Network start = random_network(200, 0x123456789ABCDEF);
  CHECK(fingerprint(start) == 0x2f65081169b60abcu);
  for_each_run(implementations(), {Parameters(), start}, [&](Simulation& simulation) {
    std::vector<std::uint64_t> fingerprints;
    simulation.record();
    for (int step = 1; step <= 25; ++step) {
      simulation.step();
      simulation.record();
      if (step % 5 == 0) fingerprints.push_back(fingerprint(simulation.network()));
    }
    CHECK((fingerprints == std::vector<std::uint64_t>{0x13759207faa676cf, 0xcf81789d532e2299, 0x83d7379aaf79bcf9,
                                                      0x3809018d663636d1, 0xb111d0bfa3ee021a}));
    const std::vector<Census> history = simulation.take_history();
    REQUIRE(history.size() == 26);
    CHECK((history[0] == Census{350, 200}));
    CHECK((history[5] == Census{350, 197}));
    CHECK((history[10] == Census{347, 196}));
    CHECK((history[20] == Census{335, 195}));
    CHECK((history[25] == Census{330, 194}));
  });
}

TEST_CASE("all implementations agree in every bit after every step") {
  for (const std::uint64_t seed : {std::uint64_t{42}, std::uint64_t{0}, ~std::uint64_t{0}}) {
    if ((kSlowdown > 1 && seed == 0) || (kQuick && seed == 42)) continue;
    CAPTURE(seed);
    for (const std::uint64_t nodes : {1u, 2u, 3u, 20u, 150u}) {
      check_all({}, random_network(nodes, seed, 0.2), kQuick ? 2 : kSlowdown > 1 ? 5 : 15);
    }
  }
  check_all({}, random_network(3000, 7, 0.3), kQuick ? 1 : kSlowdown > 1 ? 4 : 12);
}

TEST_CASE("all implementations agree on networks of extreme shapes") {
  check_all({}, {}, 2);
  check_all({}, chain(70), 2);
  check_all({.strength = 0.3, .mass = 20}, star(), kQuick ? 1 : kSlowdown > 1 ? 3 : 10);
  RandomNetwork dense;
  dense.nodes = 300;
  dense.springs_per_node = 2.5;
  dense.pull_speed = 0.4;
  check_all({.strength = 0.2}, structure::random_network(dense), kQuick ? 1 : kSlowdown > 1 ? 3 : 8);
  RandomNetwork empty;
  empty.nodes = 50;
  empty.springs_per_node = 0;
  check_all({}, structure::random_network(empty), 2);
}

TEST_CASE("every step agrees with double precision, and whole runs obey the laws") {
  for (const auto& implementation : implementations_and_reference()) {
    check_steps(implementation, {}, random_network(400, 3, 0.15), kQuick ? 1 : kSlowdown > 1 ? 6 : 40);
    check_steps(implementation, {.strength = 0.3, .mass = 20}, star(), kQuick ? 1 : kSlowdown > 1 ? 6 : 20);
  }
}

TEST_CASE("a run can go on from the state of another") {
  const Network start = random_network(120, 5, 0.2);
  for (const auto& implementation : implementations()) {
    CAPTURE(implementation.name);
    // One after the other: an allocator has one handle at a time.
    const auto run = [&](const Network& from, int steps) {
      const std::unique_ptr<Simulation> simulation = implementation.make({}, from);
      CHECK((simulation->network() == from));
      for (int step = 0; step < steps; ++step) simulation->step();
      return simulation->network();
    };
    const Network middle = run(start, 8);
    const Network end = run(middle, 8);
    CHECK((end == run(start, 16)));
    CHECK_FALSE((end.springs == middle.springs));
  }
}

TEST_CASE("a pulled spring breaks in the step in which its force exceeds the strength") {
  // The pulled anchor moves by 0.02 a step: the force is 4 * 0.02 a step and exceeds 0.5 after step 7.
  Network start;
  start.nodes = {node(Kind::anchor, 0, 0), node(Kind::pulled, 1, 0, {0.1f, 0})};
  start.springs = {spring(1, 0, 4, 1)};
  for_each_run(implementations_and_reference(), {Parameters(), start}, [&](Simulation& simulation) {
    const std::vector<Census> history = history_of(simulation, 8);
    for (std::size_t step = 0; step <= 6; ++step) CHECK((history[step] == Census{1, 2}));
    CHECK((history[7] == Census{0, 0}));
    CHECK((history[8] == Census{0, 0}));
  });
}

TEST_CASE("a force equal to the strength does not break a spring") {
  Network start;
  start.nodes = {node(Kind::anchor, 0, 0), node(Kind::anchor, 3, 4)};
  start.springs = {spring(0, 1, 0.125f, 1), spring(1, 0, 0.126f, 1)};
  for_each_run(implementations_and_reference(), {Parameters(), start}, [&](Simulation& simulation) {
    simulation.step();
    CHECK(existing(simulation.network()) == std::vector<bool>{true, false});
    CHECK(simulation.degrees() == std::vector<std::uint32_t>{1, 1});
  });
}

TEST_CASE("springs do not push, and free nodes without forces keep their velocity") {
  Network start;
  start.nodes = {node(Kind::anchor, 0, 0), node(Kind::free, 0.5f, 0.25f, {0.0625f, -0.03125f})};
  start.springs = {spring(0, 1, 4, 10)};
  for_each_run(implementations_and_reference(), {Parameters(), start}, [&](Simulation& simulation) {
    simulation.step();
    const NodeState after = simulation.network().nodes[1];
    CHECK((after.velocity == Vector{0.0625f, -0.03125f}));
    CHECK(after.position.x == doctest::Approx(1.0));  // 40 times 0.2 * 0.0625
    CHECK(after.position.y == doctest::Approx(0.0));
  });
}

TEST_CASE("a spring between nodes in one place pulls nowhere") {
  Network start;
  start.nodes = {node(Kind::anchor, 0.5f, 0.25f), node(Kind::free, 0.5f, 0.25f)};
  start.springs = {spring(0, 1, 4, 0), spring(1, 0, 4, 2)};
  for_each_run(implementations_and_reference(), {Parameters(), start}, [&](Simulation& simulation) {
    simulation.step();
    const NodeState after = simulation.network().nodes[1];
    CHECK((after.position == Vector{0.5f, 0.25f}));
    CHECK((after.velocity == Vector{0, 0}));
  });
}

TEST_CASE("springs between free nodes keep their total momentum") {
  // A slack spring holds a cluster whose own springs are stretched.
  Network start = random_network(0);
  start.nodes.push_back(node(Kind::anchor, 0.5f, 0.5f));
  RandomNetwork free;
  free.nodes = 60;
  free.free = 1;
  free.pulled = 0;
  const Network cluster = structure::random_network(free);
  start.nodes.insert(start.nodes.end(), cluster.nodes.begin(), cluster.nodes.end());
  for (SpringState s : cluster.springs) {
    ++s.first;
    ++s.second;
    s.rest_length *= 0.7f;
    start.springs.push_back(s);
  }
  for (std::uint32_t n = 1; n <= 60; ++n) {
    start.springs.push_back(spring(0, n, 4, 10));
    start.nodes[n].velocity = {0.001f * static_cast<float>(n % 7), 0.002f};
    if (n == 30) break;
  }
  const double x = total_momentum(start, &Vector::x);
  const double y = total_momentum(start, &Vector::y);
  for_each_run(implementations_and_reference(), {Parameters(), start}, [&](Simulation& simulation) {
    simulation.step();
    const Network settled = simulation.network();  // nodes without springs are gone
    const double lost_x = x - total_momentum(settled, &Vector::x);
    const double lost_y = y - total_momentum(settled, &Vector::y);
    for (int step = 0; step < 10; ++step) simulation.step();
    const Network now = simulation.network();
    CHECK(std::count_if(now.nodes.begin(), now.nodes.end(), is_there) > 30);
    CHECK_FALSE((now.nodes == settled.nodes));
    CHECK(total_momentum(now, &Vector::x) == doctest::Approx(x - lost_x).epsilon(1e-4));
    CHECK(total_momentum(now, &Vector::y) == doctest::Approx(y - lost_y).epsilon(1e-4));
  });
}

TEST_CASE("a spring to an anchor changes the momentum by the force times the time") {
  // Force 0.25 along x at first; the node gains 40 * 0.2 * 0.25 / 500 a step, less what it gives way.
  Network start;
  start.nodes = {node(Kind::anchor, 2, 0), node(Kind::free, 0, 0)};
  start.springs = {spring(1, 0, 0.25f, 1)};
  for_each_run(implementations_and_reference(), {Parameters(), start}, [&](Simulation& simulation) {
    simulation.step();
    const Vector velocity = simulation.network().nodes[1].velocity;
    CHECK(velocity.x * 500 == doctest::Approx(8 * 0.25).epsilon(0.02));
    CHECK(velocity.y == 0);
  });
}

TEST_CASE("what no anchor holds goes in the first step, however long the way to the anchor") {
  Network start = chain(90);
  start.springs[30].exists = false;
  for_each_run(implementations_and_reference(), {Parameters(), start}, [&](Simulation& simulation) {
    for (int step = 0; step < 3; ++step) {
      simulation.step();
      const Network now = simulation.network();
      for (std::size_t n = 0; n < 90; ++n) CHECK(is_there(now.nodes[n]) == (n > 30));
      for (std::size_t s = 0; s < 89; ++s) CHECK(now.springs[s].exists == (s > 30));
    }
  });
}

TEST_CASE("random networks are as defined") {
  RandomNetwork options;
  options.nodes = 20000;
  const Network network = structure::random_network(options);
  CHECK(network.springs.size() == 35000);
  const auto share = [&](Kind kind) {
    return static_cast<double>(std::count_if(network.nodes.begin(), network.nodes.end(),
                                             [kind](const NodeState& n) { return n.kind == kind; })) /
           20000;
  };
  CHECK(share(Kind::free) == doctest::Approx(0.65).epsilon(0.03));
  CHECK(share(Kind::pulled) == doctest::Approx(0.25).epsilon(0.05));
  CHECK(share(Kind::anchor) == doctest::Approx(0.1).epsilon(0.1));
  const auto is_odd_node = [&](std::size_t i) {
    const auto [kind, position, velocity] = network.nodes[i];
    const auto is_within = [](Vector v, float least, float most) {
      return v.x >= least && v.x <= most && v.y >= least && v.y <= most;
    };
    return !is_within(position, 0.35f, 0.65f) || !is_within(velocity, -0.05f, 0.05f) ||
           (kind != Kind::pulled && !(velocity == Vector{}));
  };
  CHECK(first_wrong(network.nodes.size(), is_odd_node) == -1);
  const auto is_odd_spring = [&](std::size_t i) {
    const SpringState& s = network.springs[i];
    return !(s.factor >= 3 && s.factor <= 5 && s.rest_length < 0.43f);
  };
  CHECK(first_wrong(network.springs.size(), is_odd_spring) == -1);
  CHECK(structure::assign_slots(network).most == structure::kRandomSprings);

  options.nodes = 501;
  options.springs_per_node = 2.5;  // all slots, or all but those of one node
  const std::size_t springs = structure::random_network(options).springs.size();
  CHECK(springs <= 1252);
  CHECK(springs >= 1250);
}

TEST_CASE("springs have the slots of their nodes in the order of their numbers") {
  Network network;
  CHECK(structure::assign_slots(network).most == 0);
  network.nodes = {node(Kind::anchor, 0, 0), node(Kind::free, 1, 0), node(Kind::free, 2, 0)};
  network.springs = {spring(0, 1, 1, 1), spring(1, 2, 1, 1), spring(2, 1, 1, 1)};
  network.springs[1].exists = false;
  const structure::Slots slots = structure::assign_slots(network);
  CHECK(slots.most == 2);
  CHECK(slots.used == std::vector<std::uint8_t>{1, 2, 1});
  CHECK((slots.springs[0].first_slot == 0 && slots.springs[0].second_slot == 0));
  CHECK((slots.springs[2].first_slot == 0 && slots.springs[2].second_slot == 1));
}

TEST_CASE("a network that is none is refused") {
  const auto refuses = [](const Network& network, const std::string& says) {
    for (const auto& implementation : implementations_and_reference()) {
      CAPTURE(implementation.name);
      CHECK_THROWS_WITH_AS(implementation.make({}, network), says.c_str(), std::invalid_argument);
    }
  };
  Network pair;
  pair.nodes = {node(Kind::anchor, 0, 0), node(Kind::free, 1, 0)};
  Network network = pair;
  network.springs = {spring(0, 2, 4, 1)};
  refuses(network, "spring 0 does not join two nodes");
  network.springs = {spring(1, 1, 4, 1)};
  refuses(network, "spring 0 does not join two nodes");
  network.springs = {spring(0, 1, -4, 1)};
  refuses(network, "spring 0 has a factor or rest length below 0");
  network.springs = {spring(0, 1, 4, 1)};
  network.springs[0].rest_length = std::numeric_limits<float>::infinity();
  refuses(network, "spring 0 has an infinite factor or rest length");
  network.springs = {spring(0, 1, 4, 1)};
  network.nodes[1].kind = Kind::gone;
  refuses(network, "spring 0 is at a node that is gone");
  network = pair;
  network.nodes[1].position.y = std::nanf("");
  refuses(network, "node 1 has a coordinate that is no number");
  network = pair;
  network.nodes[0].velocity.x = 1;
  refuses(network, "node 0 is an anchor, but has a velocity");
  network = star();
  network.springs.push_back(spring(3, 0, 4, 1));
  refuses(network, "node 0 at (0.000000, 0.000000) has more than 32 springs");
}
