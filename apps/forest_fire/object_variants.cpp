/// @file
/// Makes the DSL variant with the allocator that the parameters name.

#include <memory>

#include <app/allocator_choice.h>

#include "simulation.h"

namespace forest_fire {

using Maker = std::unique_ptr<Simulation>(const Parameters&);
DYNASOAR_MAKERS(trees)

std::unique_ptr<Simulation> make_trees(const Parameters& parameters) {
  return app::make_with(trees_makers, parameters.allocator, parameters);
}

}  // namespace forest_fire
