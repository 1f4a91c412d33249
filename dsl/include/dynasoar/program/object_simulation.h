/// @file
/// ObjectSimulation: the common base of simulations with objects. It has their heap, log, recorded steps, checkpoints
/// and times of phases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/dynasoar.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/program/simulation.h>
#include <dynasoar/step_log.h>
#include <dynasoar/step_value.h>

namespace dynasoar::detail {

[[noreturn]] void throw_too_small(std::size_t bytes, std::size_t needed, const char* model);

/// The handle of each rank; if one cannot be made, all ranks throw.
template <class A>
class HandleOnRanks {
 public:
  HandleOnRanks(program::Ranks* ranks, const HandleOptions& options) {
    program::on_all(ranks, [&] { handle_.emplace(options); });
  }

  AllocatorHandle<A>& operator*() { return *handle_; }
  AllocatorHandle<A>* operator->() { return &*handle_; }

 private:
  std::optional<AllocatorHandle<A>> handle_;
};

program::Usage usage_of(const Statistics& now);

/// Converts rows to doubles. Whole numbers greater than 2^53 are rounded.
std::vector<program::Row> log_rows_of(const std::vector<LogRow>& rows);
std::vector<program::Column> log_columns_of(const std::vector<std::string>& names, const std::vector<bool>& are_counts);

}  // namespace dynasoar::detail

namespace dynasoar::program {

/// Room for the blocks that the warps of a large GPU open at the same time when a population is created.
inline constexpr std::size_t kSlotsInFlight = std::size_t{1} << 20;

/// The size of a model's heap.
///
/// @param asked the size that the user asks for, in bytes; 0: as needed
/// @param needed a size that is enough, in bytes
/// @param least the least size for the allocator, in bytes
/// @throws HeapTooSmall if an AllocatorHandle could not be made with it
std::size_t heap_bytes(std::uint64_t asked, std::size_t needed, std::size_t least);

/// Waits for all loops.
///
/// @param model   what the heap may be too small for: "ocean"
/// @throws HeapTooSmall if objects could not be created
template <class AllocatorT>
void synchronize(dynasoar::AllocatorHandle<AllocatorT>& handle, std::size_t needed, const char* model) {
  try {
    handle.synchronize();
  } catch (const dynasoar::AllocationError&) {
    detail::throw_too_small(handle.statistics().heap_bytes, needed, model);
  }
}

/// The contents of a checkpoint of a run: the step, the options of the run, and the arrays that its model adds.
class SavedRun {
 public:
  /// @param step   lives as long as this object; loading sets it
  SavedRun(const SavedOptions& options, std::uint32_t& step);
  SavedRun(const SavedRun&) = delete;
  SavedRun& operator=(const SavedRun&) = delete;
  ~SavedRun();

  dynasoar::CheckpointItems& items() { return items_; }

  /// @throws UsageError if the run in the file `path` belongs to another program, has other options, or has more steps
  ///         than a run can make
  void check(const std::string& path) const;

 private:
  std::vector<char> options_;
  dynasoar::CheckpointItems items_;
};

/// @tparam Derived     the simulation. Its `read_columns()` returns the columns to export
/// @tparam Interface   the interface that it implements: Simulation, or a class that is derived from it
/// @tparam A           the allocator
template <class Derived, class Interface, class A>
class ObjectSimulation : public Interface {
 public:
  /// Makes a step of the loops that submit_step() submits.
  void step() override {
    begin_step();
    run_recorded([this] { submit_step(); });
  }

  /// Submits the loops of a step, which are recorded. It must not wait or allocate. Anything that varies from step to
  /// step must be a StepValue, such as now(). If the host reads results within a step, or if there are several kinds of
  /// steps, override step() instead.
  virtual void submit_step() {}

  /// Records a row of log(), unless Interface has a record() of its own.
  void record() override {
    if constexpr (kInterfaceRecords) {
      Interface::record();
    } else {
      log_.record();
    }
  }

  std::vector<Column> log_columns() const final { return detail::log_columns_of(log_.names(), log_.are_counts()); }

  std::vector<Row> take_rows() final { return detail::log_rows_of(log_.take_rows()); }

  void synchronize() final {
    on_all(ranks_, [this] { program::synchronize(*handle_, needed_bytes_, model_); });
  }

  std::vector<PhaseTime> phases() final { return clock_.times(); }

  std::optional<Usage> usage() final { return detail::usage_of(handle_->statistics()); }

  std::string why_not_saved() const final { return A::kSaves ? std::string() : Simulation::why_not_saved(); }

  void save(const std::string& path) final {
    if constexpr (A::kSaves) {
      SavedRun run(derived().saved_options(), step_);
      derived().add_arrays(run.items());
      derived().save_objects(path, run.items());
    }
  }

  int load(const std::string& path) final {
    if constexpr (A::kSaves) {
      SavedRun run(derived().saved_options(), step_);
      on_all(ranks_, [&] { run.check(path); });
      derived().add_arrays(run.items());
      kept_lists_.reset();
      derived().load_objects(path, run.items());
      now_.set(step_);
    }
    return static_cast<int>(step_);
  }

