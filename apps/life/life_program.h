/// @file
/// LifeProgram: the common part of the programs game-of-life and generation, which differ only in their texts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <app/program.h>

#include "rle.h"
#include "simulation.h"

namespace life {

/// The differences between the two programs.
struct Flavor {
  app::Description description;
  std::string title;         ///< of the chart
  std::string default_rule;  ///< if neither the command line nor the pattern names one
  int random_side = 0;       ///< of a random start, if no size is given
  bool has_stencil = false;  ///< among the baselines
  bool has_dying = false;    ///< rules may have dying states, which replace candidates in the table
};

class LifeProgram final : public app::ModelProgram<Simulation, Parameters> {
 public:
  explicit LifeProgram(Flavor flavor);

  void add_options(CLI::App& cli) override;
  std::vector<app::NamedFile> inputs() const override { return {{"--pattern", pattern_path_}}; }
  std::vector<app::NamedFile> outputs() const override { return {{"--output", output_}}; }
  void check_options(app::RunOptions& options) override;
  std::string why_not_on_ranks(const app::RunOptions& options) const override;
  std::string size() const override;
  app::Drawings drawings() const override;
  bool has_default_picture() const override;
  app::Picture picture() override;
  app::World world() const override;
  app::Chart chart(const std::vector<app::Row>& history) const override;
  void save_output(const app::NamedFile& output) override;

 private:
  std::unique_ptr<Simulation> make(const Make& make) override;
  void read_pattern();
  void place_pattern();
  void check_size(const app::RunOptions& options) const;
  void check_memory() const;

  Flavor flavor_;
  std::string pattern_path_;
  std::string rule_text_;
  std::string edge_ = "grow";
  std::string output_;
  int width_ = 0;
  int height_ = 0;
  Pattern pattern_;
};

}  // namespace life
