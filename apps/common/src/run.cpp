#include "run.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include <app/device.h>
#include <app/error.h>
#include <app/format.h>
#include <app/interrupt.h>
#include <app/options.h>
#include <app/output.h>

namespace app {
namespace {

// The host looks at results once in so many steps or milliseconds, whichever is first: waiting for the GPU after every
// step would slow it down. On the CPU there is nothing to wait for.
int steps_per_check() {
  return device_is_asynchronous() ? 16 : 1;
}
constexpr std::chrono::milliseconds kCheckInterval{50};

bool wanted(const std::string& output) {
  return !output.empty() && output != kNoOutput;
}

std::string text(const Column& column, double value) {
  return column.is_count ? grouped(static_cast<std::uint64_t>(value)) : fmt::format("{:.6g}", value);
}

std::vector<std::string> row_of(const Column& column, const std::vector<Row>& history, std::size_t index) {
  const auto less = [index](const Row& a, const Row& b) { return a[index] < b[index]; };
  const auto [low, high] = std::minmax_element(history.begin(), history.end(), less);
  return {column.name, text(column, history.front()[index]), text(column, history.back()[index]),
          text(column, (*low)[index]), text(column, (*high)[index])};
}

void add_usage(Summary& summary, const Usage& usage) {
  summary.section({"Objects"});
  summary.row({"allocations", grouped(usage.allocations)});
  summary.row({"frees", grouped(usage.frees)});
  const double used =
      usage.heap_bytes > 0 ? static_cast<double>(usage.used_bytes) / static_cast<double>(usage.heap_bytes) : 0;
  summary.row({"heap", bytes(usage.heap_bytes), percent(used) + " used"});
  summary.row({"fragmentation", percent(usage.fragmentation)});
}

// Nothing is lost because two outputs have the same name.
void require_different(const RunOptions& options) {
  const std::array<std::pair<const char*, const std::string*>, 5> outputs = {{{"--log", &options.log},
                                                                              {"--animation", &options.animation},
                                                                              {"--chart", &options.chart},
                                                                              {"--picture", &options.picture},
                                                                              {"--checkpoint", &options.checkpoint}}};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, path] = outputs[i];
    if (!wanted(*path)) continue;
    for (std::size_t j = 0; j < i; ++j) {
      const auto& [other_option, other_path] = outputs[j];
      if (std::filesystem::path(*path).lexically_normal() != std::filesystem::path(*other_path).lexically_normal())
        continue;
      throw UsageError(fmt::format("{} and {} are the same file, {}: give one of them another name, or none",
                                   other_option, option, *path));
    }
  }
}

}  // namespace

Run::Run(Program& program, const RunOptions& options)
    : program_(program), options_(options), columns_(program.columns()) {
  require_different(options_);
  if (wanted(options_.chart)) require_writable_file(options_.chart);
  if (wanted(options_.picture)) require_writable_file(options_.picture);
  if (wanted(options_.checkpoint)) require_writable_file(options_.checkpoint);
  if (wanted(options_.log)) StepLog::check(options_.log);
  if (wanted(options_.exported)) {
    exporter_.emplace(options_.exported);
    require_writable_file(Exporter::file_of(options_.exported, 0));
  }
  if (wanted(options_.animation)) animation_.emplace(options_.animation);
  if (options_.view) view_.emplace();
  if (!options_.frames.empty()) require_writable_folder(options_.frames);  // last: it may make the folder
}

// Makes the simulation, from a checkpoint if there is one.
void Run::start() {
  RunOptions options = options_;
  options.profile_every = steps_per_check();
  try {
    simulation_ = &program_.start(options);
  } catch (const HeapTooSmall&) {
    open_log();  // one that is there is not of this run
    throw;
  }
  const bool restores = wanted(options_.restore);
  if (wanted(options_.checkpoint) || restores) {
    if (const std::string reason = simulation_->why_not_saved(); !reason.empty()) {
      throw UsageError("--checkpoint and --restore " + reason);
    }
  }
  if (exporter_ || view_) {
    if (const std::string reason = simulation_->why_no_objects(); !reason.empty()) {
      throw UsageError((exporter_ ? "--export " : "--view ") + reason);
    }
  }
  if (restores) restore();
  open_log();  // not before: a refusal leaves what is there
}

void Run::open_log() {
  if (wanted(options_.log)) log_.emplace(options_.log, columns_);
}

void Run::restore() {
  first_ = completed_ = simulation_->load(options_.restore);
  if (first_ > options_.steps) {
    throw UsageError(fmt::format("--steps: the run in {} has made {} already, so {} are too few", options_.restore,
                                 counted(static_cast<std::uint64_t>(first_), "step", "steps"), options_.steps));
  }
}

void Run::simulate() {
  start();
  simulation_->record();
  check(first_);
  write_frames_if_due(first_);
  if (view_) view_->open(program_, *simulation_, options_.steps);
  progress_.emplace(static_cast<std::uint64_t>(options_.steps), !options_.quiet);
  int step = first_;
  while (step < options_.steps && goes_on(step)) {
    ++step;
    const Clock::time_point start = Clock::now();
    simulation_->step();
    simulation_->record();
    if (check_due(step)) check(step);
    simulation_time_ += Clock::now() - start;
    write_frames_if_due(step);
    if (step % options_.checkpoint_every == 0) write_checkpoint(step);
  }
  if (completed_ < step) check(step);
  if (view_ && step == options_.steps) view_->wait(step);
  write_checkpoint(step);
  if (exporter_) exporter_->finish();
  if (animation_) animation_->finish();
  progress_->clear();
}

