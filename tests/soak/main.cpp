// The soak test's command line and reports; see soak.h.
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>
#include <interrupt.h>
#include <program/device.h>
#include <program/option_values.h>

#include "soak.h"

namespace program = dynasoar::program;

namespace {

constexpr int kExitSkipped = 77;  // known to ctest

struct CommandLine {
  soak::Options options;
  int seconds = 0;
  int report_every = 5;
  int patience = 120;
  std::string json;
};

// A whole number such as 1000000, 1e6, 2.5e9 or 200M.
std::optional<std::uint64_t> parse_count(const std::string& text) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return std::nullopt;
  const std::string unit = end;
  if (unit == "k")
    value *= 1e3;
  else if (unit == "M")
    value *= 1e6;
  else if (unit == "G")
    value *= 1e9;
  else if (!unit.empty())
    return std::nullopt;
  if (!(value >= 0 && value <= 1e18) || value != std::floor(value)) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

void add_count(CLI::App& cli, const std::string& name, std::uint64_t& value, const std::string& help,
               const std::string& default_text) {
  const auto assign = [&value, name](const CLI::results_t& texts) {
    const std::optional<std::uint64_t> count = parse_count(texts.back());
    if (!count)
      throw CLI::ValidationError(name, fmt::format("must be a number such as 1e9 or 200M, not '{}'", texts.back()));
    value = *count;
    return true;
  };
  cli.add_option(name, assign, help)->type_name("N")->default_str(default_text);
}

std::optional<int> read(int argc, char** argv, CommandLine& line) {
  constexpr int kMaxInt = std::numeric_limits<int>::max();
  line.options.seed = std::random_device{}();
  CLI::App cli;
  cli.name("soak");
  program::set_up(
      cli,
      "Creates, deletes, exchanges and visits objects of six classes at random, in a heap that is full most of "
      "the time,\nand checks that no object is lost and no slot handed out twice.");
  cli.footer(
      "Runs until the first limit is reached; without limits, for 10 seconds.\n"
      "Exit codes: 0 no error found, 1 errors found or failed, 2 wrong option, 77 no GPU, 130 interrupted.");
  add_count(cli, "--operations", line.options.operations, "Operations of all workers together; 0: no limit", "0");
  program::add_integer(cli, "--seconds", line.seconds, 0, kMaxInt, "Seconds; 0: no limit");
  program::add_unsigned(cli, "--seed", line.options.seed, "Seed of all random numbers")->default_str("a new one");
  program::add_size(cli, "--heap", line.options.heap_bytes, "Memory for objects", "1GiB on a GPU, 16MiB on the CPU");
  add_count(cli, "--workers", line.options.workers, "Each has up to 32 objects", "one per 816 bytes of heap");
  program::add_integer(cli, "--threads", line.options.threads, 0, 4096, "Threads on the CPU; 0: one per processor");
  program::add_integer(cli, "--report-every", line.report_every, 0, kMaxInt, "Seconds between lines; 0: none");
  program::add_integer(cli, "--patience", line.patience, 1, kMaxInt, "Seconds after which a round counts as hanging");
  program::add_path(cli, "--json", line.json, "FILE", "The result for machines");
  const std::optional<int> exit_code = program::parse(cli, argc, argv);
  if (!exit_code) {
    if (line.options.operations == 0 && line.seconds == 0) line.seconds = 10;
    if (line.options.workers > 0xffffffffu / 32) throw program::UsageError("--workers: too many (see --help)");
    line.options.seconds = line.seconds;
    if (!line.json.empty()) program::require_writable_file(line.json);
  }
  return exit_code;
}

void print_line(const soak::State& state) {
  const soak::Totals& totals = state.totals;
  fmt::print(
      "{:>7.1f} s  {:<16}  {:>8} operations ({}/s)  {:>8} objects in {:>5.1f}% "
      "of the heap, {:>5.1f}% of that filled  refused {} full, {} "
      "contended  errors {}\n",
      state.seconds, state.phase, program::si(static_cast<double>(totals.operations())),
      program::si(static_cast<double>(totals.operations()) / state.seconds),
      program::si(static_cast<double>(state.live)), 100 * state.used,
      state.used > 0 ? 100 * state.filled / state.used : 0.0, program::si(static_cast<double>(totals.refused_full)),
      totals.refused_contended, totals.errors());
  std::fflush(stdout);
}

struct NamedTotal {
  const char* name;  // for people
  const char* key;   // for machines
  std::uint64_t soak::Totals::*value;
};
constexpr NamedTotal kTotals[] = {
    {"  created", "created", &soak::Totals::created},
    {"  destroyed", "destroyed", &soak::Totals::destroyed},
    {"  exchanged", "exchanged", &soak::Totals::exchanged},
    {"  checked", "checked", &soak::Totals::checked},
    {"  refused, heap full", "refused_full", &soak::Totals::refused_full},
    {"  refused, contended", "refused_contended", &soak::Totals::refused_contended},
    {"objects visited by loops", "visited", &soak::Totals::visited},
    {"verifications", "verifications", &soak::Totals::verifications},
    {"slots handed out twice", "doubled", &soak::Totals::doubled},
    {"objects lost", "lost", &soak::Totals::lost},
    {"objects left over", "left_over", &soak::Totals::left_over},
    {"objects damaged", "damaged", &soak::Totals::damaged},
    {"objects of a wrong class", "wrong_class", &soak::Totals::wrong},
    {"counts wrong", "miscounted", &soak::Totals::miscounted},
};

void print_result(const soak::State& state) {
  const auto operations = static_cast<double>(state.totals.operations());
  const auto row = [](const char* name, std::uint64_t value) {
    fmt::print("{:<28}{:>22}\n", name, program::grouped(value));
  };
  row("operations", state.totals.operations());
  for (const NamedTotal& total : kTotals) row(total.name, state.totals.*total.value);
  fmt::print("{} in {}: {} operations per second\n", program::si(operations), program::duration(state.seconds),
             program::si(operations / state.seconds));
}

void write_json(const std::string& path, const soak::State& state, const CommandLine& line, const std::string& device) {
  std::string text = fmt::format(
      "{{\n  \"device\": \"{}\",\n  \"seed\": {},\n  \"heap_bytes\": {},\n  \"workers\": {},\n  \"seconds\": {:.3f},\n"
      "  \"operations\": {},\n  \"operations_per_second\": {:.0f}",
      device, line.options.seed, state.heap_bytes, state.workers, state.seconds, state.totals.operations(),
      static_cast<double>(state.totals.operations()) / state.seconds);
  for (const NamedTotal& total : kTotals) text += fmt::format(",\n  \"{}\": {}", total.key, state.totals.*total.value);
  dynasoar::write_file(path, text + "\n}\n");
}

// Ends the program if nothing has happened for a while: in a damaged heap, threads may wait for each other for ever.
class Watchdog {
 public:
  explicit Watchdog(int patience) : thread_([this, patience](std::stop_token stop) { watch(stop, patience); }) {}
  void alive() { ++signs_of_life_; }

