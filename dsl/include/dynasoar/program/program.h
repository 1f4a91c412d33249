/// @file
/// Program: what a model adds to the command line, the loop over the steps and the files that all programs share;
/// run_program, which is the rest. Programs of your own derive from ModelProgram (model_program.h), see
/// docs/how-to/own-program.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/columns.h>
#include <dynasoar/program/simulation.h>

namespace CLI {
class App;
}

namespace dynasoar::program {

class Display;

/// The options that all programs have, beside those in RunParameters.
struct RunOptions : RunParameters {
  int steps = 300;
  std::string variant;
  std::string baseline = "none";
  std::string log;             ///< of the counts after each step; empty or "none": not written
  std::string exported;        ///< file for objects, with its step in its name; empty: none is written
  int export_every = 10;       ///< steps from one such file to the next
  std::string checkpoint;      ///< file; empty: none is written
  int checkpoint_every = 100;  ///< steps from one checkpoint to the next
  std::string restore;         ///< checkpoint to go on from; empty: the run begins at the beginning
  bool quiet = false;
  bool shows_objects = false;  ///< objects and their places are asked for; set by run_program
};

/// A column of the log, and a row of the summary.
struct Column {
  std::string name;
  bool is_count = true;  ///< a whole number
};

/// One value per column.
using Row = std::vector<double>;

/// A file that every run writes, unless its option says otherwise.
struct DefaultFile {
  std::string path;
  std::string help;
};

/// What a program is called, says about itself in `--help`, and does unless its options say otherwise.
struct Description {
  std::string name = {};                     ///< as typed
  std::string text = {};                     ///< what it simulates and writes
  std::string variant_help = {};             ///< empty: there is no --variant
  std::string variant = {};                  ///< default; empty: the first
  std::vector<std::string> allocators = {};  ///< that it was compiled for; empty: there is no --allocator
  int steps = 300;
  DefaultFile log = {};
  std::vector<Column> columns = {};  ///< of the log
  std::size_t object_columns = 1;    ///< so many columns, the first, add up to the objects that a step handles
};

/// A file that an option names.
struct NamedFile {
  std::string option;
  std::string path;  ///< empty or "none": there is none
};

/// Whether an option names a file, and not none.
bool wanted(const std::string& path);

/// A model as a program. Its functions are called in the order in which they are listed. Programs derive from
/// ModelProgram, which has all that does not depend on the model.
class Program {
 public:
  explicit Program(Description description) : description_(std::move(description)) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  const Description& description() const { return description_; }

  /// The values of --variant, and of --baseline beside "none".
  virtual std::vector<std::string> variants() const = 0;
  virtual std::vector<std::string> baselines() const = 0;

  /// Adds the model's options, among them add_seed().
  virtual void add_options(CLI::App& cli) = 0;

  /// Files that the model's options name, to be read or to be written by save_output().
  virtual std::vector<NamedFile> inputs() const { return {}; }
  virtual std::vector<NamedFile> outputs() const { return {}; }

  /// Reads input files and checks that all options go together. @throws UsageError if they do not
  virtual void check_options(RunOptions&) {}

  /// "agents as objects": what the options choose.
  virtual std::string implementation(const RunOptions& options) const = 0;

  /// "1024 x 1024 cells".
  virtual std::string size() const = 0;

  /// Makes the simulation, which lives as long as the program.
  virtual Simulation& start(const RunOptions& options) = 0;

  /// What Simulation::record() noted since the last call, oldest first.
  virtual std::vector<Row> take_history() = 0;

  /// Objects that a step handles in this state; the same for all implementations.
  double objects(const Row& row) const;

  /// Of all random numbers. After add_seed().
  std::uint64_t seed() const { return *seed_; }

  /// Adds the columns `x` and `y`, where objects are, if they have no field `position_` with these.
  virtual void place(dynasoar::Columns&) const {}

  /// Writes one of outputs(), after the last step. @throws std::exception if that fails
  virtual void save_output(const NamedFile&) {}

 protected:
  /// Adds --seed. @param seed   lives as long as the program
  void add_seed(CLI::App& cli, std::uint64_t& seed,
                const std::string& help = "Seed of all random numbers: the same seed, the same run");

 private:
  Description description_;
  const std::uint64_t* seed_ = nullptr;
};

/// The main function of a program: reads the options, simulates, writes the files and prints the summary.
///
/// @param display   what else shows the run; null: nothing
/// @return          the exit code, see error.h
int run_program(Program& program, int argc, const char* const* argv, Display* display = nullptr);

}  // namespace dynasoar::program
