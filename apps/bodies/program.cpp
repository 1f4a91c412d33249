#include "program.h"

#include <utility>

#include <fmt/format.h>

#include <app/error.h>
#include <app/format.h>
#include <app/options.h>
#include <app/text.h>

#include "body_files.h"
#include "picture.h"
#include "random_bodies.h"

namespace bodies {
namespace {

constexpr int kMostBodies = 1 << 28;

app::RunOptions default_options(const Model& model) {
  app::RunOptions options;
  options.steps = model.steps;
  options.variant = "objects";
  options.log = "bodies.csv";
  options.chart = "bodies.png";
  options.picture = model.texts.name + ".png";
  return options;
}

}  // namespace

BodiesProgram::BodiesProgram(Model model)
    : Program(model.texts, default_options(model)), model_(std::move(model)), count_(model_.bodies) {}

void BodiesProgram::add_options(CLI::App& cli) {
  app::add_integer(cli, "--bodies", count_, 1, kMostBodies, "Bodies at the start, unless they come from a file");
  app::add_unsigned(cli, "--seed", seed_, "Seed of all random numbers: the same seed, the same bodies");
  if (model_.has_cut_off) {
    app::add_real(cli, "--cut-off", cut_off_, 0, 3, "Bodies that are farther away do not attract; 0: all do");
  }
  app::add_path(cli, "--input", input_, "FILE",
                "Bodies to start with (CSV with the columns x, y, vx, vy, mass); none: random ones");
  app::add_path(cli, "--output", output_, "FILE", "Bodies at the end, in the format of --input; none: not written");
}

void BodiesProgram::check_options(app::RunOptions&) {
  parameters_.initial =
      !input_.empty() ? read_bodies(input_)
                      : random_bodies(static_cast<std::uint32_t>(count_), seed_, model_.least_mass, model_.most_mass);
}

std::string BodiesProgram::describe(const app::RunOptions& options) const {
  const std::string what = options.baseline == "soa"         ? "structure-of-arrays baseline"
                           : options.baseline == "aos"       ? "array-of-structures baseline"
                           : options.baseline == "reference" ? "sequential reference in double precision"
                                                             : "bodies as objects";
  return fmt::format("{}, {}", what, app::counted(parameters_.initial.size(), "body", "bodies"));
}

std::vector<app::Column> BodiesProgram::columns() const {
  return {{"bodies", true}, {"mass", false}, {"kinetic_energy", false}, {"momentum_x", false}, {"momentum_y", false}};
}

const Make& BodiesProgram::implementation(const app::RunOptions& options) const {
  if (options.baseline == "soa") return model_.soa_baseline;
  if (options.baseline == "aos") return model_.aos_baseline;
  return options.baseline == "reference" ? model_.reference : model_.objects;
}

app::Simulation& BodiesProgram::start(const app::RunOptions& options) {
  parameters_.cut_off = static_cast<float>(cut_off_);
  parameters_.allocator = options.allocator;
  parameters_.heap_bytes = options.heap_bytes;
  parameters_.threads = options.threads;
  parameters_.profile_every = options.profile_every;
  simulation_ = implementation(options)(parameters_);
  return *simulation_;
}

std::vector<app::Row> BodiesProgram::take_history() {
  std::vector<app::Row> rows;
  for (const Totals& totals : simulation_->take_history()) {
    rows.push_back({totals.bodies, totals.mass, totals.kinetic_energy, totals.momentum_x, totals.momentum_y});
  }
  return rows;
}

app::Picture BodiesProgram::picture() {
  return bodies_picture(simulation_->bodies());
}

app::Chart BodiesProgram::chart(const std::vector<app::Row>& history) const {
  const std::string origin = !input_.empty() ? "from " + app::shown(input_) : fmt::format("seed {}", seed_);
  return model_.chart(history,
                      fmt::format("{} bodies at the start, {}", app::grouped(parameters_.initial.size()), origin));
}

void BodiesProgram::save_output(const app::NamedFile& output) {
  write_bodies(simulation_->bodies(), output.path);
}

}  // namespace bodies
