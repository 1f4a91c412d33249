/// @file
/// Display: the interface of anything that shows a run in addition to its log, such as pictures, charts or a window.
/// The library has no implementation. You can write one with a graphics library of your choice, and pass it to
/// run_program.
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
  std::string option;  ///< the option that asks for them
  std::filesystem::path folder;
  std::string stem;
  std::string ending;
  std::uint64_t every;        ///< there is a file for every n-th step, and one for the start
  std::uint64_t steps;        ///< of the whole run
  bool makes_folder = false;  ///< whether to make the folder if it is missing

  /// The file of a step.
  std::string file_of(std::uint64_t step) const;

  std::string first() const { return file_of(0); }
  std::string last() const { return file_of(steps - steps % every); }

  /// The step whose file has this name, if there is one.
  std::optional<std::uint64_t> step_of(const std::string& name) const;
};

/// Writes an output of an option. If this fails, the error is reported and does not end the run.
/// @return whether it was written
using Attempt = std::function<bool(const std::string& option, const std::function<void()>& write)>;

/// Shows a run. Its functions are called in the order in which they are listed; show() and wait() are called for every
/// step.
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

  /// Acquires its resources, once all outputs have been checked. @throws UsageError
  virtual void open() {}

  /// The option that shows objects, if it was given; otherwise empty. The simulation must then have objects.
  virtual std::string option_for_objects() const { return {}; }

  /// Called when the simulation has been made, before the first step of this run. The arguments live as long as the
  /// run.
  virtual void start(Simulation& simulation, int steps, Attempt attempt) = 0;

  /// Whether the state after this step is needed.
  virtual bool due(int step) const = 0;

  /// Shows the state after this step, if it is due.
  virtual void show(int step) = 0;

  /// Waits until it is time for the next step. @return false if the user ends the run
  virtual bool wait(int) { return true; }

  /// Writes outputs(). @return texts for the list of written files, as finish() does
  virtual std::vector<std::string> write_results(const std::vector<Row>& history, bool state_is_valid) = 0;

  /// Called after all other outputs have been written.
  virtual std::vector<std::string> finish() { return {}; }
};

}  // namespace dynasoar::program
