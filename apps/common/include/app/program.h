/// @file
/// Program: what a model adds to the command line, the loop over the steps and the files that all programs share.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <app/chart.h>
#include <app/picture.h>
#include <app/simulation.h>
#include <dynasoar/columns.h>

namespace CLI {
class App;
}

namespace app {

/// The options that all programs have.
struct RunOptions {
  int steps = 300;
  std::string variant;
  std::string baseline = "none";
  std::string allocator = "soa";  ///< of the variant's objects
  std::uint64_t heap_bytes = 0;   ///< for objects; 0: enough for the model
  int threads = 0;                ///< on the CPU; 0: one per processor
  std::string log;                ///< of the counts after each step; "none": not written; so are the next two
  std::string chart;
  std::string picture;
  std::string frames;          ///< folder; empty: no frames
  int every = 10;              ///< steps from one frame to the next
  std::string animation;       ///< file of such pictures; empty: none is written
  bool view = false;           ///< in a window
  std::string exported;        ///< file for objects, with its step in its name; empty: none is written
  int export_every = 10;       ///< steps from one such file to the next
  std::string checkpoint;      ///< file; empty: none is written
  int checkpoint_every = 100;  ///< steps from one checkpoint to the next
  std::string restore;         ///< checkpoint to go on from; empty: the run begins at the beginning
  bool quiet = false;
  int profile_every = 0;  ///< every n-th step is timed phase by phase; set by run_program
};

/// A column of the log, and a row of the summary.
struct Column {
  std::string name;
  bool is_count = true;  ///< a whole number
};

/// One value per column.
using Row = std::vector<double>;

/// What a program says about itself in `--help`.
struct ProgramTexts {
  std::string name;         ///< of the program, as typed
  std::string description;  ///< what it simulates and writes
  std::vector<std::string> variants;
  std::string variant_help;
  std::vector<std::string> allocators;
  std::vector<std::string> baselines;  ///< "none" first
  std::string log_help;
  std::string chart_help;
  std::string picture_help;
};

/// A file that an option names.
struct NamedFile {
  std::string option;
  std::string path;  ///< empty or "none": there is none
};

/// A model as a program. Its functions are called in the order in which they are listed.
class Program {
 public:
  Program(ProgramTexts texts, RunOptions defaults) : texts_(std::move(texts)), defaults_(std::move(defaults)) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  const ProgramTexts& texts() const { return texts_; }
  const RunOptions& defaults() const { return defaults_; }

  /// Adds the model's options.
  virtual void add_options(CLI::App& cli) = 0;

  /// Files that the model's options name, to be read or to be written by save_output().
  virtual std::vector<NamedFile> inputs() const { return {}; }
  virtual std::vector<NamedFile> outputs() const { return {}; }

  /// Reads input files and checks that all options go together. @throws UsageError if they do not
  virtual void check_options(RunOptions& options) = 0;

  /// "agents as objects, 1024 x 1024 cells": the implementation and the size.
  virtual std::string describe(const RunOptions& options) const = 0;

  virtual std::vector<Column> columns() const = 0;

  /// Makes the simulation, which lives as long as the program.
  virtual Simulation& start(const RunOptions& options) = 0;

  /// What Simulation::record() noted since the last call, oldest first.
  virtual std::vector<Row> take_history() = 0;

  /// Objects that a step handles in this state; the same for all implementations.
  virtual double objects(const Row& row) const { return row.front(); }

  /// The present state.
  virtual Picture picture() = 0;

  /// Where things are at the start. After start().
  virtual World world() const = 0;

  /// Of all random numbers.
  virtual std::uint64_t seed() const = 0;

  /// Adds the columns `x` and `y`, where objects are, if they have no field `position_` with these.
  virtual void place(dynasoar::Columns&) const {}

  virtual Chart chart(const std::vector<Row>& history) const = 0;

  /// Writes one of outputs(), after the last step. @throws std::exception if that fails
  virtual void save_output(const NamedFile&) {}

 private:
  ProgramTexts texts_;
  RunOptions defaults_;
};

/// The main function of a program: reads the options, simulates, writes the files and prints the summary.
///
/// @return the exit code, see error.h
int run_program(Program& program, int argc, const char* const* argv);

}  // namespace app