 private:
  void watch(std::stop_token stop, int patience) const {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    std::uint64_t before = signs_of_life_;
    for (int seconds = 0; !stop.stop_requested(); ++seconds) {
      // There is no notification: it ends by the request to stop, or after a second.
      wake.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
      if (std::exchange(before, signs_of_life_) != before) seconds = 0;
      if (seconds < patience) continue;
      std::fprintf(stderr, "soak: FAILED: nothing has happened for %d s, as if the heap were damaged\n", patience);
      std::_Exit(program::kExitFailure);
    }
  }

  std::atomic<std::uint64_t> signs_of_life_ = 0;
  std::jthread thread_;
};

int run(const CommandLine& line) {
  const std::string device = program::device_description(line.options.threads);
  fmt::print("on {}, seed {}\n", device, line.options.seed);
  std::fflush(stdout);
  double next = line.report_every;
  Watchdog watchdog(line.patience);
  const soak::State state = soak::run(line.options, [&](double seconds, const auto& describe) {
    watchdog.alive();
    if (line.report_every > 0 && seconds >= next) {
      print_line(describe());
      next = seconds + line.report_every;
    }
    return !dynasoar::detail::interrupted();
  });
  print_result(state);
  if (!line.json.empty()) write_json(line.json, state, line, device);
  if (state.totals.errors() != 0) {
    fmt::print("FAILED: {} errors; repeat with --seed {}\n", state.totals.errors(), line.options.seed);
    return program::kExitFailure;
  }
  if (state.totals.visited == 0 && !dynasoar::detail::interrupted()) {
    fmt::print("FAILED: no loop saw an object, so nothing was checked\n");
    return program::kExitFailure;
  }
  fmt::print("lost 0, double 0\n");
  return dynasoar::detail::interrupted() ? program::kExitInterrupted : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CommandLine line;
    if (const std::optional<int> exit_code = read(argc, argv, line)) return *exit_code;
    if (!program::device_available()) {
      std::puts("skipped: this is a CUDA build and there is no usable GPU");
      return kExitSkipped;
    }
    dynasoar::detail::catch_interrupts();
    return run(line);
  } catch (const program::UsageError& error) {
    fmt::print(stderr, "soak: {}\n", error.what());
    return program::kExitUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "soak: {}\n", error.what());
    return program::kExitFailure;
  }
}
