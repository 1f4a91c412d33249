/// @file
/// Wa-Tor: all implementations are the same simulation, and it is the one that apps/wa_tor/README.md defines.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../platform/test_support.h"
#include "allocators.h"
#include "random.h"
#include "simulation.h"

namespace {

using wa_tor::CellState;
using wa_tor::Parameters;
using wa_tor::Population;
using wa_tor::Simulation;

// Under a GPU's sanitizers a step takes a hundred times as long.
constexpr bool kQuick = dynasoar::kCudaBackend && dynasoar::test::kSlowdown > 1;

struct Implementation {
  std::string name;
  std::function<std::unique_ptr<Simulation>(const Parameters&)> make;
};

std::vector<Implementation> implementations() {
  return {{"cells", wa_tor::make_cells},
          {"agents", wa_tor::make_agents},
          {"soa", wa_tor::make_soa_baseline},
          {"aos", wa_tor::make_aos_baseline}};
}

std::vector<Implementation> implementations_and_reference() {
  std::vector<Implementation> all = implementations();
  all.push_back({"reference", wa_tor::make_reference});
  return all;
}

Parameters ocean_of(int width, int height, std::uint64_t seed = 42) {
  Parameters parameters;
  parameters.width = width;
  parameters.height = height;
  parameters.seed = seed;
  return parameters;
}

Population count(const std::vector<CellState>& ocean) {
  Population population;
  for (const CellState& cell : ocean) {
    population.fish += cell.kind == 1;
    population.sharks += cell.kind == 2;
  }
  return population;
}

// Oceans of the reference after 0, 1, ... steps.
std::vector<std::vector<CellState>> reference_oceans(const Parameters& parameters, int steps) {
  const std::unique_ptr<Simulation> reference = wa_tor::make_reference(parameters);
  std::vector<std::vector<CellState>> oceans = {reference->ocean()};
  for (int step = 0; step < steps; ++step) {
    reference->step();
    oceans.push_back(reference->ocean());
  }
  return oceans;
}

// The first cell in which the oceans differ, -1 if there is none.
std::ptrdiff_t first_difference(const std::vector<CellState>& a, const std::vector<CellState>& b) {
  if (a.size() != b.size()) return 0;
  for (std::size_t cell = 0; cell < a.size(); ++cell) {
    if (!(a[cell] == b[cell])) return static_cast<std::ptrdiff_t>(cell);
  }
  return -1;
}

void check_against(const std::vector<std::vector<CellState>>& expected, const Implementation& implementation,
                   const Parameters& parameters) {
  CAPTURE(implementation.name);
  CAPTURE(parameters.width);
  CAPTURE(parameters.height);
  CAPTURE(parameters.seed);
  CAPTURE(parameters.threads);
  const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    CAPTURE(step);
    if (step > 0) simulation->step();
    const std::vector<CellState> ocean = simulation->ocean();
    REQUIRE(ocean.size() == expected[step].size());
    REQUIRE(first_difference(ocean, expected[step]) == -1);
  }
}

void check_all_threads(Parameters parameters, int steps) {
  const std::vector<std::vector<CellState>> expected = reference_oceans(parameters, steps);
  for (const Implementation& implementation : implementations()) {
    // A GPU takes no notice of the number.
    for (const int threads : dynasoar::kCudaBackend ? std::vector{1} : std::vector{1, 2, 5}) {
      parameters.threads = threads;
      check_against(expected, implementation, parameters);
    }
  }
}

}  // namespace

TEST_CASE("every allocator gives the same ocean") {
  Parameters parameters = ocean_of(47, 31, 5);
  parameters.threads = 3;
  const std::vector<std::vector<CellState>> expected = reference_oceans(parameters, kQuick ? 8 : 30);
  const std::vector<Implementation> variants = {{"cells", wa_tor::make_cells}, {"agents", wa_tor::make_agents}};
  for (const Implementation& version : dynasoar::test::on_other_allocators(variants)) {
    check_against(expected, version, parameters);
  }
}

TEST_CASE("an allocator that the model was not compiled for is refused by name") {
  Parameters parameters = ocean_of(5, 5);
  parameters.allocator = "heap of wishes";
  CHECK_THROWS_WITH_AS(wa_tor::make_agents(parameters), doctest::Contains("'heap of wishes', but for: soa"),
                       std::invalid_argument);
}

