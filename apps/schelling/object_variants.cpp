/// @file
/// Makes the DSL variant with the allocator that the parameters name.

#include <memory>

#include <app/allocator_choice.h>

#include "simulation.h"

namespace schelling {

using Maker = std::unique_ptr<Simulation>(const Parameters&);
DYNASOAR_MAKERS(agents)

std::unique_ptr<Simulation> make_agents(const Parameters& parameters) {
  return app::make_with(agents_makers, parameters.allocator, parameters);
}

}  // namespace schelling
