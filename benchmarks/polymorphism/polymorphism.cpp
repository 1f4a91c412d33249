// The workloads of the benchmark suite ParaPoly (M. Zhang, A. Alawneh, T. G. Rogers: "Characterizing Massively Parallel
// Polymorphism", ISPASS 2021) as models of DynaSOAr and with CUDA's virtual functions: the same rules, the same steps
// and the same results, which the program compares. docs/benchmarks-polymorphism.md says what is timed.
#include <chrono>
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

#include "report.h"
#include "variant.h"
#include "workloads.h"

namespace benchmarks {
namespace polymorphism {
namespace {

/// A model of apps/ as a variant. @tparam Result   makes numbers of a simulation
template <class Simulation, class Result>
class Model final : public Variant {
 public:
  Model(std::unique_ptr<Simulation> simulation, Result result)
      : simulation_(std::move(simulation)), result_(std::move(result)) {}
  void step() override { simulation_->step(); }
  void synchronize() override { simulation_->synchronize(); }
  std::vector<double> result() override { return result_(*simulation_); }

 private:
  std::unique_ptr<Simulation> simulation_;
  Result result_;
};

template <class Simulation, class Result>
std::unique_ptr<Variant> model(std::unique_ptr<Simulation> simulation, Result result) {
  return std::make_unique<Model<Simulation, Result>>(std::move(simulation), std::move(result));
}

std::vector<double> states_of(life::Simulation& simulation) {
  const std::vector<std::uint16_t> states = simulation.frame().states;
  return {states.begin(), states.end()};
}

std::vector<double> cells_of(traffic::Simulation& simulation) {
  std::vector<double> numbers;
  for (const traffic::CellState& cell : simulation.cells()) numbers.push_back(number_of(cell));
  return numbers;
}

/// How well two results must agree.
struct Agreement {
  double difference = 0;  ///< of a number, at most
  double exceptions = 0;  ///< the share of the numbers that may differ by more
};

void check(const std::string& workload, const std::vector<double>& expected, const std::vector<double>& found,
           Agreement agreement) {
  if (found.size() != expected.size() || expected.empty()) {
    throw std::runtime_error("polymorphism: " + workload + ": the results have different sizes");
  }
  std::size_t different = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!(std::fabs(found[i] - expected[i]) <= agreement.difference)) ++different;
  }
  if (static_cast<double>(different) > agreement.exceptions * static_cast<double>(expected.size())) {
    throw std::runtime_error("polymorphism: " + workload + ": " + std::to_string(different) + " of " +
                             std::to_string(expected.size()) + " numbers differ between the variants");
  }
}

using Make = std::function<std::unique_ptr<Variant>()>;

class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings) : report_(report), settings_(settings) {}

  /// Measures a workload both ways and compares the results of all runs.
  ///
  /// @param steps      of a run. The first ones are not timed: see kUntimedSteps
  /// @param expected   the result, if it is known
  void compare(const std::string& workload, std::map<std::string, std::int64_t> size, int steps, const Make& objects,
               const Make& virtual_functions, Agreement agreement = {},
               std::optional<std::vector<double>> expected = std::nullopt) {
    if (steps <= kUntimedSteps) throw std::invalid_argument("polymorphism: " + workload + ": too few steps");
    size["steps"] = steps - kUntimedSteps;
    const auto measure_variant = [&](const std::string& how, const Make& make) {
      const std::vector<double> milliseconds = run(steps, make, [&](std::vector<double> result) {
        if (expected) {
          check(workload, *expected, result, agreement);
        } else {
          expected = std::move(result);
        }
      });
      const Record record = {"polymorphism", workload + ", " + how, size, "time of all steps", "ms", milliseconds};
      report_.add(record);
      return record.median();
    };
    const double of_virtual_functions = measure_variant("virtual functions", virtual_functions);
    ratios_.push_back(of_virtual_functions / measure_variant("objects", objects));
    report_.add({"polymorphism", workload, size, kRatio, "times", {ratios_.back()}});
  }

  void add_geometric_mean() {
    double logarithms = 0;
    for (const double ratio : ratios_) logarithms += std::log(ratio);
    const auto count = static_cast<double>(ratios_.size());
    report_.add({"polymorphism",
                 "geometric mean",
                 {{"workloads", static_cast<std::int64_t>(ratios_.size())}},
                 kRatio,
                 "times",
                 {std::exp(logarithms / count)}});
  }

 private:
  /// Steps at the beginning of a run that are not timed. In them, all variants record their loops, of which there are
  /// two kinds at most, and touch their memory for the first time.
  static constexpr int kUntimedSteps = 2;

  /// Runs the steps as often as the settings say, and calls `check(result)` each time. @return the times in
  /// milliseconds
  template <class Check>
  std::vector<double> run(int steps, const Make& make, const Check& check) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> milliseconds;
    std::unique_ptr<Variant> variant = make();
    for (int i = 0; i < settings_.warm_up + settings_.repetitions; ++i) {
      if (i > 0 && !variant->restart()) {
        variant.reset();  // first, for its memory
        variant = make();
      }
      for (int step = 0; step < kUntimedSteps; ++step) variant->step();
      variant->synchronize();
      const auto begin = Clock::now();
      for (int step = kUntimedSteps; step < steps; ++step) variant->step();
      variant->synchronize();
      const double time = std::chrono::duration<double>(Clock::now() - begin).count() * 1e3;
      if (i >= settings_.warm_up) milliseconds.push_back(time);
      check(variant->result());
    }
    return milliseconds;
  }

  static constexpr const char* kRatio = "times as fast as virtual functions";

  Report& report_;
  const Settings& settings_;
  std::vector<double> ratios_;
};