TEST_CASE("random numbers are Philox4x32-10's published ones") {
  const philox4x32_ctr_t zero = wa_tor::random_block(wa_tor::Seed{0}, wa_tor::Decision::initial, 0, 0);
  CHECK(zero.v[0] == 0x6627e8d5u);
  CHECK(zero.v[1] == 0xe169c58du);
  CHECK(zero.v[2] == 0xbc57ac4cu);
  CHECK(zero.v[3] == 0x9b00dbd8u);
}

TEST_CASE("seed, decision, cell and step each change the random numbers") {
  using wa_tor::Decision;
  using wa_tor::Seed;
  const auto word = [](Seed seed, Decision decision, std::uint32_t cell, std::uint32_t step) {
    return wa_tor::random_block(seed, decision, cell, step).v[0];
  };
  const std::uint32_t base = word(Seed{1}, Decision::fish_move, 2, 3);
  CHECK(word(Seed{2}, Decision::fish_move, 2, 3) != base);
  CHECK(word(Seed{1 + (std::uint64_t{1} << 32)}, Decision::fish_move, 2, 3) != base);
  CHECK(word(Seed{1}, Decision::shark_move, 2, 3) != base);
  CHECK(word(Seed{1}, Decision::fish_move, 3, 3) != base);
  CHECK(word(Seed{1}, Decision::fish_move, 2, 4) != base);
}

TEST_CASE("the reference finds the populations that the definition gives") {
  // Computed by a separate program in another language, written from README.md.
  const std::unique_ptr<Simulation> reference = wa_tor::make_reference(ocean_of(20, 15, 0x123456789ABCDEFull));
  reference->record();
  for (int step = 1; step <= 40; ++step) {
    reference->step();
    reference->record();
  }
  const std::vector<Population> history = reference->take_history();
  CHECK((history[0] == Population{63, 87}));
  CHECK((history[1] == Population{24, 87}));
  CHECK((history[2] == Population{19, 52}));
  CHECK((history[5] == Population{12, 61}));
  CHECK((history[10] == Population{10, 17}));
  CHECK((history[20] == Population{20, 5}));
  CHECK((history[30] == Population{89, 3}));
  CHECK((history[40] == Population{225, 8}));
}

TEST_CASE("all implementations equal the reference, cell for cell, after every step") {
  const std::vector<std::uint64_t> seeds{42, 0, 0xFEDCBA9876543210};
  for (const std::uint64_t seed : kQuick ? std::vector{seeds[2]} : seeds) {
    check_all_threads(ocean_of(1, 1, seed), kQuick ? 3 : 12);
    check_all_threads(ocean_of(1, 7, seed), kQuick ? 3 : 30);
    check_all_threads(ocean_of(6, 1, seed), kQuick ? 3 : 30);
    check_all_threads(ocean_of(2, 2, seed), kQuick ? 3 : 30);
    check_all_threads(ocean_of(3, 5, seed), kQuick ? 8 : 60);
    check_all_threads(ocean_of(33, 20, seed), kQuick ? 20 : 60);
  }
  check_all_threads(ocean_of(257, 129, 7), kQuick ? 2 : 40);
}

TEST_CASE("compaction changes nothing but where agents lie") {
  const std::vector<Implementation> variants = {{"cells", wa_tor::make_cells}, {"agents", wa_tor::make_agents}};
  for (const double above : {0.0, 0.05, 0.3}) {
    CAPTURE(above);
    for (const int threads : dynasoar::kCudaBackend ? std::vector{1} : std::vector{1, 3, 8}) {
      Parameters parameters = ocean_of(157, 129, 7);
      parameters.compact_above = above;
      parameters.threads = threads;
      const std::vector<std::vector<CellState>> expected = reference_oceans(parameters, kQuick ? 3 : 40);
      for (const Implementation& variant : variants) check_against(expected, variant, parameters);
    }
  }
  for (const Implementation& variant : variants) {
    CAPTURE(variant.name);
    // So many agents that the 63 free slots which a class may always keep are less than 5 % of its slots.
    Parameters parameters = ocean_of(400, 300);
    const auto fragmentation = [&](double above) {
      parameters.compact_above = above;
      const std::unique_ptr<Simulation> simulation = variant.make(parameters);
      for (int step = 0; step < (kQuick ? 5 : 50); ++step) simulation->step();
      return simulation->usage()->fragmentation;
    };
    CHECK(fragmentation(0.05) <= 0.05);
    CHECK(fragmentation(1) > 0.05);
  }
}

