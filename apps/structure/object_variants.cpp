/// @file
/// Makes the DSL variant with the allocator that the parameters name.

#include <memory>

#include <app/allocator_choice.h>

#include "simulation.h"

namespace structure {

using Maker = std::unique_ptr<Simulation>(const Parameters&, const Network&);
DYNASOAR_MAKERS(springs)

std::unique_ptr<Simulation> make_springs(const Parameters& parameters, const Network& network) {
  return app::make_with(springs_makers, parameters.allocator, parameters, network);
}

}  // namespace structure
