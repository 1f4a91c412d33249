#include "program.h"

#include <utility>

#include <fmt/format.h>

#include <app/text.h>
#include <dynasoar/program/format.h>

namespace bodies {
namespace {

constexpr int kMostBodies = 1 << 28;

app::Row row_of(const Totals& totals) {
  return {totals.bodies, totals.mass, totals.kinetic_energy, totals.momentum_x, totals.momentum_y};
}

// The common part of the programs' descriptions.
app::Description completed(app::Description description) {
  description.variant_help = "What is an object: the bodies";
  description.log = {"bodies.csv", "Bodies, mass, energy and momentum after every step"};
  description.columns = {
      {"bodies"}, {"mass", false}, {"kinetic_energy", false}, {"momentum_x", false}, {"momentum_y", false}};
  return description;
}

}  // namespace

BodiesProgram::BodiesProgram(Model model)
    : ModelProgram(completed(model.description), {{"objects", "bodies as objects", model.objects}},
                   baselines_of(model.soa_baseline, model.aos_baseline, model.reference,
                                "sequential reference in double precision"),
                   row_of),
      model_(std::move(model)),
      count_(model_.bodies) {}

void BodiesProgram::add_options(CLI::App& cli) {
  app::add_integer(cli, "--bodies", count_, 1, kMostBodies, "Bodies at the start, unless they come from a file");
  add_seed(cli, seed_, "Seed of all random numbers: the same seed, the same bodies");
  if (model_.has_cut_off) {
    app::add_real(cli, "--cut-off", cut_off_, 0, 3, "Bodies that are farther away do not attract; 0: all do");
  }
  app::add_path(cli, "--input", input_, "FILE",
                "Bodies to start with (CSV with the columns x, y, vx, vy, mass); none: random ones");
  app::add_path(cli, "--output", output_, "FILE", "Bodies at the end, in the format of --input; none: not written");
}

void BodiesProgram::check_options(app::RunOptions&) {
  parameters().cut_off = static_cast<float>(cut_off_);
  parameters().initial =
      !input_.empty() ? read_bodies(input_)
                      : random_bodies(static_cast<std::uint32_t>(count_), seed_, model_.least_mass, model_.most_mass);
}

std::string BodiesProgram::size() const {
  return app::counted(parameters().initial.size(), "body", "bodies");
}

app::Drawings BodiesProgram::drawings() const {
  return {.chart = {"bodies.png", model_.chart_help},
          .picture = {model_.description.name + ".png", "The bodies at the end"}};
}

app::Picture BodiesProgram::picture() {
  return bodies_picture(simulation().bodies());
}

app::Chart BodiesProgram::chart(const std::vector<app::Row>& history) const {
  const std::string origin = !input_.empty() ? "from " + app::shown(input_) : fmt::format("seed {}", seed_);
  app::Chart chart = model_.chart;
  chart.subtitle = fmt::format("{} bodies at the start, {}", app::grouped(parameters().initial.size()), origin);
  for (const app::Row& row : history) chart.series.front().values.push_back(row[model_.chart_column]);
  return chart;
}

void BodiesProgram::save_output(const app::NamedFile& output) {
  write_bodies(simulation().bodies(), output.path);
}

}  // namespace bodies