// Whether the next step is to be made. Waits until then.
bool Run::goes_on(int step) {
  was_closed_ = view_ && !view_->wait(step) && !interrupted();
  return !was_closed_ && !interrupted();
}

bool Run::check_due(int step) const {
  return step == options_.steps || step - completed_ >= steps_per_check() || frame_due(step) || export_due(step) ||
         view_ || interrupted() || Clock::now() - last_check_ >= kCheckInterval;
}

// Waits for the simulation up to `step`; what it has counted until then is valid from now on.
void Run::check(int step) {
  simulation_->synchronize();
  for (Row& row : program_.take_history()) {
    if (log_) log_->add(static_cast<std::size_t>(first_) + history_.size(), row);
    objects_ += program_.objects(row);
    history_.push_back(std::move(row));
  }
  if (log_) log_->flush();
  completed_ = step;
  last_check_ = Clock::now();
  if (!progress_ || !progress_->due(static_cast<std::uint64_t>(step))) return;
  Progress::Columns shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].is_count) shown.emplace_back(columns_[i].name, static_cast<std::uint64_t>(history_.back()[i]));
  }
  progress_->show(static_cast<std::uint64_t>(step), shown, static_cast<std::uint64_t>(objects_));
}

void Run::write_checkpoint(int step) {
  if (!wanted(options_.checkpoint) || step == saved_) return;
  if (completed_ < step) check(step);  // so that rows and checkpoint end at the same step
  simulation_->save(options_.checkpoint);
  saved_ = step;
}

bool Run::frame_due(int step) const {
  return (!options_.frames.empty() || animation_) && step % options_.every == 0;
}

bool Run::export_due(int step) const {
  return exporter_ && step % options_.export_every == 0;
}

void Run::write_frames_if_due(int step) {
  if (export_due(step)) {
    dynasoar::Columns objects = simulation_->columns();
    program_.place(objects);
    exporter_->add(step, std::move(objects));
  }
  if (!frame_due(step)) return;
  const Picture picture = program_.picture();
  if (!options_.frames.empty()) {
    const std::filesystem::path path = std::filesystem::path(options_.frames) / fmt::format("frame-{:06}.png", step);
    picture.save_png(path.string());
  }
  if (animation_) animation_->add(picture);
  ++frames_;
}

void Run::write_results(bool state_is_valid) {
  if (progress_) progress_->clear();
  if (log_) files_.push_back(fmt::format("{} ({})", log_->path(), counted(history_.size(), "row", "rows")));
  if (wanted(options_.chart) && !history_.empty()) {
    program_.chart(history_).save_png(options_.chart);
    files_.push_back(options_.chart);
  }
  if (state_is_valid) {
    if (wanted(options_.picture)) {
      program_.picture().save_png(options_.picture);
      files_.push_back(options_.picture);
    }
    for (std::string& file : program_.save_more()) files_.push_back(std::move(file));
  }
  if (exporter_ && exporter_->files() > 0) {
    files_.push_back(fmt::format("{} ({})", exporter_->path(), counted(exporter_->files(), "frame", "frames")));
  }
  const std::string frames = counted(frames_, "frame", "frames");
  if (frames_ > 0 && !options_.frames.empty()) files_.push_back(fmt::format("{} ({})", options_.frames, frames));
  if (frames_ > 0 && animation_) files_.push_back(fmt::format("{} ({})", animation_->path(), frames));
}

void Run::print_summary() {
  Summary summary;
  summary.section({"Population", "start", "end", "least", "most"});
  for (std::size_t i = 0; i < columns_.size(); ++i) summary.row(row_of(columns_[i], history_, i));
  if (const std::optional<Usage> usage = simulation_->usage()) add_usage(summary, *usage);
  add_times(summary);
  fmt::print("\n");
  summary.print(stdout);
}

void Run::add_times(Summary& summary) {
  const double total = std::chrono::duration<double>(simulation_time_).count();
  const std::vector<PhaseTime> phases = simulation_->phases();
  double in_phases = 0;
  for (const PhaseTime& phase : phases) in_phases += phase.seconds;
  summary.section({"Time", "", "share"});
  for (const PhaseTime& phase : phases) {
    summary.row({phase.name, duration(phase.seconds), percent(in_phases > 0 ? phase.seconds / in_phases : 0)});
  }
  summary.row({"all steps", duration(total)});
  if (completed_ == 0 || total <= 0) return;
  summary.row({"one step", duration(total / completed_)});
  summary.row({"steps/s", si(completed_ / total)});
  // A step handles the objects that were there before it.
  summary.row({"objects/s", si((objects_ - program_.objects(history_.back())) / total)});
}

void Run::print_files() const {
  if (files_.empty()) return;
  fmt::print("\nWritten: {}\n", fmt::join(files_, ", "));
}

}  // namespace app
