#include "run.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <dynasoar/platform/error.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>
#include "../interrupt.h"
#include "device.h"
#include "messages.h"

#include "output_check.h"
#include "ranks.h"

namespace dynasoar::program {
namespace {

// The host checks results after a number of steps or milliseconds, whichever comes first, because waiting for the GPU
// after every step would slow it down. On the CPU there is nothing to wait for.
int steps_per_check() {
  return device_is_asynchronous() ? 16 : 1;
}
constexpr std::chrono::milliseconds kCheckInterval{50};

// @throws UsageError if the ranks do not exchange rows in the way that --transport says
Simulation& start_with_transport(Program& program, const RunOptions& options) {
  const auto refuse = [&options](const std::string& why) {
    throw UsageError(
        fmt::format("--transport {}: {}; leave it out, and the ranks take what is possible", options.transport, why));
  };
  try {
    Simulation& simulation = program.start(options);
    const Ranks* const ranks = options.ranks;
    if (ranks != nullptr && ranks->wanted_transport() != Transport::automatic &&
        ranks->wanted_transport() != ranks->used_transport())
      refuse("this model does not let it be chosen");
    return simulation;
  } catch (const detail::TransportError& error) {
    refuse(error.reason());
    throw;
  }
}

std::string mismatch(std::size_t columns, std::size_t values) {
  return fmt::format(
      "the Description of this program names {}, but a row of its log has {}: name as many columns, in the order of "
      "the "
      "values, or none if the simulation logs totals, which have names",
      counted(columns, "column", "columns"), counted(values, "value", "values"));
}

}  // namespace

// Saves the run if a library ends the program, such as Xlib when the display of a window is gone.
class Run::KeptAtExit {
 public:
  explicit KeptAtExit(Run& run) {
    static const bool is_registered = std::atexit(keep) == 0;
    static_cast<void>(is_registered);
    running_ = &run;
  }
  KeptAtExit(const KeptAtExit&) = delete;
  KeptAtExit& operator=(const KeptAtExit&) = delete;
  ~KeptAtExit() { running_ = nullptr; }

 private:
  static void keep() {
    if (running_ == nullptr) return;                  // it has ended, or another thread ends the program
    if (running_->options_.ranks != nullptr) return;  // Communicator ends the run on all ranks
    running_->save_last_state();
    running_->write_results(false);
    print_error(
        fmt::format("{}: ended by a library ({})\n", running_->program_.description().name, running_->what_is_valid()));
    std::_Exit(kExitFailure);  // without destructors, because the run still uses the objects
  }

