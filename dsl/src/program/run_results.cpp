// The results of a run: its files, and the summary that it prints.

#include "run.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>
#include "../interrupt.h"
#include "messages.h"

#include "ranks.h"

namespace dynasoar::program {
namespace {

std::string text(const Column& column, double value) {
  if (std::isnan(value)) return "-";
  return column.is_count ? grouped(static_cast<std::uint64_t>(value)) : fmt::format("{:.6g}", value);
}

std::vector<std::string> row_of(const Column& column, const std::vector<Row>& history, std::size_t index) {
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;
  for (const Row& row : history) {  // fmin and fmax prefer numbers
    low = std::fmin(low, row[index]);
    high = std::fmax(high, row[index]);
  }
  return {column.name, text(column, history.front()[index]), text(column, history.back()[index]), text(column, low),
          text(column, high)};
}

void add_heap(Summary& summary, const HeapUsage& heap) {
  summary.section({"Objects in the heap"});
  if (heap.allocations) summary.row({"allocations", grouped(*heap.allocations)});
  if (heap.frees) summary.row({"frees", grouped(*heap.frees)});
  const double used =
      heap.heap_bytes > 0 ? static_cast<double>(heap.used_bytes) / static_cast<double>(heap.heap_bytes) : 0;
  summary.row({"heap", bytes(heap.heap_bytes), percent(used) + " used"});
  summary.row({"fragmentation", percent(heap.fragmentation)});
}

void add_placed(Summary& summary, const std::vector<TypeStatistics>& types) {
  const bool are_counted = std::any_of(types.begin(), types.end(), [](const auto& type) { return type.created; });
  std::vector<std::string> headings = {"Placed class", "objects", "places", "taken", "memory"};
  if (are_counted) headings.insert(headings.end(), {"created", "deleted"});
  summary.section(std::move(headings));
  for (const TypeStatistics& type : types) {
    std::vector<std::string> cells = {type.name, grouped(type.objects), grouped(type.places), percent(type.taken()),
                                      bytes(type.lattice_bytes)};
    if (are_counted)
      cells.insert(cells.end(), {grouped(type.created.value_or(0)), grouped(type.deleted().value_or(0))});
    summary.row(std::move(cells));
  }
}

void add_usage(Summary& summary, const Usage& usage) {
  if (!usage.placed.empty()) add_placed(summary, usage.placed);
  if (usage.heap) add_heap(summary, *usage.heap);
}

}  // namespace

void Run::write_results(bool state_is_valid) {
  if (progress_) progress_->clear();
  finish_log();
  if (display_ != nullptr) add_files(display_->write_results(history_, state_is_valid));
  if (state_is_valid) {
    for (const NamedFile& output : program_.outputs()) {
      if (!wanted(output.path)) continue;
      if (attempt(output.option, [&] { program_.save_output(output); })) files_.push_back(output.path);
    }
  }
  if (exporter_) {
    exporter_->finish();
    note_exports();
    if (exported_ > 0)
      files_.push_back(fmt::format("{} ({})", exporter_->path(), counted(exported_, "frame", "frames")));
  }
  if (display_ != nullptr) add_files(display_->finish());
}

void Run::add_files(const std::vector<std::string>& files) {
  files_.insert(files_.end(), files.begin(), files.end());
}

void Run::finish_log() {
  if (!log_) return;
  if (detail::interrupted() && losses_.in_trouble("--log")) {  // still failing; a pipe's reader may be slow
    log_->give_up();
    losses_.add("--log", "given up");
    return;
  }
  if (attempt("--log", [this] { log_->finish(); })) {
    files_.push_back(fmt::format("{} ({})", log_->path(), counted(history_.size(), "row", "rows")));
  }
}

std::string Run::what_is_valid() const {
  std::string text =
      history_.empty() ? "there are no results" : fmt::format("results are valid up to step {}", completed_);
  if (saved_ >= 0) {
    text += fmt::format(", the checkpoint is of step {}", saved_);
  } else if (wanted(options_.checkpoint)) {
    text += ", there is no checkpoint";
  }
  if (wanted(options_.checkpoint) && has_started_ && !is_valid_) {
    text += "; the step that failed is incomplete and was not saved";
  }
  return text;
}

void Run::print(std::string_view text) {
  if (const std::error_code error = program::print(text)) losses_.add("standard output", error.message());
}

void Run::print_summary() {
  Summary summary;
  summary.section({"Population", "start", "end", "least", "most"});
  for (std::size_t i = 0; i < columns_.size(); ++i) summary.row(row_of(columns_[i], history_, i));
  std::optional<Usage> usage = simulation_->usage();
  if (options_.ranks != nullptr) add_up(*options_.ranks, usage);
  if (usage) add_usage(summary, *usage);
  add_times(summary);
  print('\n' + summary.text());
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
  if (options_.ranks != nullptr) {
    summary.row({"ranks", grouped(static_cast<std::uint64_t>(options_.ranks->size()))});
    const Transport used = options_.ranks->used_transport();
    if (used != Transport::automatic) summary.row({"transport", name_of(used)});
  }
  summary.row({"all steps", duration(total)});
  if (completed_ == 0 || total <= 0) return;
  summary.row({"one step", duration(total / completed_)});
  summary.row({"steps/s", si(completed_ / total)});
  // A step handles the objects that existed before it.
  summary.row({"objects/s", si((objects_ - program_.objects(history_.back())) / total)});
}

void Run::print_files() {
  if (!files_.empty()) print(fmt::format("\nWritten: {}\n", fmt::join(files_, ", ")));
}

}  // namespace dynasoar::program
