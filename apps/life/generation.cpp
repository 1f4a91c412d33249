/// @file
/// The program generation.

#include <utility>

#include <app/allocator_choice.h>
#include <app/program.h>

#include "life_program.h"

int main(int argc, char** argv) {
  life::Flavor flavor;
  flavor.texts = {.name = "generation",
                  .description =
                      "Simulates the Generations family of cellular automata: like the Game of Life, but a cell that\n"
                      "does not survive ages through dying states, in which it is in the way and does not count as\n"
                      "alive. The unbounded plane is the default; --edge dead or torus keeps to a frame. Writes how\n"
                      "many cells are alive and dying after every step, a chart of that and a picture.",
                  .variants = {"cells", "agents"},
                  .variant_help = "What is an object: all cells, alive cells and candidates, or the latter two only",
                  .allocators = app::allocator_names(),
                  .baselines = {"none", "soa", "aos", "dense", "reference"},
                  .log_help = "Alive and dying cells after every step",
                  .chart_help = "Chart of the populations",
                  .picture_help = "The frame at the end"};
  flavor.picture = "generation.png";
  flavor.title = "Generations";
  flavor.default_rule = "234/34678/24";  // a few random cells become waves that spread
  flavor.random_side = 64;
  flavor.has_dying = true;
  life::LifeProgram program(std::move(flavor));
  return app::run_program(program, argc, argv);
}
