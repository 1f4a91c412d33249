/// @file
/// Simulation: a model that a program runs. Ranks: the processes that share a run. For implementations of simulations:
/// PhaseClock, which times the phases of steps; RecordedSteps; and SavedOptions, which a checkpoint must fit. This
/// header is plain C++, so that only the simulations themselves are compiled as CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <dynasoar/columns.h>
#include <dynasoar/detail/transport.h>
#include <dynasoar/statistics.h>

namespace dynasoar {
class Communicator;
}

namespace dynasoar::program {

/// The processes that share a run, see docs/how-to/many-gpus.md. All ranks must call its functions in the same order,
/// except rank(), size(), local_rank(), local_size(), communicator(), is_end_agreed() and those of
/// transports.
///
/// @par Usage   all_ranks() in program.h returns an implementation; programs and simulations get it as
///              RunParameters::ranks
class Ranks {
 public:
  Ranks() = default;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  virtual ~Ranks() = default;

  /// The number of this process, and the number of processes, which is at least 2.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The same among the processes of this host.
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;

  /// For DistributedHandle.
  virtual Communicator& communicator() = 0;

  /// The transport that the user has chosen with --transport, for DistributedLatticeOptions.
  Transport wanted_transport() const { return wanted_transport_; }
  void want_transport(Transport transport) { wanted_transport_ = transport; }

  /// The transport in use, for the summary. A simulation sets it to DistributedLattice::transport; `automatic` until
  /// then.
  Transport used_transport() const { return used_transport_; }
  void note_transport(Transport transport) { used_transport_ = transport; }

  /// @throws UsageError on all ranks if they do not pass the same text. @param what names the text in the message
  virtual void check_same(const std::string& what, const std::string& text) = 0;

  /// Replaces each value by the sum of all ranks' values at this position.
  virtual void sum(std::vector<std::uint64_t>& values) = 0;

  /// @return on rank 0, the data of all ranks, by rank; on others, nothing
  virtual std::vector<std::vector<char>> gather(const void* data, std::size_t bytes) = 0;

  /// @return the text that rank 0 passes
  virtual std::string broadcast(const std::string& text) = 0;

  /// Whether any rank passes true.
  bool any(bool mine);

  /// For on_all().
  void settle(const std::exception_ptr& failure);

  /// Whether settle() has thrown, so that all ranks know why the run ends.
  bool is_end_agreed() const { return is_end_agreed_; }

 private:
  bool is_end_agreed_ = false;
  Transport wanted_transport_ = Transport::automatic, used_transport_ = Transport::automatic;
};

/// Calls a function on all ranks. If it throws on any rank, all ranks throw the same exception: HeapTooSmall,
/// UsageError or Error, with the message of the lowest rank that has thrown such an exception.
///
/// @param ranks   null: there is one process, and nothing is agreed
template <class F>
void on_all(Ranks* ranks, const F& function) {
  if (ranks == nullptr) return function();
  std::exception_ptr failure;
  try {
    function();
  } catch (...) {
    failure = std::current_exception();
  }
  ranks->settle(failure);
}

/// Parameters of a run that all models have: a base of the models' parameters.
struct RunParameters {
  std::string allocator = "soa";  ///< for objects; "soa" is DynaSOAr's own
  std::uint64_t heap_bytes = 0;   ///< for objects; 0: enough for the model
  int threads = 0;                ///< on the CPU; 0: one per processor
  int profile_every = 0;          ///< times every n-th step phase by phase, waiting for each phase; 0: no step
  Ranks* ranks = nullptr;         ///< the processes that share the run; null: there is only one process
};

/// Time spent in one phase of the steps, in seconds, estimated from the steps that were timed.
struct PhaseTime {
  std::string name;
  double seconds;
};

/// The numbers of allocations so far, and the memory that they take.
struct HeapUsage {
  std::optional<std::uint64_t> allocations;  ///< empty if not all of them are counted
  std::optional<std::uint64_t> frees;        ///< the same
  std::uint64_t heap_bytes = 0;
  std::uint64_t used_bytes = 0;
  double fragmentation = 0;  ///< share of the slots in occupied blocks that hold no object, 0 to 1
};

/// Where the objects of a simulation are.
struct Usage {
  std::optional<HeapUsage> heap;       ///< empty if no class has its objects in the heap
  std::vector<TypeStatistics> placed;  ///< the classes that are on lattices
  double slots_used = 0;               ///< fraction of slots in occupied blocks, and of places, with an object
};

/// Thrown if the heap has no room for an object. Results after the last completed step are not valid.
class HeapTooSmall : public std::runtime_error {
 public:
  HeapTooSmall(const std::string& message, std::uint64_t needed_bytes)
      : std::runtime_error(message), needed_bytes_(needed_bytes) {}