TEST_CASE("other shares of fish and sharks are equal to the reference, too") {
  for (const double fish : {0.0, 0.05, 0.9}) {
    for (const double sharks : {0.0, 0.1}) {
      Parameters parameters = ocean_of(31, 17);
      parameters.fish = fish;
      parameters.sharks = sharks;
      CAPTURE(fish);
      CAPTURE(sharks);
      check_all_threads(parameters, kQuick ? 2 : 25);
    }
  }
}

TEST_CASE("the history is the number of agents in the ocean, and each population is taken once") {
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    const std::unique_ptr<Simulation> simulation = implementation.make(ocean_of(19, 23));
    CHECK(simulation->take_history().empty());
    for (int step = 0; step < 10; ++step) {
      simulation->record();
      const Population expected = count(simulation->ocean());
      simulation->step();
      const std::vector<Population> history = simulation->take_history();
      REQUIRE(history.size() == 1);
      CHECK(history.front().fish == expected.fish);
      CHECK(history.front().sharks == expected.sharks);
    }
  }
}

TEST_CASE("a history of many steps is complete") {
  constexpr std::size_t kSteps = kQuick ? 70 : 700;
  const auto run = [](const Implementation& implementation) {
    const std::unique_ptr<Simulation> simulation = implementation.make(ocean_of(32, 16));
    for (std::size_t step = 0; step < kSteps; ++step) {
      simulation->record();
      simulation->step();
    }
    return simulation->take_history();
  };
  const std::vector<Population> expected = run({"reference", wa_tor::make_reference});
  REQUIRE(expected.size() == kSteps);
  for (const Implementation& implementation : implementations()) {
    CAPTURE(implementation.name);
    CHECK((run(implementation) == expected));
  }
}

TEST_CASE("an empty ocean stays empty") {
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    Parameters parameters = ocean_of(12, 9);
    parameters.fish = 0;
    parameters.sharks = 0;
    const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
    for (int step = 0; step < 5; ++step) simulation->step();
    CHECK((simulation->ocean() == std::vector<CellState>(12 * 9)));
  }
}

TEST_CASE("fish without sharks fill the ocean and grow old") {
  constexpr int kSteps = kQuick ? 30 : 200;
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    Parameters parameters = ocean_of(16, 16);
    parameters.fish = 0.5;
    parameters.sharks = 0;
    const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
    std::uint64_t before = 0;
    for (int step = 0; step < kSteps; ++step) {
      simulation->record();
      simulation->step();
    }
    for (const Population& population : simulation->take_history()) {
      CHECK(population.sharks == 0);
      CHECK(population.fish >= before);
      before = population.fish;
    }
    CHECK(before == 256);
    const std::vector<CellState> full = simulation->ocean();
    simulation->step();
    const std::vector<CellState> later = simulation->ocean();
    for (std::size_t cell = 0; cell < full.size(); ++cell) CHECK(later[cell].age == full[cell].age + 1);
  }
}

TEST_CASE("sharks without fish starve in the second step") {
  for (const Implementation& implementation : implementations_and_reference()) {
    CAPTURE(implementation.name);
    Parameters parameters = ocean_of(16, 16);
    parameters.fish = 0;
    parameters.sharks = 1;
    const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
    for (int step = 0; step < 3; ++step) {
      simulation->record();
      simulation->step();
    }
    const std::vector<Population> history = simulation->take_history();
    CHECK(history[0].sharks == 256);
    CHECK(history[1].sharks == 256);
    CHECK(history[2].sharks == 0);
  }
}

TEST_CASE("a heap that is too small ends the run and says which size is enough") {
  for (const Implementation& implementation : implementations()) {
    if (implementation.name != "cells" && implementation.name != "agents") continue;
    CAPTURE(implementation.name);
    Parameters parameters = ocean_of(256, 256);
    parameters.heap_bytes = 64 << 10;
    const auto run = [&] {
      const std::unique_ptr<Simulation> simulation = implementation.make(parameters);
      for (int step = 0; step < 60; ++step) simulation->step();
      simulation->synchronize();
    };
    std::uint64_t needed = 0;
    try {
      run();
    } catch (const wa_tor::HeapTooSmall& error) {
      needed = error.needed_bytes();
    }
    REQUIRE(needed > parameters.heap_bytes);
    parameters.heap_bytes = needed;
    CHECK_NOTHROW(run());
  }
}
