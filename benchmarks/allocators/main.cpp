// dynasoar-allocator-benchmark: the papers' experiments, with every allocator that the build has.
#include <algorithm>
#include <chrono>
#include <exception>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <app_allocators.h>

#include "ablation.h"
#include "applications.h"
#include "suite.h"

namespace benchmarks::allocators {

#define DYNASOAR_DECLARE_EXPERIMENTS_(version, name, unused) \
  namespace version {                                        \
  void add_experiments(std::vector<Case>& cases);            \
  }
DYNASOAR_APP_ALLOCATORS(DYNASOAR_DECLARE_EXPERIMENTS_, )

namespace {

std::vector<Case> all_cases() {
  std::vector<Case> cases;
#define DYNASOAR_ADD_EXPERIMENTS_(version, name, unused) version::add_experiments(cases);
  DYNASOAR_APP_ALLOCATORS(DYNASOAR_ADD_EXPERIMENTS_, )
  add_ablation(cases);
  add_applications(cases);
  add_placed_applications(cases);
  add_oceans(cases);
  // One experiment after the other, so that what is compared is measured at about the same time.
  std::stable_sort(cases.begin(), cases.end(),
                   [](const Case& a, const Case& b) { return a.experiment < b.experiment; });
  return cases;
}

std::vector<Case> matching(const std::vector<Case>& cases, const std::regex& filter) {
  std::vector<Case> chosen;
  for (const Case& each : cases) {
    if (std::regex_search(each.name(), filter)) chosen.push_back(each);
  }
  return chosen;
}

}  // namespace
}  // namespace benchmarks::allocators

int main(int argc, char** argv) {
  using namespace benchmarks::allocators;
  CLI::App app("Compares memory allocators on this machine's GPU or CPU.");
  app.option_defaults()->always_capture_default();
  Context context;
  std::string filter = ".";
  std::string json;
  std::string commit = "unknown";
  int time_limit = 60;
  bool list = false;
  app.add_option("--filter", filter,
                 "Regular expression that a case's name, EXPERIMENT/ALLOCATOR, must match a part of");
  app.add_flag("--list", list, "Only print the cases' names");
  app.add_flag("--smoke", context.smoke, "Small sizes that only show that everything works");
  app.add_option("--repetitions", context.repetitions, "Counted runs of each measurement")->check(CLI::Range(1, 1000));
  app.add_option("--time-limit", time_limit, "Seconds after which a case is stopped")->check(CLI::Range(1, 100000));
  app.add_option("--mesh", context.mesh, "OBJ file with the triangles of experiment k-d-tree, instead of made up ones")
      ->check(CLI::ExistingFile);
  app.add_option("--json", json, "File for the results");
  app.add_option("--commit", commit, "Commit that is measured, for the results");
  CLI11_PARSE(app, argc, argv);
  try {
    const std::vector<Case> cases = matching(all_cases(), std::regex(filter));
    if (cases.empty()) throw std::runtime_error("no case matches '" + filter + "'; --list prints all");
    if (list) {
      for (const Case& each : cases) fmt::print("{}\n", each.name());
      return 0;
    }
    // In a process of its own, like the cases: who has looked for a GPU must not fork.
    const Case probe{"device", "any", [](const Context&) {
                       if (!benchmarks::device_available()) throw std::runtime_error("there is no usable GPU");
                     }};
    Context probing = context;
    probing.add = [](const benchmarks::Record& record) { throw std::runtime_error(record.unit); };
    run_cases({probe}, probing, std::chrono::seconds(60));
    benchmarks::Report report(commit);
    context.add = [&report](benchmarks::Record record) { report.add(std::move(record)); };
    const int unfinished = run_cases(cases, context, std::chrono::seconds(time_limit));
    if (!json.empty()) report.write_json(json);
    fmt::print("{} cases, {} not finished\n", cases.size(), unfinished);
    // A slow allocator is a result; in a smoke test everything has to finish.
    return context.smoke && unfinished > 0 ? 1 : 0;
  } catch (const std::regex_error& error) {
    fmt::print(stderr, "dynasoar-allocator-benchmark: --filter '{}' is no regular expression: {}\n", filter,
               error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "dynasoar-allocator-benchmark: {}\n", error.what());
  }
  return 1;
}