  /// A heap size that is enough for this model, in bytes.
  std::uint64_t needed_bytes() const { return needed_bytes_; }

 private:
  std::uint64_t needed_bytes_;
};

/// A column of the log, and a row of the summary.
struct Column {
  std::string name;
  bool is_count = true;  ///< a whole number, at least 0
};

/// One value per column; NaN if there is no value, such as the minimum over no objects.
using Row = std::vector<double>;

/// A running simulation. One thread at a time may use it. If several ranks share the run, all of them call its
/// functions in the same order.
///
/// On the GPU `step()` and `record()` only submit work; the other functions wait for it. Errors are thrown by the next
/// function that waits, as HeapTooSmall or dynasoar::Error.
class Simulation {
 public:
  Simulation() = default;
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;
  virtual ~Simulation() = default;

  /// Advances by one step.
  virtual void step() = 0;

  /// Notes the current numbers of objects, for the model's history.
  virtual void record() = 0;

  /// Waits for all submitted work.
  virtual void synchronize() = 0;

  /// The columns of the log, and the rows that record() noted since the last call, oldest first. A simulation with
  /// objects returns those of its StepLog. Models with a function take_history() do not need these functions.
  virtual std::vector<Column> log_columns() const { return {}; }
  virtual std::vector<Row> take_rows() { return {}; }

  /// Times of the phases, in the order in which they run; empty if none were timed.
  virtual std::vector<PhaseTime> phases() { return {}; }

  /// The reason why `save` and `load` are missing, and what the user can do about it; empty if they exist.
  virtual std::string why_not_saved() const {
    return "are for variants with objects in allocator soa: leave out --baseline and --allocator, or these two";
  }

  /// Writes a checkpoint, see docs/checkpoints.md. @pre why_not_saved() is empty
  virtual void save(const std::string&) { throw std::logic_error("this implementation has no checkpoints"); }

  /// Continues from a checkpoint of this implementation and these parameters.
  /// @pre why_not_saved() is empty, and nothing has been recorded
  ///
  /// @return   the number of steps that had been made
  /// @throws dynasoar::Error if the file cannot be read or is no checkpoint of this model; UsageError if its parameters
  ///         differ
  virtual int load(const std::string&) { throw std::logic_error("this implementation has no checkpoints"); }

  /// The reason why `columns` is missing, and what the user can do about it; empty if it exists.
  virtual std::string why_no_objects() const { return "is for variants with objects: leave out --baseline, or this"; }

  /// The model's objects with their fields. If they are in numbered cells, the column `cell` has the numbers. If
  /// several ranks share the run, rank 0 gets the objects of all ranks, and the others get no rows.
  /// @pre why_no_objects() is empty
  virtual dynasoar::Columns columns() { throw std::logic_error("this implementation has no objects"); }

  /// The memory that objects take; empty for implementations without objects.
  virtual std::optional<Usage> usage() { return std::nullopt; }
};

/// The names of the phases of a step, in their order: literals.
using PhaseNames = std::vector<const char*>;

/// Measures how long each phase of a step takes, for Simulation::phases(). Only every n-th step is timed, because the
/// host must wait for a phase on the GPU to know when it ends.
///
/// @par Usage   begin_step(executor); submit phase 0; end_phase(executor, 0); submit phase 1; end_phase(executor, 1);
///              and so on
class PhaseClock {
 public:
  /// @param every   every n-th step is timed; 0: none
  PhaseClock(int every, const PhaseNames& names);

  template <class Executor>
  void begin_step(Executor& executor) {
    timing_ = every_ > 0 && steps_ % every_ == 0;
    ++steps_;
    if (!timing_) return;
    ++timed_steps_;
    executor.synchronize();
    mark();
  }

  template <class Executor>
  void end_phase(Executor& executor, std::size_t phase) {
    if (!timing_) return;
    executor.synchronize();
    seconds_[phase] += mark();
  }

