/// @file
/// Pictures: draws a run with cairo and shows it with SDL. Used by run_program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <app/animation.h>
#include <app/program.h>
#include <app/view.h>
#include <dynasoar/program/display.h>

namespace app {

class Pictures final : public Display {
 public:
  explicit Pictures(Program& program);

  void add_options(CLI::App& cli) override;
  void prepare() override;
  std::vector<NamedFile> outputs() const override;
  std::vector<NumberedFiles> numbered_files(std::uint64_t steps) const override;
  void open() override;
  std::string option_for_objects() const override { return is_watched_ ? "--view" : ""; }
  void start(dynasoar::program::Simulation& simulation, int steps, Attempt attempt) override;
  bool due(int step) const override { return view_ || frame_due(step); }
  void show(int step) override;
  bool wait(int step) override;
  std::vector<std::string> write_results(const std::vector<Row>& history, bool state_is_valid) override;
  std::vector<std::string> finish() override;

 private:
  bool frame_due(int step) const { return (wanted(frames_) || wanted(animated_)) && step % every_ == 0; }

  /// The file of --picture, or its default if the program has one.
  std::string picture_file() const;

  /// Writes a picture, unless another rank does.
  void save(const Picture& picture, const std::string& path) const {
    if (program_.is_first_rank()) picture.save_png(path);
  }

  Program& program_;
  std::string chart_;  // files; "none" or empty: not written
  std::string picture_;
  bool picture_is_given_ = false;  // on the command line
  std::string frames_;             // folder
  std::string animated_;
  int every_ = 10;
  bool is_watched_ = false;

  std::optional<Animation> animation_;
  std::optional<View> view_;
  Attempt attempt_;
  std::uint64_t frame_count_ = 0;  // that were written to the folder
  std::uint64_t animation_frames_ = 0;
};

}  // namespace app
