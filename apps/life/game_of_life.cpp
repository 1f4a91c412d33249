/// @file
/// The program game-of-life.

#include <utility>

#include <app/allocator_choice.h>
#include <app/program.h>

#include "life_program.h"

int main(int argc, char** argv) {
  life::Flavor flavor;
  flavor.texts = {
      .name = "game-of-life",
      .description =
          "Simulates Conway's Game of Life and its relatives: cells come alive, stay alive or die,\n"
          "depending on how many of their eight neighbours are alive. The unbounded plane is the default;\n"
          "--edge dead or torus keeps to a frame. Writes how many cells are alive or candidates (dead with\n"
          "an alive neighbour) after every step, a chart of that and a picture.",
      .variants = {"cells", "agents"},
      .variant_help = "What is an object: all cells, alive cells and candidates, or the latter two only",
      .allocators = app::allocator_names(),
      .baselines = {"none", "soa", "aos", "dense", "stencil", "reference"},
      .log_help = "Alive cells and candidates after every step",
      .chart_help = "Chart of the populations",
      .picture_help = "The frame at the end"};
  flavor.picture = "game-of-life.png";
  flavor.title = "Game of Life";
  flavor.default_rule = "B3/S23";
  flavor.random_side = 1024;
  life::LifeProgram program(std::move(flavor));
  return app::run_program(program, argc, argv);
}
