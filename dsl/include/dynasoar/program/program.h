/// @file
/// Program: the interface through which a model supplies its options, its simulation and its outputs. ModelProgram: the
/// base class for such programs. run_program: reads the command line, runs the steps and writes the files. all_ranks:
/// for runs of several processes. See docs/how-to/own-program.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/columns.h>
#include <dynasoar/program/options.h>
#include <dynasoar/program/simulation.h>

namespace dynasoar::detail {

/// The type of a simulation's records: the elements of the result of its take_history() or, without such a function,
/// Row.
template <class SimulationT>
struct RecordOf {
  using type = program::Row;
};
template <class SimulationT>
requires requires(SimulationT& simulation) {
  simulation.take_history();
}
struct RecordOf<SimulationT> {
  using type = typename decltype(std::declval<SimulationT&>().take_history())::value_type;
};

}  // namespace dynasoar::detail

namespace dynasoar::program {

class Display;

/// The options that all programs have, in addition to those in RunParameters.
struct RunOptions : RunParameters {
  int steps = 300;
  std::string variant;
  std::string baseline = "none";
  std::string transport = "auto";  ///< of the rows that ranks exchange: "auto", or the name of a Transport
  std::string log;                 ///< file for the counts after each step; empty or "none": not written
  std::string exported;            ///< file for objects, with its step in its name; empty: none is written
  int export_every = 10;           ///< steps from one such file to the next
  std::string checkpoint;          ///< file; empty: none is written
  int checkpoint_every = 100;      ///< steps from one checkpoint to the next
  std::string restore;             ///< checkpoint from which to continue; empty: the run starts at step 0
  bool quiet = false;
  bool shows_objects = false;  ///< whether objects and their places are needed; set by run_program
};

/// A file that every run writes, unless its option is set to none.
struct DefaultFile {
  std::string path;
  std::string help;
};

/// The processes that `mpirun`, `srun` or another launcher has started; null if this process was started alone. Needs
/// the target dynasoar::distributed.
/// @throws CommunicatorError if the processes do not find each other
std::unique_ptr<Ranks> all_ranks();

/// The name of a program, its text in `--help`, and its defaults.
struct Description {
  std::string name = {};                     ///< as typed on the command line
  std::string text = {};                     ///< what it simulates and writes
  std::string variant_help = {};             ///< empty: there is no --variant
  std::string variant = {};                  ///< default; empty: the first
  std::vector<std::string> allocators = {};  ///< those for which it was compiled; empty: there is no --allocator
  int steps = 300;
  DefaultFile log = {};
  std::vector<Column> columns = {};  ///< of the log, one for each value of a row; empty: those of the simulation
  std::size_t object_columns = 1;    ///< number of first columns that add up to the objects of a step
  std::unique_ptr<Ranks> (*ranks)() = nullptr;  ///< all_ranks, if several processes can share a run
};

/// A file that an option names.
struct NamedFile {
  std::string option;
  std::string path;  ///< empty or "none": there is none
};

/// Whether an option names a file: its value is neither empty nor "none".
bool wanted(const std::string& path);

/// A model as a program. Its functions are called in the order in which they are listed. Derive your programs from
/// ModelProgram, which has the parts that do not depend on the model.
class Program {
 public:
  explicit Program(Description description) : description_(std::move(description)) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  const Description& description() const { return description_; }

  /// The values of --variant, and those of --baseline in addition to "none".
  virtual std::vector<std::string> variants() const = 0;
  virtual std::vector<std::string> baselines() const = 0;

  /// Adds the model's options, among them add_seed().
  virtual void add_options(CLI::App& cli) = 0;

  /// Files that the model's options name, to be read or to be written by save_output().
  virtual std::vector<NamedFile> inputs() const { return {}; }
  virtual std::vector<NamedFile> outputs() const { return {}; }

  /// Reads input files and checks that the options fit each other. @throws UsageError if they do not
  virtual void check_options(RunOptions&) {}

  /// The reason why several processes cannot share a run with these options, and what the user can do instead: "--edge
  /// grow is for one process: take --edge torus". Empty if they can.
  virtual std::string why_not_on_ranks(const RunOptions&) const { return {}; }

  /// The implementation that the options choose: "agents as objects".
  virtual std::string implementation(const RunOptions& options) const = 0;

  /// The size of the model: "1024 x 1024 cells".
  virtual std::string size() const = 0;

  /// Makes the simulation, which lives as long as the program.
  virtual Simulation& start(const RunOptions& options) = 0;

  /// The columns of the log. Called once the simulation has been made.
  virtual std::vector<Column> columns() const { return description_.columns; }

  /// The rows that Simulation::record() noted since the last call, oldest first.
  virtual std::vector<Row> take_history() = 0;

  /// The number of objects that a step handles in this state. It is the same for all implementations.
  double objects(const Row& row) const;

  /// The seed of all random numbers. @pre add_seed() has been called
  std::uint64_t seed() const { return *seed_; }

  /// Adds the columns `x` and `y` with the positions of objects, if these have no field `position_` with x and y.
  virtual void place(dynasoar::Columns&) const {}

  /// Writes one of outputs(), after the last step. If there are several ranks, all call it, and rank 0 writes.
  /// @throws std::exception if that fails
  virtual void save_output(const NamedFile&) {}

  /// Whether this process writes files and prints: the only one, or rank 0.
  bool is_first_rank() const { return ranks_ == nullptr || ranks_->rank() == 0; }

