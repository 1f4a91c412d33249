/// @file
/// Makes the DSL variant with the allocator that the parameters name.

#include <memory>

#include <app/allocator_choice.h>

#include "simulation.h"

namespace flocking {

using Maker = std::unique_ptr<Simulation>(const Parameters&);
DYNASOAR_MAKERS(boids)

std::unique_ptr<Simulation> make_boids(const Parameters& parameters) {
  return app::make_with(boids_makers, parameters.allocator, parameters);
}

}  // namespace flocking
