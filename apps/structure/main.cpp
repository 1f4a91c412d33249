/// @file
/// The program structure: the model's options, and what its results look like.

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <app/allocator_choice.h>
#include <app/error.h>
#include <app/format.h>
#include <app/options.h>
#include <app/program.h>
#include <app/text.h>

#include "mesh.h"
#include "network.h"
#include "pictures.h"
#include "simulation.h"

namespace structure {
namespace {

constexpr int kMostNodes = 1 << 28;
constexpr double kMostSpringsPerNode = 2.5;
constexpr double kMostSpeed = 1e6;
constexpr double kLeastMass = 4;  // lighter nodes with 32 springs would swing ever wider in steps of 0.2
constexpr double kLargest = 1e9;

app::ProgramTexts program_texts() {
  return {.name = "structure",
          .description =
              "Simulates how a material breaks that is held at some places and pulled at others: nodes, joined\n"
              "by springs that pull but do not push. What no anchor holds is removed.\n"
              "Writes the numbers of springs and nodes after every step, a chart of them and a picture.",
          .variants = {"springs"},
          .variant_help = "What is an object: nodes and springs",
          .allocators = app::allocator_names(),
          .baselines = {"none", "soa", "aos", "fused", "reference"},
          .log_help = "Springs and nodes after every step",
          .chart_help = "Chart of the springs and nodes that are left",
          .picture_help = "The structure at the end"};
}

app::RunOptions default_options() {
  app::RunOptions options;
  options.steps = 60;
  options.variant = "springs";
  options.log = "structure.csv";
  options.chart = "structure-history.png";
  options.picture = "structure.png";
  return options;
}

class Structure final : public app::Program {
 public:
  Structure() : Program(program_texts(), default_options()) {}

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
    app::add_real(cli, "--strength", parameters_.strength, 0, kLargest, "Springs break at a force over this");
    app::add_real(cli, "--mass", parameters_.mass, kLeastMass, kLargest, "Mass of a free node");
    app::add_unsigned(cli, "--seed", seed_, "Seed of all random numbers: the same seed, the same run");
  }

  std::vector<app::NamedFile> inputs() const override { return {{"--mesh", mesh_}}; }

  void check_options(app::RunOptions&) override {
    if (random_.free + random_.pulled > 1) {
      throw app::UsageError(fmt::format("--free + --pulled: must not exceed 1, but {} + {} do (see --help)",
                                        random_.free, random_.pulled));
    }
    if (ends_.anchor_left + ends_.pull_right > 1) {
      throw app::UsageError(fmt::format("--anchor-left + --pull-right: must not exceed 1, but {} + {} do (see --help)",
                                        ends_.anchor_left, ends_.pull_right));
    }
    try {
      start_ = make_network();
      check_network(start_);
    } catch (const std::invalid_argument& error) {
      throw app::UsageError(fmt::format("{}: {}", mesh_, error.what()));
    }
  }

  std::string describe(const app::RunOptions& options) const override {
    return fmt::format("{}, {}", implementation(options), size());
  }

  std::vector<app::Column> columns() const override { return {{"springs"}, {"nodes"}}; }

  app::Simulation& start(const app::RunOptions& options) override {
    parameters_.allocator = options.allocator;
    parameters_.heap_bytes = options.heap_bytes;
    parameters_.threads = options.threads;
    parameters_.profile_every = options.profile_every;
    simulation_ = make(options);
    return *simulation_;
  }

  std::vector<app::Row> take_history() override {
    std::vector<app::Row> rows;
    for (const Census& census : simulation_->take_history()) {
      rows.push_back({static_cast<double>(census.springs), static_cast<double>(census.nodes)});
    }
    return rows;
  }

  double objects(const app::Row& row) const override { return row[0] + row[1]; }

  app::Picture picture() override { return network_picture(simulation_->network(), start_, parameters_.strength); }

  app::World world() const override { return world_of(start_); }

  std::uint64_t seed() const override { return seed_; }

  app::Chart chart(const std::vector<app::Row>& history) const override { return history_chart(history, size()); }

 private:
  static std::string implementation(const app::RunOptions& options) {
    if (options.baseline == "soa") return "structure-of-arrays baseline";
    if (options.baseline == "aos") return "array-of-structures baseline";
    if (options.baseline == "fused") return "fused structure-of-arrays baseline";
    if (options.baseline == "reference") return "sequential reference";
    return "nodes and springs as objects";
  }

  // "plate.msh, 1,234 nodes, 3,500 springs, seed 42"
  std::string size() const {
    const std::string source =
        mesh_.empty() ? "random network" : app::shown(std::filesystem::path(mesh_).filename().string());
    return fmt::format("{}, {}, {}, seed {}", source, counted(start_.nodes.size(), "node", "nodes"),
                       counted(start_.springs.size(), "spring", "springs"), seed_);
  }

  static std::string counted(std::size_t count, const char* one, const char* many) {
    return fmt::format("{} {}", app::grouped(count), count == 1 ? one : many);
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

  std::unique_ptr<Simulation> make(const app::RunOptions& options) const {
    if (options.baseline == "soa") return make_soa_baseline(parameters_, start_);
    if (options.baseline == "aos") return make_aos_baseline(parameters_, start_);
    if (options.baseline == "fused") return make_fused_baseline(parameters_, start_);
    if (options.baseline == "reference") return make_reference(parameters_, start_);
    return make_springs(parameters_, start_);
  }

  std::string mesh_;
  int nodes_ = 1000;
  double pull_speed_ = 0.05;
  std::uint64_t seed_ = 42;
  RandomNetwork random_;
  MeshSetup ends_;
  Parameters parameters_;
  Network start_;
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace
}  // namespace structure

int main(int argc, char** argv) {
  structure::Structure program;
  return app::run_program(program, argc, argv);
}