/// Both variants visit every cell in each step.
void compare_life(Benchmark& benchmark, const std::string& name, const Workload<life::Parameters>& workload) {
  const life::Parameters& parameters = workload.parameters;
  benchmark.compare(
      name, workload.size, workload.steps, [&] { return model(life::make_dense_cells(parameters), states_of); },
      [&] { return make_virtual_life(parameters); });
}

void compare_traffic(Benchmark& benchmark, std::uint32_t intersections, int steps) {
  const traffic::Network network = traffic_network(intersections);
  const traffic::Parameters parameters;
  benchmark.compare(
      "traffic", {{"intersections", intersections}}, steps,
      [&] { return model(traffic::make_cells(parameters, network), cells_of); },
      [&] { return make_virtual_traffic(parameters, network); });
}

void compare_structure(Benchmark& benchmark, std::uint32_t nodes, int steps) {
  const structure::Network network = structure_network(nodes);
  const structure::Parameters parameters;
  const auto result = [](structure::Simulation& simulation) { return numbers_of(simulation.network()); };
  benchmark.compare(
      "structure", {{"nodes", nodes}}, steps,
      [&] { return model(structure::make_springs(parameters, network), result); },
      [&] { return make_virtual_structure(parameters, network); });
}

/// Sums of attractions are rounded in different orders.
void compare_n_body(Benchmark& benchmark, std::uint32_t count, int steps) {
  const auto workload = n_body_workload(count, steps);
  benchmark.compare(
      "n-body", workload.size, steps, [&] { return make_object_n_body(workload.parameters); },
      [&] { return make_virtual_n_body(workload.parameters); }, {1e-4, 0});
}

/// The same; so, once in a long while, bodies are near enough to merge in one of the variants and not in the other one.
void compare_collision(Benchmark& benchmark, std::uint32_t count, int steps) {
  const auto workload = collision_workload(count, steps);
  benchmark.compare(
      "collision", workload.size, steps, [&] { return make_object_collision(workload.parameters); },
      [&] { return make_virtual_collision(workload.parameters); }, {0, 0.01});
}

void compare_graphs(Benchmark& benchmark, int bits) {
  constexpr std::uint32_t kEdgesPerNode = 16;
  const Graph graph = random_graph(bits, kEdgesPerNode);
  for (const auto& [name, algorithm] :
       std::vector<std::pair<std::string, Algorithm>>{{"breadth-first search", Algorithm::levels},
                                                      {"connected components", Algorithm::components},
                                                      {"PageRank", Algorithm::page_rank}}) {
    const Solution solution = solve(algorithm, graph);
    for (const auto& [what, polymorphic] : std::vector<std::pair<std::string, Polymorphic>>{
             {"edges", Polymorphic::edges}, {"edges and nodes", Polymorphic::edges_and_nodes}}) {
      benchmark.compare(
          name + ", " + what, {{"edges", static_cast<std::int64_t>(graph.edges.size())}}, solution.steps,
          [&, algorithm = algorithm, polymorphic = polymorphic] {
            return make_object_graph(algorithm, polymorphic, graph);
          },
          [&, algorithm = algorithm, polymorphic = polymorphic] {
            return make_virtual_graph(algorithm, polymorphic, graph);
          },
          {}, solution.values);
    }
  }
}

void compare_rays(Benchmark& benchmark, std::uint32_t spheres, std::uint32_t width, std::uint32_t height, int steps) {
  const Scene scene = random_scene(spheres, width, height);
  benchmark.compare(
      "ray tracer", {{"shapes", static_cast<std::int64_t>(scene.shapes.size())}, {"width", width}, {"height", height}},
      steps, [&] { return make_object_rays(scene); }, [&] { return make_virtual_rays(scene); });
}

}  // namespace
}  // namespace polymorphism

void run_polymorphism(Report& report, const Settings& settings) {
  enlarge_toolkit_heap();
  const bool small = settings.small;
  polymorphism::Benchmark benchmark(report, settings);
  polymorphism::compare_traffic(benchmark, small ? 50 : 17500, small ? 50 : 1000);
  polymorphism::compare_life(benchmark, "game of life",
                             small ? life_soup_workload(64, 20) : life_soup_workload(1000, 300));
  polymorphism::compare_life(benchmark, "generation",
                             small ? generation_workload(96, 20) : generation_workload(1000, 300));
  polymorphism::compare_structure(benchmark, small ? 1000 : 300000, small ? 5 : 20);
  polymorphism::compare_n_body(benchmark, small ? 300 : 20000, small ? 5 : 30);
  polymorphism::compare_collision(benchmark, small ? 500 : 20000, small ? 20 : 50);
  polymorphism::compare_graphs(benchmark, small ? 8 : 17);
  polymorphism::compare_rays(benchmark, small ? 50 : 500, small ? 64 : 1024, small ? 48 : 768, small ? 3 : 10);
  benchmark.add_geometric_mean();
}

}  // namespace benchmarks
