// dynasoar-benchmark: measures what README.md quotes. `scripts/benchmark` runs it and makes the tables.
#include <exception>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "report.h"

int main(int argc, char** argv) {
  const std::vector<std::pair<std::string, std::function<void(benchmarks::Report&, const benchmarks::Settings&)>>> all =
      {{"field_loop", benchmarks::run_field_loop},
       {"sparse_loop", benchmarks::run_sparse_loop},
       {"neighbour_loop", benchmarks::run_neighbour_loop},
       {"empty_loop", benchmarks::run_empty_loop},
       {"allocation", benchmarks::run_allocation},
       {"mixed_allocation", benchmarks::run_mixed_allocation},
       {"request_shapes", benchmarks::run_request_shapes},
       {"waves", benchmarks::run_waves},
       {"scale", benchmarks::run_scale},
       {"full_heap", benchmarks::run_full_heap},
       {"compaction", benchmarks::run_compaction},
       {"sort", benchmarks::run_sort},
       {"become", benchmarks::run_become},
       {"geometry", benchmarks::run_geometry},
       {"growth", benchmarks::run_growth},
       {"checkpoint", benchmarks::run_checkpoint},
       {"dispatch", benchmarks::run_dispatch},
       {"polymorphism", benchmarks::run_polymorphism},
       {"flame_gpu", benchmarks::run_flame_gpu},
       {"host_loop", benchmarks::run_host_loop},
       {"host_threads", benchmarks::run_host_threads},
       {"host_lattices", benchmarks::run_host_lattices},
       {"wa_tor", benchmarks::run_wa_tor},
       {"wa_tor_compaction", benchmarks::run_wa_tor_compaction},
       {"n_body", benchmarks::run_n_body},
       {"collision", benchmarks::run_collision},
       {"game_of_life", benchmarks::run_game_of_life},
       {"life_soups", benchmarks::run_life_soups},
       {"generation", benchmarks::run_generation},
       {"structure", benchmarks::run_structure},
       {"sugarscape", benchmarks::run_sugarscape},
       {"traffic", benchmarks::run_traffic},
       {"schelling", benchmarks::run_schelling},
       {"flocking", benchmarks::run_flocking},
       {"epidemic", benchmarks::run_epidemic},
       {"ants", benchmarks::run_ants},
       {"tumour", benchmarks::run_tumour},
       {"forest_fire", benchmarks::run_forest_fire},
       {"small_models", benchmarks::run_small_models},
       {"picture", benchmarks::run_picture}};
  std::set<std::string> names;
  for (const auto& [name, run] : all) names.insert(name);
  CLI::App app("Measures the library and its applications on this machine's GPU or CPU.");
  app.option_defaults()->always_capture_default();
  benchmarks::Settings settings;
  std::vector<std::string> only;
  std::string json;
  std::string commit = "unknown";
  app.add_option("--only", only, "Benchmarks to run; default: all")->check(CLI::IsMember(names));
  app.add_option("--repetitions", settings.repetitions, "Counted runs of each measurement")->check(CLI::Range(1, 1000));
  app.add_option("--json", json, "File for the results");
  app.add_option("--commit", commit, "Commit that is measured, for the results");
  app.add_option("--turing-machine", settings.turing_machine, "Pattern file that the game of life starts from");
  app.add_flag("--small", settings.small, "Small sizes, for a quick look");
  CLI11_PARSE(app, argc, argv);
  if (!benchmarks::device_available()) {
    fmt::print(stderr, "dynasoar-benchmark: this is a CUDA build and there is no usable GPU\n");
    return 1;
  }
  try {
    benchmarks::Report report(commit);
    for (const auto& [name, run] : all) {
      if (only.empty() || std::find(only.begin(), only.end(), name) != only.end()) run(report, settings);
    }
    if (!json.empty()) report.write_json(json);
  } catch (const std::exception& error) {
    fmt::print(stderr, "dynasoar-benchmark: {}\n", error.what());
    return 1;
  }
  return 0;
}
