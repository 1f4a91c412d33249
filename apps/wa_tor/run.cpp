#include "run.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <initializer_list>

#include <fmt/format.h>

#include <app/device.h>
#include <app/format.h>
#include <app/interrupt.h>
#include <app/output.h>
#include <app/summary.h>

#include "pictures.h"

namespace wa_tor {
namespace {

// The host looks at results once in so many steps or milliseconds, whichever is first: waiting for the GPU after every
// step would slow it down. On the CPU there is nothing to wait for.
int steps_per_check() {
  return app::device_is_asynchronous() ? 16 : 1;
}
constexpr std::chrono::milliseconds kCheckInterval{50};

bool wanted(const std::string& output) {
  return !output.empty() && output != kNoOutput;
}

std::unique_ptr<Simulation> make_simulation(const CommandLine& options) {
  Parameters parameters = options.parameters;
  parameters.profile_every = steps_per_check();
  if (options.baseline == "soa") return make_soa_baseline(parameters);
  if (options.baseline == "aos") return make_aos_baseline(parameters);
  if (options.baseline == "reference") return make_reference(parameters);
  return options.variant == "cells" ? make_cells(parameters) : make_agents(parameters);
}

std::string implementation(const CommandLine& options) {
  if (options.baseline == "soa") return "structure-of-arrays baseline";
  if (options.baseline == "aos") return "array-of-structures baseline";
  if (options.baseline == "reference") return "sequential reference";
  return options.variant == "cells" ? "cells and agents as objects" : "agents as objects";
}

std::vector<std::string> population_row(const std::string& name, const std::vector<Population>& history,
                                        std::uint64_t Population::*count) {
  const auto less = [count](const Population& a, const Population& b) { return a.*count < b.*count; };
  const auto [low, high] = std::minmax_element(history.begin(), history.end(), less);
  return {name, app::grouped(history.front().*count), app::grouped(history.back().*count), app::grouped((*low).*count),
          app::grouped((*high).*count)};
}

void add_usage(app::Summary& summary, const Usage& usage) {
  summary.section({"Objects"});
  summary.row({"allocations", app::grouped(usage.allocations)});
  summary.row({"frees", app::grouped(usage.frees)});
  const double used =
      usage.heap_bytes > 0 ? static_cast<double>(usage.used_bytes) / static_cast<double>(usage.heap_bytes) : 0;
  summary.row({"heap", app::bytes(usage.heap_bytes), app::percent(used) + " used"});
  summary.row({"fragmentation", app::percent(usage.fragmentation)});
}

}  // namespace

std::string describe(const CommandLine& options) {
  const bool sequential = options.baseline == "reference";
  return fmt::format("wa-tor: {}, {} x {} cells, {}, on {}", implementation(options), options.parameters.width,
                     options.parameters.height,
                     app::counted(static_cast<std::uint64_t>(options.steps), "step", "steps"),
                     sequential ? "one CPU thread" : app::device_description(options.parameters.threads));
}

Run::Run(const CommandLine& options) : options_(options) {
  if (wanted(options_.chart)) app::require_writable_file(options_.chart);
  if (wanted(options_.picture)) app::require_writable_file(options_.picture);
  if (wanted(options_.frames)) app::require_writable_folder(options_.frames);
  if (wanted(options_.csv)) csv_.emplace(options_.csv, std::initializer_list<const char*>{"step", "fish", "sharks"});
}

void Run::simulate() {
  simulation_ = make_simulation(options_);
  simulation_->record();
  check(0);
  write_frame_if_due(0);
  progress_.emplace(static_cast<std::uint64_t>(options_.steps), !options_.quiet);
  for (int step = 1; step <= options_.steps && !app::interrupted(); ++step) {
    const Clock::time_point start = Clock::now();
    simulation_->step();
    simulation_->record();
    if (check_due(step)) check(step);
    simulation_time_ += Clock::now() - start;
    write_frame_if_due(step);
  }
  progress_->clear();
}

bool Run::check_due(int step) const {
  return step == options_.steps || step - completed_ >= steps_per_check() || frame_due(step) || app::interrupted() ||
         Clock::now() - last_check_ >= kCheckInterval;
}

// Waits for the simulation up to `step`; what it has counted until then is valid from now on.
void Run::check(int step) {
  simulation_->synchronize();
  for (const Population& population : simulation_->take_history()) {
    if (csv_) csv_->row({history_.size(), population.fish, population.sharks});
    history_.push_back(population);
    objects_ += population.fish + population.sharks;
  }
  if (csv_) csv_->flush();
  completed_ = step;
  last_check_ = Clock::now();
  if (!progress_ || !progress_->due(static_cast<std::uint64_t>(step))) return;
  const Population& now = history_.back();
  progress_->show(static_cast<std::uint64_t>(step), {{"fish", now.fish}, {"sharks", now.sharks}}, objects_);
}

bool Run::frame_due(int step) const {
  return wanted(options_.frames) && step % options_.every == 0;
}

void Run::write_frame_if_due(int step) {
  if (!frame_due(step)) return;
  const std::filesystem::path path = std::filesystem::path(options_.frames) / fmt::format("frame-{:06}.png", step);
  save_ocean(simulation_->ocean(), options_.parameters, path.string());
  ++frames_;
}

void Run::write_results(bool ocean_is_valid) {
  if (progress_) progress_->clear();
  if (csv_) files_.push_back(fmt::format("{} ({})", csv_->path(), app::counted(history_.size(), "row", "rows")));
  if (wanted(options_.chart) && !history_.empty()) {
    save_chart(history_, options_.parameters, options_.chart);
    files_.push_back(options_.chart);
  }
  if (wanted(options_.picture) && ocean_is_valid) {
    save_ocean(simulation_->ocean(), options_.parameters, options_.picture);
    files_.push_back(options_.picture);
  }
  if (frames_ > 0) files_.push_back(fmt::format("{} ({})", options_.frames, app::counted(frames_, "frame", "frames")));
}

void Run::print_summary() {
  app::Summary summary;
  summary.section({"Population", "start", "end", "least", "most"});
  summary.row(population_row("fish", history_, &Population::fish));
  summary.row(population_row("sharks", history_, &Population::sharks));
  if (const std::optional<Usage> usage = simulation_->usage()) add_usage(summary, *usage);
  add_times(summary);
  fmt::print("\n");
  summary.print(stdout);
}

void Run::add_times(app::Summary& summary) {
  const double total = std::chrono::duration<double>(simulation_time_).count();
  const std::vector<PhaseTime> phases = simulation_->phases();
  double in_phases = 0;
  for (const PhaseTime& phase : phases) in_phases += phase.seconds;
  summary.section({"Time", "", "share"});
  for (const PhaseTime& phase : phases) {
    summary.row(
        {phase.name, app::duration(phase.seconds), app::percent(in_phases > 0 ? phase.seconds / in_phases : 0)});
  }
  summary.row({"all steps", app::duration(total)});
  if (completed_ == 0 || total <= 0) return;
  summary.row({"one step", app::duration(total / completed_)});
  summary.row({"steps/s", app::si(completed_ / total)});
  // A step handles the agents that were there before it.
  const Population& last = history_.back();
  summary.row({"objects/s", app::si(static_cast<double>(objects_ - last.fish - last.sharks) / total)});
}

void Run::print_files() const {
  if (files_.empty()) return;
  fmt::print("\nWritten: {}\n", fmt::join(files_, ", "));
}

}  // namespace wa_tor
