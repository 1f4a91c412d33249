// Explores the scenarios and prints a table.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "explore.h"

namespace {

using dynasoar::test::Entry;
using dynasoar::test::Outcome;
using dynasoar::test::Plan;
using dynasoar::test::Scheduler;

struct Options {
  std::vector<std::string> scenarios;  // all, if empty
  std::string scheduler;               // each scenario's own, if empty
  std::string json;
  std::uint64_t schedules = 0;  // each scenario's own, if 0
  std::uint64_t seed = 1;
  unsigned context_bound = 2;
  unsigned steps = 5000;
  double effort = 1;
  std::size_t trace = 60;  // lines
  bool stop = false;
  bool list = false;
};

[[noreturn]] void usage(int status) {
  std::fputs(
      "usage: relacy_block_heap [--scenario NAME]... [--schedules N] [--effort FACTOR] [--seed N]\n"
      "                         [--scheduler random|full|context-bound] [--context-bound N] [--steps N]\n"
      "                         [--trace LINES] [--json FILE] [--stop] [--list]\n"
      "Runs the block heap, its bitmaps and the occupancy of lattices under Relacy, a checker of relaxed memory.\n"
      "Without --schedules, each scenario is explored in its own number of schedules, times --effort.\n",
      status == 0 ? stdout : stderr);
  std::exit(status);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : (usage(2), ""); };
    if (name == "--scenario") {
      options.scenarios.push_back(value());
    } else if (name == "--schedules") {
      options.schedules = std::strtoull(value().c_str(), nullptr, 10);
    } else if (name == "--effort") {
      options.effort = std::strtod(value().c_str(), nullptr);
    } else if (name == "--seed") {
      options.seed = std::strtoull(value().c_str(), nullptr, 10);
    } else if (name == "--scheduler") {
      options.scheduler = value();
    } else if (name == "--context-bound") {
      options.context_bound = static_cast<unsigned>(std::strtoul(value().c_str(), nullptr, 10));
    } else if (name == "--steps") {
      options.steps = static_cast<unsigned>(std::strtoul(value().c_str(), nullptr, 10));
    } else if (name == "--trace") {
      options.trace = std::strtoull(value().c_str(), nullptr, 10);
    } else if (name == "--json") {
      options.json = value();
    } else if (name == "--stop") {
      options.stop = true;
    } else if (name == "--list") {
      options.list = true;
    } else {
      usage(name == "--help" ? 0 : 2);
    }
  }
  return options;
}

const char* name_of(Scheduler scheduler) {
  switch (scheduler) {
    case Scheduler::random: return "random";
    case Scheduler::full: return "full";
    case Scheduler::context_bound: break;
  }
  return "context-bound";
}

Scheduler scheduler_named(const std::string& name) {
  if (name == "random") return Scheduler::random;
  if (name == "full") return Scheduler::full;
  if (name == "context-bound") return Scheduler::context_bound;
  usage(2);
}

Plan plan_for(const Entry& entry, const Options& options) {
  Plan plan{entry.scheduler, entry.schedules, options.seed, options.context_bound, options.steps};
  if (!options.scheduler.empty()) plan.scheduler = scheduler_named(options.scheduler);
  plan.schedules = static_cast<std::uint64_t>(static_cast<double>(plan.schedules) * options.effort);
  if (options.schedules != 0) plan.schedules = options.schedules;
  if (plan.schedules == 0) plan.schedules = 1;
  return plan;
}

std::vector<Entry> chosen_entries(const Options& options) {
  std::vector<Entry> all = dynasoar::test::bitmap_scenarios();
  for (const auto& more : {dynasoar::test::block_heap_scenarios(), dynasoar::test::occupancy_scenarios()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  if (options.scenarios.empty()) return all;
  std::vector<Entry> chosen;
  for (const std::string& name : options.scenarios) {
    bool known = false;
    for (const Entry& entry : all) {
      if (entry.name == name) chosen.push_back(entry), known = true;
    }
    if (!known) std::cerr << "no scenario is named " << name << '\n', std::exit(2);
  }
  return chosen;
}

/// The last events before the failure; Relacy then repeats all of them thread by thread.
std::string last_events(const std::string& trace, std::size_t most) {
  std::vector<std::string> lines;
  std::istringstream in(trace.substr(0, trace.find("\nthread 0:")));
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  std::string text;
  const std::size_t first = lines.size() > most ? lines.size() - most : 0;
  if (first != 0) text += "  (" + std::to_string(first) + " earlier lines left out)\n";
  for (std::size_t i = first; i < lines.size(); ++i) text += "  " + lines[i] + '\n';
  return text;
}

void print_header() {
  std::printf("%-32s %7s  %-13s %10s  %-8s %8s  %s\n", "scenario", "threads", "scheduler", "schedules", "explored",
              "seconds", "result");
}

void print(const Entry& entry, const Plan& plan, const Outcome& outcome, std::size_t trace) {
  std::printf("%-32s %7d  %-13s %10llu  %-8s %8.2f  %s\n", entry.name.c_str(), entry.threads, name_of(plan.scheduler),
              static_cast<unsigned long long>(outcome.schedules), outcome.all ? "all" : "some", outcome.seconds,
              outcome.error.empty() ? "passed" : outcome.error.c_str());
  if (!outcome.error.empty()) std::printf("%s", last_events(outcome.trace, trace).c_str());
  std::fflush(stdout);
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + '"';
}

std::string json_of(const Entry& entry, const Plan& plan, const Outcome& outcome) {
  std::ostringstream out;
  out << "  {\"scenario\": " << quoted(entry.name) << ", \"about\": " << quoted(entry.about)
      << ", \"threads\": " << entry.threads << ", \"scheduler\": " << quoted(name_of(plan.scheduler))
      << ", \"seed\": " << plan.seed << ", \"schedules\": " << outcome.schedules
      << ", \"all\": " << (outcome.all ? "true" : "false") << ", \"seconds\": " << outcome.seconds
      << ", \"error\": " << quoted(outcome.error) << "}";
  return out.str();
}

void list(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) {
    std::printf("%-32s %d threads, %s: %s\n", entry.name.c_str(), entry.threads, name_of(entry.scheduler),
                entry.about.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const std::vector<Entry> entries = chosen_entries(options);
  if (options.list) return list(entries), 0;
  print_header();
  bool failed = false;
  std::string json;
  for (const Entry& entry : entries) {
    const Plan plan = plan_for(entry, options);
    const Outcome outcome = dynasoar::test::explore(entry, plan);
    print(entry, plan, outcome, options.trace);
    json += (json.empty() ? "" : ",\n") + json_of(entry, plan, outcome);
    failed = failed || !outcome.error.empty();
    if (failed && options.stop) break;
  }
  if (!options.json.empty()) std::ofstream(options.json) << "[\n" << json << "\n]\n";
  return failed ? 1 : 0;
}