  std::string why_no_objects() const final { return {}; }

  dynasoar::Columns columns() final { return derived().read_columns(); }

 protected:
  using Handle = dynasoar::AllocatorHandle<A>;

  /// @param parameters     those of the model: `heap_bytes`, `threads`, `profile_every`, `ranks`
  /// @param needed_bytes   a heap size that suffices, in bytes
  /// @param model          what the heap may be too small for: a literal such as "ocean"
  /// @param phases         the names of the phases of a step
  template <class Parameters>
  ObjectSimulation(const Parameters& parameters, std::size_t needed_bytes, const char* model,
                   const PhaseNames& phases = {})
      : needed_bytes_(needed_bytes),
        model_(model),
        ranks_(parameters.ranks),
        handle_(parameters.ranks, {.heap_bytes = heap_bytes(parameters.heap_bytes, needed_bytes, A::least_heap_bytes()),
                                   .threads = parameters.threads}),
        log_(*handle_),
        clock_(parameters.profile_every, phases),
        now_(handle_->executor(), 0) {}

  /// The result of `make()`, which creates objects: for example, a Lattice with objects at every place.
  /// @throws HeapTooSmall if they could not be created
  template <class Make>
  auto made(const Make& make) {
    try {
      return make();
    } catch (const dynasoar::AllocationError&) {
      detail::throw_too_small(handle_->statistics().heap_bytes, needed_bytes_, model_);
    }
  }

  Handle& handle() { return *handle_; }

  /// The processes that share the run; null if there is only one process.
  Ranks* ranks() const { return ranks_; }

  /// The log in which record() notes a row. The constructor of Derived adds its totals.
  dynasoar::StepLog<A>& log() { return log_; }

  PhaseClock& clock() { return clock_; }

  /// Ends a phase. It consists of the loops that were submitted since the end of the last phase.
  void end_phase(std::size_t phase) { clock_.end_phase(handle_->executor(), phase); }

  /// The options with which a checkpoint must have been written. Derived may define this function. By default, these
  /// are the options that the program has added to the command line, without those for its outputs.
  SavedOptions saved_options() const { return {}; }

  /// Adds the contents of a checkpoint in addition to the objects and the step. Derived may define this function. By
  /// default, it adds nothing.
  void add_arrays(CheckpointItems&) {}

  /// Writes a checkpoint, and the next function reads it. Derived defines both functions if several ranks can share the
  /// run. By default, they call those of the handle.
  void save_objects(const std::string& path, const CheckpointItems& items) { handle_->save(path, items); }
  void load_objects(const std::string& path, const CheckpointItems& items) { handle_->load(path, items); }

  /// The number of steps so far.
  std::uint32_t steps() const { return step_; }

  /// Begins a step. @return its number, from 1
  std::uint32_t begin_step() {
    clock_.begin_step(handle_->executor());
    return ++step_;
  }

  /// Runs a step, or a part of one, as a recorded step (AllocatorHandle::record). While the clock times phases, it
  /// calls `submit` instead, which marks the end of each phase. It also calls `submit` if several ranks share the run,
  /// because loops between which ranks exchange objects cannot be recorded.
  ///
  /// @param submit   as submit_step()
  /// @param kind     a small number that differs between the parts of a step. The first `submit` of each kind is
  ///                 recorded, and replaces all later ones
  void run_recorded(const SubmitStep& submit, std::size_t kind = 0) {
    if (ranks_ != nullptr) return submit();
    recorded_.run(clock_, kind, submit, [this](const SubmitStep& step) { return handle_->record(step); });
  }

  /// Lists the objects of the classes Ts, or all objects if no class is named, once for this step and all later ones.
  /// For models that never create or delete such objects. Call it in step(), before run_recorded. The next call after a
  /// checkpoint has been loaded lists them again.
  template <class... Ts>
  void keep_lists() {
    if (!kept_lists_) kept_lists_.emplace(handle_->template keep_lists<Ts...>());
  }

  /// Counts the step on the device. If the loops of a step read now(), submit this first; the loops of the first step
  /// then see 1. (With `add(1)` at the end of the step, as in the example of StepValue, they would see 0.)
  void count_step() { now_.add(1); }

  /// The number of the step, for loops: 0 at the start.
  StepNumber now() const { return now_.view(); }

 private:
  // The one of Simulation is abstract.
  static constexpr bool kInterfaceRecords = !std::is_same_v<decltype(&Interface::record), void (Simulation::*)()>;

  Derived& derived() { return static_cast<Derived&>(*this); }

  std::size_t needed_bytes_;
  const char* model_;
  Ranks* ranks_;
  std::uint32_t step_ = 0;
  detail::HandleOnRanks<A> handle_;
  dynasoar::StepLog<A> log_;
  std::optional<KeptLists> kept_lists_;
  PhaseClock clock_;
  dynasoar::StepValue<std::uint32_t> now_;
  RecordedSteps<decltype(std::declval<Handle&>().record(std::declval<SubmitStep>()))> recorded_;
};

}  // namespace dynasoar::program
