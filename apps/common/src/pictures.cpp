#include "pictures.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include <app/cairo_png.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>
#include <CLI/CLI.hpp>

namespace app {

Pictures::Pictures(Program& program)
    : program_(program), chart_(program.drawings().chart.path), picture_(program.drawings().picture.path) {}

void Pictures::add_options(CLI::App& cli) {
  const Drawings drawings = program_.drawings();
  add_path(cli, "--chart", chart_, "FILE", drawings.chart.help + " (PNG); none: not written");
  add_path(cli, "--picture", picture_, "FILE", drawings.picture.help + " (PNG); none: not written")
      ->each([this](const std::string&) { picture_is_given_ = true; });
  add_path(cli, "--frames", frames_, "DIR", "Folder for pictures during the run, frame-000000.png ...");
  add_path(cli, "--animation", animated_, "FILE", "The same pictures as a moving one: FILE.webp (WebP)");
  add_integer(cli, "--every", every_, 1, std::numeric_limits<int>::max(), "Steps from one frame to the next");
  cli.add_flag("--view", is_watched_,
               "Watch the run in a window: pause, zoom, click on what you want to know more of; not with --baseline");
}

void Pictures::prepare() {
  if (wanted(animated_)) animation_.emplace(animated_);
}

std::string Pictures::picture_file() const {
  return picture_is_given_ || program_.has_default_picture() ? picture_ : std::string();
}

std::vector<NamedFile> Pictures::outputs() const {
  return {{"--animation", animated_}, {"--chart", chart_}, {"--picture", picture_file()}};
}

std::vector<NumberedFiles> Pictures::numbered_files(std::uint64_t steps) const {
  std::vector<NumberedFiles> files;
  if (wanted(frames_)) {
    files.push_back({"--frames", frames_, "frame", ".png", static_cast<std::uint64_t>(every_), steps, true});
  }
  if (is_watched_) files.push_back({"--view", "", program_.description().name, ".png", 1, steps});
  return files;
}

void Pictures::open() {
  if (is_watched_) view_.emplace();
}

void Pictures::start(dynasoar::program::Simulation& simulation, int steps, Attempt attempt) {
  attempt_ = std::move(attempt);
  // Cairo frees its caches when the program ends. They are made now, so that they still exist if a library ends the run
  // and the run then writes its results.
  static_cast<void>(make_image(1, 1));
  if (view_) view_->open(program_, dynamic_cast<Simulation&>(simulation), steps);
}

void Pictures::show(int step) {
  if (!frame_due(step)) return;
  std::optional<Picture> made;
  bool has_failed = false;  // it is not made again, because all ranks would have to take part
  const auto picture = [&]() -> const Picture& {
    if (has_failed) throw dynasoar::Error("the picture could not be made");
    has_failed = !made;
    if (!made) made = program_.picture();
    has_failed = false;
    return *made;
  };
  if (wanted(frames_)) {
    const NumberedFiles files = numbered_files(static_cast<std::uint64_t>(step)).front();
    const std::string path = files.file_of(static_cast<std::uint64_t>(step));
    if (attempt_("--frames", [&] { save(picture(), path); })) ++frame_count_;
  }
  const auto animate = [&] {
    const Picture& next = picture();
    if (animation_) animation_->add(next);
  };
  if (wanted(animated_) && attempt_("--animation", animate)) ++animation_frames_;
}

// The run continues if the window fails.
bool Pictures::wait(int step) {
  bool goes_on = true;
  if (view_ && !attempt_("--view", [&] { goes_on = view_->wait(step); })) view_.reset();
  return goes_on;
}

std::vector<std::string> Pictures::write_results(const std::vector<Row>& history, bool state_is_valid) {
  std::vector<std::string> written;
  if (program_.is_first_rank() && wanted(chart_) && !history.empty() &&
      attempt_("--chart", [&] { program_.chart(history).save_png(chart_); })) {
    written.push_back(chart_);
  }
  const std::string file = picture_file();
  if (wanted(file) && state_is_valid && attempt_("--picture", [&] { save(program_.picture(), file); })) {
    written.push_back(file);
  }
  return written;
}

std::vector<std::string> Pictures::finish() {
  std::vector<std::string> written;
  const auto add = [&written](const std::string& path, std::uint64_t frames) {
    written.push_back(fmt::format("{} ({})", path, counted(frames, "frame", "frames")));
  };
  if (frame_count_ > 0) add(frames_, frame_count_);
  if (animation_ && animation_frames_ > 0 && attempt_("--animation", [this] { animation_->finish(); })) {
    add(animated_, animation_frames_);
  }
  return written;
}

int run_program(Program& program, int argc, const char* const* argv) {
  Pictures pictures(program);
  return dynasoar::program::run_program(program, argc, argv, &pictures);
}

}  // namespace app
