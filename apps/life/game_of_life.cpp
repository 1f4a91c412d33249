/// @file
/// The program game-of-life.

#include <utility>

#include <app/allocator_choice.h>

#include "life_program.h"

int main(int argc, char** argv) {
  life::Flavor flavor;
  flavor.description = {
      .name = "game-of-life",
      .text =
          "Simulates Conway's Game of Life and its relatives: cells come alive, stay alive or die,\n"
          "depending on how many of their eight neighbours are alive. The unbounded plane is the default;\n"
          "--edge dead or torus keeps to a frame. Writes how many cells are alive or candidates (dead with\n"
          "an alive neighbour) after every step, a chart of that and a picture.",
      .allocators = app::allocator_names(),
      .log = {"", "Alive cells and candidates after every step"},
      .columns = {{"alive"}, {"candidates"}}};
  flavor.title = "Game of Life";
  flavor.default_rule = "B3/S23";
  flavor.random_side = 1024;
  flavor.has_stencil = true;
  life::LifeProgram program(std::move(flavor));
  return app::run_program(program, argc, argv);
}
