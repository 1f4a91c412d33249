/// @file
/// The program n-body.

#include <app/allocator_choice.h>

#include "bodies/program.h"
#include "n_body.h"

namespace n_body {
namespace {

bodies::Model model() {
  return {.description = {.name = "n-body",
                          .text = "Simulates bodies in a square that attract each other, all pairs in every step.\n"
                                  "Writes their sums after every step, a chart of their energy and a picture.",
                          .allocators = app::allocator_names(),
                          .steps = 300},
          .chart_help = "Chart of the kinetic energy",
          .bodies = 2000,
          .has_cut_off = true,
          .least_mass = kLeastMass,
          .most_mass = kMostMass,
          .objects = make_objects,
          .soa_baseline = make_soa_baseline,
          .aos_baseline = make_aos_baseline,
          .reference = make_reference,
          .chart = {"Kinetic energy of bodies that attract each other",
                    "",
                    "Step",
                    "Joule",
                    {{"Energy", {37, 99, 235}, {}}}},
          .chart_column = 2};
}

}  // namespace
}  // namespace n_body

int main(int argc, char** argv) {
  bodies::BodiesProgram program(n_body::model());
  return app::run_program(program, argc, argv);
}
