/// @file
/// BodiesProgram: the programs n-body and collision, which differ in their model and their texts; their pictures and
/// files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <app/program.h>

#include "simulation.h"

namespace bodies {

/// The description of a model for a program.
struct Model {
  app::Description description;
  std::string chart_help;
  int bodies;  ///< default of --bodies
  bool has_cut_off;
  float least_mass, most_mass;
  std::function<std::unique_ptr<Simulation>(const Parameters&)> objects, soa_baseline, aos_baseline, reference;
  app::Chart chart;          ///< of one series, without its values
  std::size_t chart_column;  ///< the column of the log with these values
};

class BodiesProgram final : public app::ModelProgram<Simulation, Parameters> {
 public:
  explicit BodiesProgram(Model model);

  void add_options(CLI::App& cli) override;
  std::vector<app::NamedFile> inputs() const override { return {{"--input", input_}}; }
  std::vector<app::NamedFile> outputs() const override { return {{"--output", output_}}; }
  void check_options(app::RunOptions& options) override;
  std::string size() const override;
  app::Drawings drawings() const override;
  app::Picture picture() override;
  app::World world() const override { return {-1.02, 1.02, 2.04, 2.04, true}; }
  app::Chart chart(const std::vector<app::Row>& history) const override;
  void save_output(const app::NamedFile& output) override;

 private:
  Model model_;
  int count_;
  std::uint64_t seed_ = 42;
  std::string input_;
  std::string output_;
  double cut_off_ = 0;
};

/// Points of light in [-1, 1]^2, wider for greater masses, from blue (slow) to white and orange (fast).
app::Picture bodies_picture(const std::vector<BodyState>& bodies);

/// Reads bodies from a CSV file: a header line with the columns x, y, vx, vy, mass in any order, then a line for each
/// body.
///
/// @throws app::UsageError with file, line and column for other contents, and for numbers out of the ranges in
///         simulation.h
std::vector<BodyState> read_bodies(const std::string& path);

/// Writes a CSV file from which read_bodies gets the same numbers. @throws std::runtime_error if the file cannot be
/// written
void write_bodies(const std::vector<BodyState>& bodies, const std::string& path);

}  // namespace bodies
