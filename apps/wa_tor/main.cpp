/// @file
/// The program wa-tor: runs a simulation and turns whatever happens into files, one line and an exit code.

#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <app/device.h>
#include <app/error.h>
#include <app/format.h>
#include <app/interrupt.h>

#include "command_line.h"
#include "run.h"
#include "simulation.h"

namespace wa_tor {
namespace {

int fail(int exit_code, const std::string& message) {
  fmt::print(stderr, "wa-tor: {}\n", message);
  return exit_code;
}

// A size for --heap, rounded up to what is easy to type.
std::string heap_option(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  return fmt::format("--heap {}MiB", (bytes + kMiB - 1) / kMiB);
}

int report_small_heap(const HeapTooSmall& error, Run& run, bool quiet) {
  run.write_results(false);
  if (!quiet) run.print_files();
  std::fflush(stdout);
  const std::string advice = error.needed_bytes() > 0 ? "; run again with " + heap_option(error.needed_bytes()) : "";
  return fail(app::kExitHeapTooSmall,
              fmt::format("{} (results are valid up to step {}){}", error.what(), run.completed_steps(), advice));
}

int simulate(const CommandLine& options) {
  if (!app::device_available()) {
    return fail(app::kExitFailure, "no GPU is available, and this program was built to run on one");
  }
  Run run(options);
  if (!options.quiet) {
    fmt::print("{}\n", describe(options));
    std::fflush(stdout);
  }
  app::catch_interrupts();
  try {
    run.simulate();
  } catch (const HeapTooSmall& error) {
    return report_small_heap(error, run, options.quiet);
  }
  run.write_results(true);
  if (!options.quiet) {
    run.print_summary();
    run.print_files();
    std::fflush(stdout);
  }
  if (run.completed_steps() < options.steps) {
    return fail(app::kExitInterrupted,
                fmt::format("interrupted after step {} of {}", run.completed_steps(), options.steps));
  }
  return 0;
}

}  // namespace
}  // namespace wa_tor

int main(int argc, char** argv) {
  using wa_tor::fail;
  try {
    wa_tor::CommandLine options;
    const std::optional<int> exit_code = wa_tor::read_command_line(argc, argv, options);
    return exit_code ? *exit_code : wa_tor::simulate(options);
  } catch (const app::UsageError& error) {
    return fail(app::kExitUsage, error.what());
  } catch (const std::bad_alloc&) {
    return fail(app::kExitFailure, "the host has not enough memory for an ocean of this size");
  } catch (const std::exception& error) {
    return fail(app::kExitFailure, error.what());
  }
}
