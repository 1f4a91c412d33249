/// @file
/// The program traffic: the model's options, and what its results look like.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
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
#include <dynasoar/write_file.h>

#include "network.h"
#include "network_files.h"
#include "pictures.h"
#include "simulation.h"

namespace traffic {
namespace {

constexpr int kMostIntersections = 1000000;

app::ProgramTexts program_texts() {
  return {.name = "traffic",
          .description =
              "Simulates cars on a network of streets with traffic lights (after Nagel and Schreckenberg, 1992).\n"
              "Writes the numbers of cars after every step, a chart of them and a map with the cars at the end.",
          .variants = {"cells", "cars"},
          .variant_help = "What is an object: cells, streets, lights and cars, or cars only",
          .allocators = app::allocator_names(),
          .baselines = {"none", "soa", "aos", "reference"},
          .log_help = "Cars, moving cars and the sum of speeds after every step",
          .chart_help = "Chart of the cars",
          .picture_help = "Map with the cars at the end"};
}

app::RunOptions default_options() {
  app::RunOptions options;
  options.variant = "cells";
  options.log = "traffic.csv";
  options.chart = "traffic-history.png";
  options.picture = "traffic.png";
  return options;
}

bool is_sumo(const std::string& path) {
  return std::filesystem::path(path).extension() == ".xml";
}

class Traffic final : public app::Program {
 public:
  Traffic() : Program(program_texts(), default_options()) {}

  void add_options(CLI::App& cli) override {
    CLI::Option* const network = app::add_path(cli, "--network", network_file_, "FILE",
                                               "Network to simulate: SUMO's, if its name ends with .xml, or in text");
    app::add_integer(cli, "--intersections", intersections_, 0, kMostIntersections,
                     "Intersections of a random network, if there is no --network")
        ->excludes(network);
    setup_options_ = {
        app::add_fraction(cli, "--producers", sources_.producers, "Fraction of the cells where cars appear"),
        app::add_fraction(cli, "--destinations", sources_.destinations, "Fraction of the cells where cars leave"),
        app::add_integer(cli, "--green", green_, 0, kMostGreen,
                         "Steps for which each phase of a light is green; 0: no lights")};
    app::add_fraction(cli, "--density", parameters_.density, "Fraction of the cells with a car at the start");
    app::add_fraction(cli, "--production", parameters_.production,
                      "Probability that a free producer makes a car in a step");
    app::add_fraction(cli, "--dawdling", parameters_.dawdling,
                      "Probability that a car goes a cell less far than it could in a step");
    app::add_unsigned(cli, "--seed", parameters_.seed, "Seed of all random numbers: the same seed, the same run");
    app::add_path(cli, "--save-network", saved_network_, "FILE", "Write the network, in text");
  }

  std::vector<app::NamedFile> inputs() const override { return {{"--network", network_file_}}; }

  std::vector<app::NamedFile> outputs() const override { return {{"--save-network", saved_network_}}; }

  void check_options(app::RunOptions&) override {
    if (sources_.producers + sources_.destinations > 1) {
      throw app::UsageError(fmt::format("--producers + --destinations: must not exceed 1, but {} + {} do (see --help)",
                                        sources_.producers, sources_.destinations));
    }
    sources_.seed = parameters_.seed;
    try {
      network_ = make_network();
      check_network(network_);
    } catch (const std::invalid_argument& error) {
      throw app::UsageError(
          fmt::format("{}: {}", network_file_.empty() ? "--intersections" : network_file_, error.what()));
    }
  }

  std::string describe(const app::RunOptions& options) const override {
    return fmt::format("{}, {}", implementation(options), size());
  }

  std::vector<app::Column> columns() const override { return {{"cars"}, {"moving"}, {"speeds"}}; }

  app::Simulation& start(const app::RunOptions& options) override {
    parameters_.allocator = options.allocator;
    parameters_.heap_bytes = options.heap_bytes;
    parameters_.threads = options.threads;
    parameters_.profile_every = options.profile_every;
    simulation_ = make(options);
    if (options.view || !options.exported.empty()) {
      places_ = places_of_cells(network_);
      simulation_->set_places(places_);
    }
    return *simulation_;
  }

  std::vector<app::Row> take_history() override {
    std::vector<app::Row> rows;
    for (const Census& census : simulation_->take_history()) {
      rows.push_back(
          {static_cast<double>(census.cars), static_cast<double>(census.moving), static_cast<double>(census.speeds)});
    }
    return rows;
  }

  app::Picture picture() override { return map_picture(network_, simulation_->cells()); }

  void place(dynasoar::Columns& cars) const override { add_places(cars, places_); }

  app::World world() const override { return world_of(network_); }

  std::uint64_t seed() const override { return parameters_.seed; }

  app::Chart chart(const std::vector<app::Row>& history) const override { return history_chart(history, size()); }

  void save_output(const app::NamedFile& output) override {
    std::ostringstream text;
    write_network(text, network_);
    dynasoar::write_file(output.path, text.str());
  }

 private:
  static std::string implementation(const app::RunOptions& options) {
    if (options.baseline == "soa") return "structure-of-arrays baseline";
    if (options.baseline == "aos") return "array-of-structures baseline";
    if (options.baseline == "reference") return "sequential reference";
    return options.variant == "cells" ? "cells and cars as objects" : "cars as objects";
  }

  // "town.net.xml, 28 intersections, 76 streets, 1,234 cells, seed 42"
  std::string size() const {
    const std::string source =
        network_file_.empty() ? "random network" : app::shown(std::filesystem::path(network_file_).filename().string());
    return fmt::format("{}, {}, {}, {}, seed {}", source,
                       app::counted(network_.intersections.size(), "intersection", "intersections"),
                       app::counted(network_.streets.size(), "street", "streets"),
                       app::counted(network_.cells(), "cell", "cells"), parameters_.seed);
  }

  Network make_network() const {
    if (network_file_.empty()) {
      return random_network(static_cast<std::uint32_t>(intersections_), static_cast<std::uint32_t>(green_), sources_);
    }
    const std::string text = app::read_text(network_file_);
    if (is_sumo(network_file_)) {
      Network network = read_sumo_network(text, network_file_, static_cast<std::uint32_t>(green_));
      place_sources(network, sources_);
      return network;
    }
    for (const CLI::Option* const option : setup_options_) {
      if (option->count() == 0) continue;
      throw app::UsageError(fmt::format(
          "{}: networks in text say that themselves; it is for random networks and SUMO's", option->get_name()));
    }
    std::istringstream in(text);
    return read_network(in, network_file_);
  }

  std::unique_ptr<Simulation> make(const app::RunOptions& options) const {
    if (options.baseline == "soa") return make_soa_baseline(parameters_, network_);
    if (options.baseline == "aos") return make_aos_baseline(parameters_, network_);
    if (options.baseline == "reference") return make_reference(parameters_, network_);
    return options.variant == "cells" ? make_cells(parameters_, network_) : make_cars(parameters_, network_);
  }

  std::string network_file_;
  std::string saved_network_;
  int intersections_ = 100;
  int green_ = 5;
  Sources sources_;
  std::vector<CLI::Option*> setup_options_;  // valid until check_options() returns
  Parameters parameters_;
  Network network_;
  std::vector<Point> places_;  // of cells, if they are shown or exported
  std::unique_ptr<Simulation> simulation_;
};

}  // namespace
}  // namespace traffic

int main(int argc, char** argv) {
  traffic::Traffic program;
  return app::run_program(program, argc, argv);
}