  /// For run_program: finds the processes that share the run. The result lives as long as the program.
  void find_ranks() {
    if (description_.ranks != nullptr) ranks_ = description_.ranks();
  }

  /// The processes that share the run; null if there is only one process.
  Ranks* ranks() const { return ranks_.get(); }

 protected:
  /// Adds --seed. @param seed   lives as long as the program
  void add_seed(CLI::App& cli, std::uint64_t& seed,
                const std::string& help = "Seed of all random numbers: the same seed, the same run");

 private:
  Description description_;
  std::unique_ptr<Ranks> ranks_;
  const std::uint64_t* seed_ = nullptr;
};

/// The main function of a program: reads the options, simulates, writes the files and prints the summary.
///
/// @param display   shows the run in addition to its log; null: nothing does
/// @return          the exit code, see options.h
int run_program(Program& program, int argc, const char* const* argv, Display* display = nullptr);

/// A program with a table of one or several implementations, from which --variant and --baseline choose. Programs
/// derive from it.
///
/// @tparam SimulationT the model's Simulation. Its `take_history()` or, without such a function, its `take_rows()`
///                       returns what `record()` noted
/// @tparam ParametersT   the model's parameters, derived from RunParameters
/// @tparam Base          Program, or a class that is derived from it
template <class SimulationT, class ParametersT, class Base = Program>
class ModelProgram : public Base {
 public:
  using Make = std::function<std::unique_ptr<SimulationT>(const ParametersT&)>;
  using Record = typename detail::RecordOf<SimulationT>::type;

  /// @param name       value of --variant or --baseline
  /// @param label      its name in the first line of the output
  /// @param on_ranks   whether several processes can share the run
  struct Implementation {
    std::string name;
    std::string label;
    Make make;
    bool on_ranks = false;
  };

  std::vector<std::string> variants() const final { return names_of(variants_); }
  std::vector<std::string> baselines() const final { return names_of(baselines_); }

  std::string implementation(const RunOptions& options) const final { return chosen(options).label; }

  std::string why_not_on_ranks(const RunOptions& options) const override {
    if (chosen(options).on_ranks) return {};
    if (options.baseline != "none") return "--baseline " + options.baseline + " is for one process: leave it out";
    std::string others;
    for (const Implementation& one : variants_) {
      if (one.on_ranks) others += (others.empty() ? ": take --variant " : " or ") + one.name;
    }
    return "--variant " + options.variant + " is for one process" + others;
  }

  SimulationT& start(const RunOptions& options) override {
    static_cast<RunParameters&>(parameters_) = options;
    simulation_ = make(chosen(options).make);
    return *simulation_;
  }

  std::vector<Column> columns() const final {
    const bool are_named = !this->description().columns.empty() || simulation_ == nullptr;
    return are_named ? this->description().columns : simulation_->log_columns();
  }

  std::vector<Row> take_history() final {
    if constexpr (std::is_same_v<Record, Row>) {
      return take_records();
    } else {
      std::vector<Row> rows;
      for (const Record& record : take_records()) rows.push_back(row_of_(record));
      return rows;
    }
  }

 protected:
  /// A program with one implementation: SimulationT, made from the parameters.
  explicit ModelProgram(Description description) requires std::is_constructible_v<SimulationT, const ParametersT&>
      : ModelProgram(std::move(description), {{"objects", "objects", [](const ParametersT& parameters) {
                                                 return std::make_unique<SimulationT>(parameters);
                                               }}}) {}

  /// @param variants   the implementations for --variant. The first is the default, unless the description names
  ///                   another
  /// @param row_of     the values of the description's columns, if records are not rows
  ModelProgram(Description description, std::vector<Implementation> variants,
               std::vector<Implementation> baselines = {}, Row (*row_of)(const Record&) = nullptr)
      : Base(std::move(description)),
        variants_(std::move(variants)),
        baselines_(std::move(baselines)),
        row_of_(row_of) {}

  /// The baselines that all models have.
  static std::vector<Implementation> baselines_of(Make soa, Make aos, Make reference,
                                                  std::string reference_label = "sequential reference") {
    return {{"soa", "structure-of-arrays baseline", std::move(soa)},
            {"aos", "array-of-structures baseline", std::move(aos)},
            {"reference", std::move(reference_label), std::move(reference)}};
  }

  virtual std::unique_ptr<SimulationT> make(const Make& make) { return make(parameters_); }

  ParametersT& parameters() { return parameters_; }
  const ParametersT& parameters() const { return parameters_; }
  SimulationT& simulation() { return *simulation_; }

 private:
  static std::vector<std::string> names_of(const std::vector<Implementation>& implementations) {
    std::vector<std::string> names;
    for (const Implementation& one : implementations) names.push_back(one.name);
    return names;
  }

  std::vector<Record> take_records() {
    if constexpr (requires { simulation_->take_history(); }) {
      return simulation_->take_history();
    } else {
      return simulation_->take_rows();
    }
  }

  const Implementation& chosen(const RunOptions& options) const {
    for (const Implementation& baseline : baselines_) {
      if (baseline.name == options.baseline) return baseline;
    }
    for (const Implementation& variant : variants_) {
      if (variant.name == options.variant) return variant;
    }
    return variants_.front();
  }

  std::vector<Implementation> variants_;
  std::vector<Implementation> baselines_;
  Row (*row_of_)(const Record&);
  ParametersT parameters_;
  std::unique_ptr<SimulationT> simulation_;
};

}  // namespace dynasoar::program
