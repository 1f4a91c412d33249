/// @file
/// Run: one simulation from its first step to its files. Used by run_program.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/program/display.h>
#include "export.h"
#include "log_file.h"
#include "progress.h"
#include "summary.h"

#include "losses.h"

namespace dynasoar::program {

class Run {
 public:
  /// Checks that all outputs can be written. All ranks make a Run, and call its functions; the first writes files.
  /// @throws UsageError if not
  Run(Program& program, const RunOptions& options, Display* display);

  /// Simulates until the end or an interrupt. Shows the run, and writes the rows of the log and the checkpoints. If an
  /// output cannot be written, the run goes on, see losses().
  ///
  /// @throws HeapTooSmall, dynasoar::Error, after a checkpoint if the state is valid
  void simulate();

  /// Writes the result files; those of the current state only if it is valid.
  void write_results(bool state_is_valid);

  /// Prints to standard output. Text that cannot be printed counts as a loss.
  void print(std::string_view text);

  /// Prints the table at the end, and the list of written files.
  void print_summary();
  void print_files();

  /// Whether the run has reached its first step.
  bool has_started() const { return has_started_; }

  /// The outputs that were not written.
  const Losses& losses() const { return losses_; }

  /// The results of a run that failed: "results are valid up to step 7, the checkpoint is of step 5".
  std::string what_is_valid() const;

  /// Whether the user closed the window before the last step.
  bool was_closed() const { return was_closed_; }

  /// The number of steps with results that are known to be complete.
  int completed_steps() const { return completed_; }

 private:
  using Clock = std::chrono::steady_clock;

  class KeptAtExit;

  void make_steps();
  void save_last_state();
  bool check_due(int step) const;
  void check(int step);
  void flush_log();
  void start();
  void open_log();
  void restore();
  void write_checkpoint(int step);
  bool export_due(int step) const;
  bool goes_on(int step);
  bool any_rank(bool mine) const;
  void show_if_due(int step);
  void export_objects(int step);
  void note_exports();
  void finish_log();
  void add_files(const std::vector<std::string>& files);
  bool attempt(const std::string& output, const std::function<void()>& write);
  void add_times(Summary& summary);

  Program& program_;
  const RunOptions& options_;
  Display* display_;
  std::vector<Column> columns_;
  Losses losses_;
  std::optional<LogFile> log_;
  std::optional<Exporter> exporter_;
  Simulation* simulation_ = nullptr;
  std::optional<Progress> progress_;
  std::vector<Row> history_;
  std::vector<std::string> files_;
  std::uint64_t exported_ = 0;  // number of files that are known to be written
  double objects_ = 0;
  int first_ = 0;  // number of steps before this run
  int completed_ = 0;
  bool has_started_ = false;
  bool is_valid_ = false;  // whether the state up to completed_ is valid
  bool was_closed_ = false;
  int saved_ = -1;  // step of the last checkpoint
  Clock::time_point last_check_ = Clock::now();
  Clock::duration simulation_time_{};
};

}  // namespace dynasoar::program
