/// @file
/// Makes the DSL variants with the allocator that the parameters name.

#include <memory>

#include <app/allocator_choice.h>

#include "simulation.h"

namespace sugarscape {

using Maker = std::unique_ptr<Simulation>(const Parameters&);
DYNASOAR_MAKERS(agents)
DYNASOAR_MAKERS(cells)

std::unique_ptr<Simulation> make_agents(const Parameters& parameters) {
  return app::make_with(agents_makers, parameters.allocator, parameters);
}

std::unique_ptr<Simulation> make_cells(const Parameters& parameters) {
  return app::make_with(cells_makers, parameters.allocator, parameters);
}

}  // namespace sugarscape
