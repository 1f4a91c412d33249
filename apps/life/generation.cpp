/// @file
/// The program generation.

#include <utility>

#include <app/allocator_choice.h>

#include "life_program.h"

int main(int argc, char** argv) {
  life::Flavor flavor;
  flavor.description = {
      .name = "generation",
      .text =
          "Simulates the Generations family of cellular automata: like the Game of Life, but a cell that\n"
          "does not survive ages through dying states, in which it is in the way and does not count as\n"
          "alive. The unbounded plane is the default; --edge dead or torus keeps to a frame. Writes how\n"
          "many cells are alive and dying after every step, a chart of that and a picture.",
      .allocators = app::allocator_names(),
      .log = {"", "Alive and dying cells after every step"},
      .columns = {{"alive"}, {"dying"}}};
  flavor.title = "Generations";
  flavor.default_rule = "234/34678/24";  // a few random cells become waves that spread
  flavor.random_side = 64;
  flavor.has_dying = true;
  life::LifeProgram program(std::move(flavor));
  return app::run_program(program, argc, argv);
}
