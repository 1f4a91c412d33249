/// @file
/// Run: one simulation from its first step to its files, as the program wa-tor does it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <app/csv.h>
#include <app/progress.h>
#include <app/summary.h>

#include "command_line.h"
#include "simulation.h"

namespace wa_tor {

class Run {
 public:
  /// Checks that all outputs can be written. @throws app::UsageError if not
  explicit Run(const CommandLine& options);

  /// Simulates until the end or an interrupt, and writes the frames and the CSV file's rows meanwhile.
  ///
  /// @throws HeapTooSmall, dynasoar::Error
  void simulate();

  /// Writes the files that show what was simulated, the ocean only if it is valid.
  void write_results(bool ocean_is_valid);

  /// The table at the end, and the files that were written.
  void print_summary();
  void print_files() const;

  /// Steps whose results are known to be complete.
  int completed_steps() const { return completed_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool check_due(int step) const;
  void check(int step);
  bool frame_due(int step) const;
  void write_frame_if_due(int step);
  void add_times(app::Summary& summary);

  const CommandLine& options_;
  std::optional<app::CsvFile> csv_;
  std::unique_ptr<Simulation> simulation_;
  std::optional<app::Progress> progress_;
  std::vector<Population> history_;
  std::vector<std::string> files_;
  std::uint64_t frames_ = 0;
  std::uint64_t objects_ = 0;
  int completed_ = 0;
  Clock::time_point last_check_ = Clock::now();
  Clock::duration simulation_time_{};
};

/// What runs where, in one line.
std::string describe(const CommandLine& options);

}  // namespace wa_tor
