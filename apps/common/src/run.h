/// @file
/// Run: one simulation from its first step to its files. Used by run_program.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <app/animation.h>
#include <app/export.h>
#include <app/program.h>
#include <app/progress.h>
#include <app/step_log.h>
#include <app/summary.h>
#include <app/view.h>

namespace app {

class Run {
 public:
  /// Checks that all outputs can be written. @throws UsageError if not
  Run(Program& program, const RunOptions& options);

  /// Simulates until the end or an interrupt, and writes the frames and the CSV file's rows meanwhile.
  ///
  /// @throws HeapTooSmall, dynasoar::Error
  void simulate();

  /// Writes the files that show what was simulated, the present state only if it is valid.
  void write_results(bool state_is_valid);

  /// The table at the end, and the files that were written.
  void print_summary();
  void print_files() const;

  /// Whether the state before the first step is known to be complete.
  bool has_started() const { return !history_.empty(); }

  /// Whether the user closed the window before the last step.
  bool was_closed() const { return was_closed_; }

  /// Steps whose results are known to be complete.
  int completed_steps() const { return completed_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool check_due(int step) const;
  void check(int step);
  void start();
  void open_log();
  void restore();
  void write_checkpoint(int step);
  bool frame_due(int step) const;
  bool export_due(int step) const;
  bool goes_on(int step);
  void write_frames_if_due(int step);
  void add_times(Summary& summary);

  Program& program_;
  const RunOptions& options_;
  std::vector<Column> columns_;
  std::optional<StepLog> log_;
  std::optional<Exporter> exporter_;
  std::optional<Animation> animation_;
  std::optional<View> view_;
  Simulation* simulation_ = nullptr;
  std::optional<Progress> progress_;
  std::vector<Row> history_;
  std::vector<std::string> files_;
  std::uint64_t frames_ = 0;
  double objects_ = 0;
  int first_ = 0;  // steps that were made before this run
  int completed_ = 0;
  bool was_closed_ = false;
  int saved_ = -1;  // step of the last checkpoint
  Clock::time_point last_check_ = Clock::now();
  Clock::duration simulation_time_{};
};

}  // namespace app
