/// @file
/// Display: what shows a run beside its log, such as pictures, charts or a window. The library has none; run_program
/// takes one that draws with libraries of its choice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <dynasoar/program/program.h>

namespace dynasoar::program {

/// The names of files that are written in some steps, such as frame-000010.png.
struct NumberedFiles {
  std::string option;  ///< that asks for them
  std::filesystem::path folder;
  std::string stem;
  std::string ending;
  std::uint64_t every;        ///< n-th step there is one, and at the start
  std::uint64_t steps;        ///< of the whole run
  bool makes_folder = false;  ///< whether the folder is made if it is missing

  /// The file of a step.
  std::string file_of(std::uint64_t step) const;

  std::string first() const { return file_of(0); }
  std::string last() const { return file_of(steps - steps % every); }

  /// The step whose file has this name, if there is one.
  std::optional<std::uint64_t> step_of(const std::string& name) const;
};

/// Writes an output of an option. What keeps it from being written is reported and does not end the run.
/// @return whether it was written
using Attempt = std::function<bool(const std::string& option, const std::function<void()>& write)>;

/// Its functions are called in the order in which they are listed, show() and wait() for every step.
class Display {
 public:
  Display() = default;
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  virtual ~Display() = default;

  virtual void add_options(CLI::App& cli) = 0;

  /// Checks the options. @throws UsageError
  virtual void prepare() {}

  /// Files that are written at the end.
  virtual std::vector<NamedFile> outputs() const { return {}; }

  /// Files that are written during the run.
  virtual std::vector<NumberedFiles> numbered_files(std::uint64_t steps) const = 0;

  /// Acquires what it needs, once all outputs are known to be good. @throws UsageError
  virtual void open() {}

  /// The option that shows objects, if it was given: the simulation must have them.
  virtual std::string option_for_objects() const { return {}; }

  /// The simulation is made, but no step of this run. The arguments live as long as the run.
  virtual void start(Simulation& simulation, int steps, Attempt attempt) = 0;

  /// Whether the state after this step is needed.
  virtual bool due(int step) const = 0;

  /// The state after this step is valid, if it is due.
  virtual void show(int step) = 0;

  /// Waits until the next step is to be made. @return false if the user ends the run
  virtual bool wait(int) { return true; }

  /// Writes outputs(). @return for the list of written files, as is what finish() returns
  virtual std::vector<std::string> write_results(const std::vector<Row>& history, bool state_is_valid) = 0;

  /// After all other outputs.
  virtual std::vector<std::string> finish() { return {}; }
};

}  // namespace dynasoar::program
