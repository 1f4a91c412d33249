/// @file
/// The program collision.

#include <app/allocator_choice.h>

#include "bodies/program.h"
#include "collision.h"

namespace collision {
namespace {

bodies::Model model() {
  return {.description = {.name = "collision",
                          .text = "Simulates bodies in a square that attract each other and merge when they meet.\n"
                                  "Writes their sums after every step, a chart of their number and a picture.",
                          .allocators = app::allocator_names(),
                          .steps = 200},
          .chart_help = "Chart of the number of bodies",
          .bodies = 2000,
          .has_cut_off = false,
          .least_mass = kLeastMass,
          .most_mass = kMostMass,
          .objects = make_objects,
          .soa_baseline = make_soa_baseline,
          .aos_baseline = make_aos_baseline,
          .reference = make_reference,
          .chart = {"Bodies that merge when they meet", "", "Step", "Bodies", {{"Bodies", {225, 78, 60}, {}}}},
          .chart_column = 0};
}

}  // namespace
}  // namespace collision

int main(int argc, char** argv) {
  bodies::BodiesProgram program(collision::model());
  return app::run_program(program, argc, argv);
}
