// The examples of FLAME GPU 2 (P. Richmond, R. Chisholm, P. Heywood, M. K. Chimeh, M. Leach: "FLAME GPU 2: A framework
// for flexible and performant agent based simulation on GPUs", Software: Practice and Experience, 2023) as models of
// DynaSOAr. First, each model is compared with a sequential program, on a small scale.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "life/simulation.h"
#include "models.h"
#include "report.h"
#include "steps.h"
#include "workloads.h"

namespace benchmarks {
namespace flame_gpu {
namespace {

constexpr std::uint64_t kSeed = 42;

template <class State>
std::vector<State> states_after(Model<State>& model, int steps) {
  for (int step = 0; step < steps; ++step) model.step();
  return model.states();
}

/// Neighbours are added up in different orders.
bool are_near(Vector3 a, Vector3 b) {
  return length(a - b) < 1e-4f;
}

bool are_alike(const BoidState& a, const BoidState& b) {
  return are_near(a.position, b.position) && are_near(a.velocity, b.velocity);
}
bool are_alike(const CircleState& a, const CircleState& b) {
  return are_near(a.position, b.position) && std::fabs(a.drift - b.drift) < 1e-4f;
}
bool are_alike(const CellState& a, const CellState& b) {
  return a == b;
}

/// @throws std::runtime_error if the states are not alike
template <class State>
void check(const std::string& model, const std::vector<State>& expected, const std::vector<State>& found) {
  std::size_t different = 0;
  for (std::size_t i = 0; i < expected.size() && i < found.size(); ++i) {
    if (!are_alike(expected[i], found[i])) ++different;
  }
  if (different > 0 || expected.size() != found.size() || expected.empty()) {
    throw std::runtime_error("flame_gpu: " + model + ": " + std::to_string(different) + " of " +
                             std::to_string(found.size()) + " states are not those of the sequential program");
  }
}

/// Starts in which each rule matters to some of the agents.

Flock crowded_flock() {
  Flock flock = random_flock(600, kSeed);
  flock.side /= 4;
  for (BoidState& boid : flock.boids) boid = {0.25f * boid.position, 2.0f * boid.velocity};
  return flock;
}

Circles sparse_circles() {
  Circles circles = random_circles(600, kSeed);
  circles.side *= 2;
  for (Vector3& position : circles.positions) position = 2.0f * position;
  return circles;
}

Landscape crowded_landscape() {
  Landscape landscape = random_landscape(70, 50, kSeed);
  for (std::size_t c = 0; c < landscape.cells.size() / 4; ++c) {
    CellState& cell = landscape.cells[c];
    if (cell.agent != kNoAgent) continue;
    cell.agent = static_cast<std::int32_t>(landscape.cells.size() + c);
    cell.wealth = static_cast<std::int32_t>(c % 20);
    cell.metabolism = static_cast<std::int32_t>(c % 3);
  }
  return landscape;
}

void check_models() {
  const Flock flock = crowded_flock();
  const Circles circles = sparse_circles();
  const Landscape landscape = crowded_landscape();
  for (const int steps : {1, 20}) {
    check("boids", boids_after(flock, steps), states_after(*make_boids(flock), steps));
    check("circles", circles_after(circles, steps), states_after(*make_circles(circles), steps));
    check("Sugarscape", sugarscape_after(landscape, steps), states_after(*make_sugarscape(landscape), steps));
  }
}

class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings) : report_(report), settings_(settings) {}

  template <class Simulation>
  void run(const std::string& model, const std::map<std::string, std::int64_t>& size, int steps,
           const std::function<std::unique_ptr<Simulation>()>& make, std::vector<AtEnd<Simulation>> at_end = {}) {
    at_end.push_back({"time of a step", "ms",
                      [=](Simulation&, double seconds) { return std::optional<double>(seconds / steps * 1e3); }});
    measure_steps<Simulation>([&](Record record) { report_.add(std::move(record)); }, settings_,
                              {"flame_gpu", model, size, steps}, make, at_end);
  }

 private:
  Report& report_;
  const Settings& settings_;
};

void measure_life(Benchmark& benchmark, int width, int steps) {
  const auto workload = life_soup_workload(width, steps);
  benchmark.run<life::Simulation>("life, a cell at every place", workload.size, steps,
                                  [&] { return life::make_dense_cells(workload.parameters); });
  benchmark.run<life::Simulation>("life, live cells placed", workload.size, steps,
                                  [&] { return life::make_placed(workload.parameters); });
}

void measure_boids(Benchmark& benchmark, std::uint32_t count, int steps) {
  const Flock start = random_flock(count, kSeed);
  benchmark.run<Model<BoidState>>("boids", {{"agents", count}}, steps, [&] { return make_boids(start); });
}

void measure_circles(Benchmark& benchmark, std::uint32_t count, int steps) {
  const Circles start = random_circles(count, kSeed);
  benchmark.run<Model<CircleState>>("circles", {{"agents", count}}, steps, [&] { return make_circles(start); });
}

void measure_sugarscape(Benchmark& benchmark, std::uint32_t width, int steps) {
  const Landscape start = random_landscape(width, width, kSeed);
  benchmark.run<Model<CellState>>("Sugarscape", {{"width", width}, {"height", width}}, steps,
                                  [&] { return make_sugarscape(start); },
                                  {{"agents at the end", "agents", [](Model<CellState>& model, double) {
                                      double agents = 0;
                                      for (const CellState& cell : model.states()) {
                                        agents += cell.agent != kNoAgent ? 1 : 0;
                                      }
                                      return std::optional(agents);
                                    }}});
}

}  // namespace
}  // namespace flame_gpu

void run_flame_gpu(Report& report, const Settings& settings) {
  const bool small = settings.small;
  flame_gpu::check_models();
  flame_gpu::Benchmark benchmark(report, settings);
  for (const int width : small ? std::vector{64} : std::vector{1024, 4096}) {
    flame_gpu::measure_life(benchmark, width, small ? 20 : 200);
  }
  for (const std::uint32_t count : small ? std::vector{1000u} : std::vector{4000u, 32000u}) {
    flame_gpu::measure_boids(benchmark, count, small ? 20 : 1000);
  }
  // As many steps as were measured in FLAME GPU 2: circles gather in clumps.
  using Sizes = std::vector<std::pair<std::uint32_t, int>>;
  for (const auto& [count, steps] : small ? Sizes{{1000, 20}} : Sizes{{16384, 1000}, {131072, 300}}) {
    flame_gpu::measure_circles(benchmark, count, steps);
  }
  for (const std::uint32_t width : small ? std::vector{64u} : std::vector{256u, 1024u}) {
    flame_gpu::measure_sugarscape(benchmark, width, small ? 20 : 200);
  }
}

}  // namespace benchmarks