  static thread_local Run* running_;
};

thread_local Run* Run::KeptAtExit::running_ = nullptr;

Run::Run(Program& program, const RunOptions& options, Display* display)
    : program_(program),
      options_(options),
      display_(display),
      columns_(program.columns()),
      losses_(program.description().name) {
  on_all(options_.ranks, [this] {
    if (!program_.is_first_rank()) return;
    if (wanted(options_.exported)) exporter_.emplace(options_.exported);
    if (display_ != nullptr) display_->prepare();
    check_outputs(program_, options_, display_);
    if (display_ != nullptr) display_->open();
  });
}

// Makes the simulation, from a checkpoint if there is one.
void Run::start() {
  RunOptions options = options_;
  options.profile_every = steps_per_check();
  const std::string shown = exporter_             ? "--export"
                            : display_ != nullptr ? display_->option_for_objects()
                                                  : std::string();
  options.shows_objects = !shown.empty();
  try {
    on_all(options_.ranks, [&] { simulation_ = &start_with_transport(program_, options); });
    columns_ = program_.columns();
    if (options_.ranks != nullptr && !simulation_->log_columns().empty()) {
      throw dynasoar::Error(
          "the totals of log() are those of one rank, and several ranks make this run: leave log() empty, and write a "
          "take_history() that adds numbers up with DistributedHandle::count and sum");
    }
  } catch (const HeapTooSmall&) {
    open_log();  // an existing file does not belong to this run
    throw;
  }
  const bool restores = wanted(options_.restore);
  if (wanted(options_.checkpoint) || restores) {
    if (const std::string reason = simulation_->why_not_saved(); !reason.empty()) {
      throw UsageError("--checkpoint and --restore " + reason);
    }
  }
  if (options.shows_objects) {
    if (const std::string reason = simulation_->why_no_objects(); !reason.empty()) {
      throw UsageError(shown + ' ' + reason);
    }
  }
  if (restores) restore();
  if (display_ != nullptr) {
    display_->start(
        *simulation_, options_.steps,
        [this](const std::string& option, const std::function<void()>& write) { return attempt(option, write); });
  }
  open_log();  // not before: an error must not change an existing file
}

void Run::open_log() {
  if (!wanted(options_.log) || !program_.is_first_rank()) return;
  try {
    log_.emplace(options_.log, columns_);
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {  // a pipe without a reader, a full disk
    throw UsageError(fmt::format("--log: {}", error.what()));
  }
}

void Run::restore() {
  on_all(options_.ranks, [this] { first_ = completed_ = simulation_->load(options_.restore); });
  if (first_ > options_.steps) {
    throw UsageError(fmt::format("--steps: the run in {} has made {} already, so {} are too few", options_.restore,
                                 counted(static_cast<std::uint64_t>(first_), "step", "steps"), options_.steps));
  }
}

// Writes an output. An error does not end the run.
bool Run::attempt(const std::string& output, const std::function<void()>& write) {
  try {
    write();
    losses_.end_trouble(output);
    return true;
  } catch (const HeapTooSmall&) {
    throw;
  } catch (const std::exception& error) {
    if (progress_) progress_->clear();
    losses_.add(output, fmt::format("{} (after step {})", error.what(), completed_));
    return false;
  }
}

void Run::simulate() {
  on_all(options_.ranks, [this] { start(); });
  has_started_ = true;
  detail::catch_interrupts();  // not earlier: until now, there are no results to lose
  const KeptAtExit kept(*this);
  try {
    make_steps();
  } catch (...) {
    save_last_state();
    throw;
  }
}

// Called before a run ends early. Ranks save together, or not at all.
void Run::save_last_state() {
  if (options_.ranks != nullptr && !options_.ranks->is_end_agreed()) return;
  if (is_valid_) write_checkpoint(completed_);
}

void Run::make_steps() {
  simulation_->record();
  check(first_);
  show_if_due(first_);
  progress_.emplace(static_cast<std::uint64_t>(options_.steps), !options_.quiet);
  int step = first_;
  while (step < options_.steps && goes_on(step)) {
    ++step;
    const Clock::time_point start = Clock::now();
    is_valid_ = false;
    simulation_->step();
    simulation_->record();
    if (check_due(step)) check(step);
    simulation_time_ += Clock::now() - start;
    show_if_due(step);
    if (step % options_.checkpoint_every == 0) write_checkpoint(step);
  }
  if (completed_ < step) check(step);
  if (step == options_.steps && display_ != nullptr) display_->wait(step);
  write_checkpoint(step);
  progress_->clear();
}

// Whether the run goes on with the next step. Waits until it is time for this step.
bool Run::goes_on(int step) {
  was_closed_ = display_ != nullptr && !display_->wait(step) && !detail::interrupted();
  return !any_rank(was_closed_ || detail::interrupted());
}

// Whether `mine` is true on any rank. With this, all ranks react to an event, such as a signal, in the same way.
bool Run::any_rank(bool mine) const {
  return options_.ranks == nullptr ? mine : options_.ranks->any(mine);
}

bool Run::check_due(int step) const {
  return step == options_.steps || step - completed_ >= steps_per_check() || export_due(step) ||
         (display_ != nullptr && display_->due(step)) ||
         any_rank(detail::interrupted() || Clock::now() - last_check_ >= kCheckInterval);
}

// Waits for the simulation up to `step`. Its counts up to this step are valid from now on.
void Run::check(int step) {
  try {
    simulation_->synchronize();
  } catch (const HeapTooSmall&) {
    throw;
  } catch (const dynasoar::Error&) {
    // If there are too many objects for the model's own limit, it has a better message.
    static_cast<void>(program_.take_history());
    throw;
  }
  std::vector<Row> rows = program_.take_history();
  for (const Row& row : rows) {
    if (row.size() != columns_.size()) throw dynasoar::Error(mismatch(columns_.size(), row.size()));
  }
  completed_ = step;
  is_valid_ = true;
  for (Row& row : rows) {
    if (log_) log_->add(static_cast<std::size_t>(first_) + history_.size(), row);
    objects_ += program_.objects(row);
    history_.push_back(std::move(row));
  }
  flush_log();
  last_check_ = Clock::now();
  if (!progress_ || !progress_->due(static_cast<std::uint64_t>(step))) return;
  Progress::Columns shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].is_count) shown.emplace_back(columns_[i].name, static_cast<std::uint64_t>(history_.back()[i]));
  }
  progress_->show(static_cast<std::uint64_t>(step), shown, static_cast<std::uint64_t>(objects_));
}

// Rows that cannot be written are kept, and written later: they are not lost yet.
void Run::flush_log() {
  if (!log_) return;
  try {
    log_->flush();
    losses_.end_trouble("--log");
  } catch (const std::exception& error) {
    if (progress_) progress_->clear();
    losses_.warn("--log", fmt::format("{} (after step {}); tried again later", error.what(), completed_));
  }
}

void Run::write_checkpoint(int step) {
  if (!wanted(options_.checkpoint) || step == saved_) return;
  if (completed_ < step) check(step);  // so that rows and checkpoint end at the same step
  if (attempt("--checkpoint", [this] { simulation_->save(options_.checkpoint); })) saved_ = step;
}

bool Run::export_due(int step) const {
  return wanted(options_.exported) && step % options_.export_every == 0;
}

void Run::show_if_due(int step) {
  if (export_due(step)) export_objects(step);
  if (display_ != nullptr && display_->due(step)) display_->show(step);
}

void Run::export_objects(int step) {
  if (exporter_) note_exports();
  attempt("the objects for --export", [&] {
    dynasoar::Columns objects = simulation_->columns();
    if (!exporter_) return;  // another rank writes the files
    program_.place(objects);
    exporter_->add(step, std::move(objects));
  });
}

// Files are written in another thread, so errors are found later.
void Run::note_exports() {
  const std::vector<std::string> failures = exporter_->take_failures();
  const std::uint64_t exported = exporter_->files();
  if (failures.empty() && exported > exported_) losses_.end_trouble("--export");
  exported_ = exported;
  for (const std::string& failure : failures) {
    if (progress_) progress_->clear();
    losses_.add("--export", failure);
  }
}

}  // namespace dynasoar::program
