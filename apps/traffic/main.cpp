/// @file
/// The program traffic: the model's options and outputs.

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
#include <app/program.h>
#include <app/text.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>

#include "network.h"
#include "network_files.h"
#include "pictures.h"
#include "simulation.h"

namespace traffic {
namespace {

constexpr int kMostIntersections = 1000000;

app::Description about() {
  return {.name = "traffic",
          .text =
              "Simulates cars on a network of streets with traffic lights (after Nagel and Schreckenberg, 1992).\n"
              "Writes the numbers of cars after every step, a chart of them and a map with the cars at the end.",
          .variant_help = "What is an object: cells and cars, on a lattice or with pointers, or cars only",
          .allocators = app::allocator_names(),
          .log = {"traffic.csv", "Cars, moving cars and the sum of speeds after every step"},
          .columns = {{"cars"}, {"moving"}, {"speeds"}}};
}

app::Row row_of(const Census& census) {
  return {static_cast<double>(census.cars), static_cast<double>(census.moving), static_cast<double>(census.speeds)};
}

bool is_sumo(const std::string& path) {
  return std::filesystem::path(path).extension() == ".xml";
}

class Traffic final : public app::ModelProgram<Simulation, Parameters> {
 public:
  Traffic()
      : ModelProgram(
            about(),
            {{"placed", "cells and cars placed on a lattice", on_network(make_placed)},
             {"cells", "cells and cars as objects", on_network(make_cells)},
             {"cars", "cars as objects", on_network(make_cars)}},
            baselines_of(on_network(make_soa_baseline), on_network(make_aos_baseline), on_network(make_reference)),
            row_of) {}

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
    app::add_fraction(cli, "--density", parameters().density, "Fraction of the cells with a car at the start");
    app::add_fraction(cli, "--production", parameters().production,
                      "Probability that a free producer makes a car in a step");
    app::add_fraction(cli, "--dawdling", parameters().dawdling,
                      "Probability that a car goes a cell less far than it could in a step");
    add_seed(cli, parameters().seed);
    app::add_path(cli, "--save-network", saved_network_, "FILE", "Write the network, in text");
  }

  std::vector<app::NamedFile> inputs() const override { return {{"--network", network_file_}}; }

  std::vector<app::NamedFile> outputs() const override { return {{"--save-network", saved_network_}}; }

  void check_options(app::RunOptions&) override {
    app::check_fractions("--producers", sources_.producers, "--destinations", sources_.destinations);
    sources_.seed = parameters().seed;
    try {
      network_ = make_network();
      check_network(network_);
    } catch (const std::invalid_argument& error) {
      throw app::UsageError(
          fmt::format("{}: {}", network_file_.empty() ? "--intersections" : network_file_, error.what()));
    }
  }

  // "town.net.xml, 28 intersections, 76 streets, 1,234 cells, seed 42"
  std::string size() const override {
    const std::string source =
        network_file_.empty() ? "random network" : app::shown(std::filesystem::path(network_file_).filename().string());
    return fmt::format("{}, {}, {}, {}, seed {}", source,
                       app::counted(network_.intersections.size(), "intersection", "intersections"),
                       app::counted(network_.streets.size(), "street", "streets"),
                       app::counted(network_.cells(), "cell", "cells"), parameters().seed);
  }

  Simulation& start(const app::RunOptions& options) override {
    ModelProgram::start(options);
    if (options.shows_objects) {
      places_ = places_of_cells(network_);
      simulation().set_places(places_);
    }
    return simulation();
  }

  app::Drawings drawings() const override {
    return {.chart = {"traffic-history.png", "Chart of the cars"},
            .picture = {"traffic.png", "Map with the cars at the end"}};
  }

  app::Picture picture() override { return map_picture(network_, simulation().cells()); }

  void place(dynasoar::Columns& cars) const override { add_places(cars, places_); }

  app::World world() const override { return world_of(network_); }

  app::Chart chart(const std::vector<app::Row>& history) const override { return history_chart(history, size()); }

  void save_output(const app::NamedFile& output) override {
    std::ostringstream text;
    write_network(text, network_);
    dynasoar::write_file(output.path, text.str());
  }

 private:
  Make on_network(std::unique_ptr<Simulation> (*make)(const Parameters&, const Network&)) {
    return [this, make](const Parameters& parameters) { return make(parameters, network_); };
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

  std::string network_file_;
  std::string saved_network_;
  int intersections_ = 100;
  int green_ = 5;
  Sources sources_;
  std::vector<CLI::Option*> setup_options_;  // valid until check_options() returns
  Network network_;
  std::vector<Point> places_;  // of cells, if they are shown or exported
};

}  // namespace
}  // namespace traffic

int main(int argc, char** argv) {
  traffic::Traffic program;
  return app::run_program(program, argc, argv);
}
