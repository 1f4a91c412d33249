// mpirun -n 4 dynasoar-benchmark-ranks: what exchanging ghosts costs, and how Wa-Tor scales over GPUs.

#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "ranks.h"

int main(int argc, char** argv) {
  benchmarks::Settings settings;
  std::string commit = "unknown", json;
  std::vector<std::string> only = {"exchange", "wa_tor"};
  CLI::App app("Measures what the ranks of a model that several processes run together cost. Start it with mpirun.");
  app.add_option("--only", only, "Benchmarks to run: exchange, wa_tor")->check(CLI::IsMember({"exchange", "wa_tor"}));
  app.add_option("--repetitions", settings.repetitions, "Counted runs")->check(CLI::PositiveNumber);
  app.add_flag("--small", settings.small, "Sizes for a quick look on a CPU");
  app.add_option("--commit", commit, "Commit that is measured, for the results");
  app.add_option("--json", json, "File to which rank 0 writes the results");
  CLI11_PARSE(app, argc, argv);
  if (!benchmarks::device_available()) {
    std::puts("skipped: this is a CUDA build and there is no usable GPU");
    return 77;
  }
  try {
    const std::vector<benchmarks::Record> records = benchmarks::run_on_ranks(only, settings);
    if (records.empty()) return 0;  // not rank 0
    benchmarks::Report report(commit);
    for (const benchmarks::Record& record : records) report.add(record);
    if (!json.empty()) report.write_json(json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
