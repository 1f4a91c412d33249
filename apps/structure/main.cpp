/// @file
/// The program structure: the model's options and outputs.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <app/allocator_choice.h>
#include <app/program.h>
#include <app/text.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>

#include "mesh.h"
#include "network.h"
#include "pictures.h"
#include "simulation.h"

namespace structure {
namespace {

constexpr int kMostNodes = 1 << 27;
constexpr double kMostSpringsPerNode = 2.5;
constexpr double kMostSpeed = 1e6;
constexpr double kLeastMass = 4;  // the oscillations of lighter nodes with 32 springs would grow in steps of 0.2
constexpr double kLargest = 1e9;

app::Description about() {
  return {.name = "structure",
          .text =
              "Simulates how a material breaks that is held at some places and pulled at others: nodes, joined\n"
              "by springs that pull but do not push. What no anchor holds is removed.\n"
              "Writes the numbers of springs and nodes after every step, a chart of them and a picture.",
          .variant_help = "What is an object: nodes and springs",
          .allocators = app::allocator_names(),
          .steps = 60,
          .log = {"structure.csv", "Springs and nodes after every step"},
          .columns = {{"springs"}, {"nodes"}},
          .object_columns = 2};
}

app::Row row_of(const Census& census) {
  return {static_cast<double>(census.springs), static_cast<double>(census.nodes)};
}

class Structure final : public app::ModelProgram<Simulation, Parameters> {
 public:
  Structure()
      : ModelProgram(about(), {{"springs", "nodes and springs as objects", on_network(make_springs)}},
                     {{"soa", "structure-of-arrays baseline", on_network(make_soa_baseline)},
                      {"aos", "array-of-structures baseline", on_network(make_aos_baseline)},
                      {"fused", "fused structure-of-arrays baseline", on_network(make_fused_baseline)},
                      {"reference", "sequential reference", on_network(make_reference)}},
                     row_of) {}

  void add_options(CLI::App& cli) override {
    CLI::Option* const mesh = app::add_path(cli, "--mesh", mesh_, "FILE", "Gmsh mesh (MSH 4.1, text) to simulate");
    CLI::Option* const random[] = {
        app::add_integer(cli, "--nodes", nodes_, 0, kMostNodes, "Nodes of a random network, if there is no mesh"),
        app::add_real(cli, "--springs-per-node", random_.springs_per_node, 0, kMostSpringsPerNode,
                      "Springs of a random network, per node"),
        app::add_fraction(cli, "--free", random_.free, "Fraction of a random network's nodes that are free"),
        app::add_fraction(cli, "--pulled", random_.pulled, "Fraction that are pulled anchors; the others are anchors")};
    for (CLI::Option* const option : random) option->excludes(mesh);
    CLI::Option* const ends[] = {
        app::add_fraction(cli, "--anchor-left", ends_.anchor_left, "Fraction of a mesh's width, from the left, held"),
        app::add_fraction(cli, "--pull-right", ends_.pull_right,
                          "Fraction of a mesh's width, from the right, pulled to the right")};
    for (CLI::Option* const option : ends) option->needs(mesh);
    app::add_real(cli, "--pull-speed", pull_speed_, 0, kMostSpeed,
                  "Speed of pulled anchors; in a random network the largest component, at random");
    app::add_real(cli, "--strength", parameters().strength, 0, kLargest, "Springs break at a force over this");
    app::add_real(cli, "--mass", parameters().mass, kLeastMass, kLargest, "Mass of a free node");
    add_seed(cli, seed_);
  }

  std::vector<app::NamedFile> inputs() const override { return {{"--mesh", mesh_}}; }

  void check_options(app::RunOptions&) override {
    app::check_fractions("--free", random_.free, "--pulled", random_.pulled);
    app::check_fractions("--anchor-left", ends_.anchor_left, "--pull-right", ends_.pull_right);
    try {
      start_ = make_network();
      check_network(start_);
    } catch (const std::invalid_argument& error) {
      throw app::UsageError(fmt::format("{}: {}", mesh_, error.what()));
    }
  }

  // "plate.msh, 1,234 nodes, 3,500 springs, seed 42"
  std::string size() const override {
    const std::string source =
        mesh_.empty() ? "random network" : app::shown(std::filesystem::path(mesh_).filename().string());
    return fmt::format("{}, {}, {}, seed {}", source, app::counted(start_.nodes.size(), "node", "nodes"),
                       app::counted(start_.springs.size(), "spring", "springs"), seed_);
  }

  app::Drawings drawings() const override {
    return {.chart = {"structure-history.png", "Chart of the springs and nodes that are left"},
            .picture = {"structure.png", "The structure at the end"}};
  }

  app::Picture picture() override { return network_picture(simulation().network(), start_, parameters().strength); }

  app::World world() const override { return world_of(start_); }

  app::Chart chart(const std::vector<app::Row>& history) const override { return history_chart(history, size()); }

 private:
  template <class T>
  Make on_network(std::unique_ptr<T> (*make)(const Parameters&, const Network&)) {
    return [this, make](const Parameters& parameters) { return make(parameters, start_); };
  }

  Network make_network() {
    if (mesh_.empty()) {
      random_.nodes = static_cast<std::uint64_t>(nodes_);
      random_.pull_speed = pull_speed_;
      random_.seed = seed_;
      return random_network(random_);
    }
    ends_.pull_speed = pull_speed_;
    ends_.seed = seed_;
    return mesh_network(read_msh_file(mesh_), ends_);
  }

  std::string mesh_;
  int nodes_ = 1000;
  double pull_speed_ = 0.05;
  std::uint64_t seed_ = 42;
  RandomNetwork random_;
  MeshSetup ends_;
  Network start_;
};

}  // namespace
}  // namespace structure

int main(int argc, char** argv) {
  structure::Structure program;
  return app::run_program(program, argc, argv);
}