  /// Whether this step is timed: the host waits at the end of each phase.
  bool is_timing() const { return timing_; }

  /// Times for all steps so far, extrapolated from the timed ones.
  std::vector<PhaseTime> times() const;

 private:
  /// @return seconds since the last mark
  double mark();

  int every_;
  std::vector<std::string> names_;
  std::vector<double> seconds_;
  bool timing_ = false;
  long long steps_ = 0;
  long long timed_steps_ = 0;
  std::int64_t mark_ = 0;  // in nanoseconds
};

/// Submits the loops of a step or part of a step. While phases are timed, it also marks where each phase ends.
using SubmitStep = std::function<void()>;

/// Records each kind of step on first use and replays it afterwards.
///
/// @tparam Recorded   the result of recording; calling it submits the loops
template <class Recorded>
class RecordedSteps {
 public:
  /// Replays the recording of this kind, making it first if needed. If the clock times this step, calls `submit`
  /// directly, because the host must wait between phases.
  ///
  /// @param kind     loops of one kind are the same, with the same arguments, whenever they are submitted
  /// @param record   `record(submit)` returns a Recorded
  template <class Record>
  void run(const PhaseClock& clock, std::size_t kind, const SubmitStep& submit, const Record& record) {
    if (clock.is_timing()) return submit();
    if (kind >= recorded_.size()) recorded_.resize(kind + 1);
    std::unique_ptr<Recorded>& recorded = recorded_[kind];
    if (recorded == nullptr) recorded.reset(new Recorded(record(submit)));  // in place: it cannot be moved
    (*recorded)();
  }

 private:
  std::vector<std::unique_ptr<Recorded>> recorded_;  // by kind
};

/// A checksum that very probably differs between different inputs: FNV-1a of the bytes of numbers.
class InputSum {
 public:
  template <class... Ts>
  requires(true && ... && (std::is_arithmetic_v<Ts> || std::is_enum_v<Ts>)) void add(const Ts&... numbers) {
    (add_bytes(&numbers, sizeof numbers), ...);
  }
  std::uint64_t value() const { return value_; }

 private:
  void add_bytes(const void* from, std::size_t count) {
    const auto* const bytes = static_cast<const unsigned char*>(from);
    for (std::size_t i = 0; i < count; ++i) value_ = (value_ ^ bytes[i]) * 0x100000001B3u;
  }

  std::uint64_t value_ = 0xCBF29CE484222325u;
};

/// A list of options with their values. It has the options and the input that a run must have to continue from a
/// checkpoint.
class SavedOptions {
 public:
  SavedOptions() = default;
  explicit SavedOptions(const std::vector<char>& text);

  /// @param option   "--seed", or the name of an input
  template <class T>
  SavedOptions& add(std::string_view option, T value) {
    if constexpr (std::is_floating_point_v<T>) return add_number(option, value);
    if constexpr (std::is_unsigned_v<T>) return add_number(option, std::uint64_t{value});
    return add_number(option, static_cast<std::int64_t>(value));
  }
  SavedOptions& add(std::string_view option, const InputSum& sum);
  SavedOptions& add(std::string_view option, const std::string& text);

  bool empty() const { return text_.empty(); }

  std::vector<char> text() const;

  /// Returns these options, after the program and its variant if they are known. If the list is empty, returns the
  /// options of the command line instead.
  SavedOptions with_program() const;

  /// @throws UsageError if `saved`, the options in the file `path`, differ from these; the message names the first
  ///         difference
  void check_same(const SavedOptions& saved, const std::string& path) const;

 private:
  SavedOptions& add_number(std::string_view option, float value);  // a float has fewer digits than a double
  SavedOptions& add_number(std::string_view option, double value);
  SavedOptions& add_number(std::string_view option, std::int64_t value);
  SavedOptions& add_number(std::string_view option, std::uint64_t value);

  std::string text_;  // a line for each option: its name, a tab, its value
};

/// Sets the name of this program and of its variant, so that checkpoints of others can be refused by name.
///
/// @param options   those of the command line, for checkpoints of simulations that do not define saved_options()
void set_running_program(const std::string& program, const std::string& variant, const SavedOptions& options = {});

}  // namespace dynasoar::program
