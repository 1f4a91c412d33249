/// @file
/// Makes the DSL variants with the allocator that the parameters name.

#include <memory>

#include <app/allocator_choice.h>

#include "simulation.h"

namespace traffic {

using Maker = std::unique_ptr<Simulation>(const Parameters&, const Network&);
DYNASOAR_MAKERS(cars)
DYNASOAR_MAKERS(cells)

std::unique_ptr<Simulation> make_cars(const Parameters& parameters, const Network& network) {
  return app::make_with(cars_makers, parameters.allocator, parameters, network);
}

std::unique_ptr<Simulation> make_cells(const Parameters& parameters, const Network& network) {
  return app::make_with(cells_makers, parameters.allocator, parameters, network);
}

}  // namespace traffic
