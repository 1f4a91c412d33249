/// @file
/// What the DSL variants share that no allocator changes; and making them with the one that the parameters name.

#include <memory>

#include <app/allocator_choice.h>

#include "simulation.h"

namespace wa_tor {

using Maker = std::unique_ptr<Simulation>(const Parameters&);
DYNASOAR_MAKERS(agents)
DYNASOAR_MAKERS(cells)

app::SavedOptions saved_options(const Parameters& parameters) {
  return app::SavedOptions()
      .add("--width", parameters.width)
      .add("--height", parameters.height)
      .add("--seed", parameters.seed)
      .add("--fish", parameters.fish)
      .add("--sharks", parameters.sharks);
}

std::unique_ptr<Simulation> make_agents(const Parameters& parameters) {
  return app::make_with(agents_makers, parameters.allocator, parameters);
}

std::unique_ptr<Simulation> make_cells(const Parameters& parameters) {
  return app::make_with(cells_makers, parameters.allocator, parameters);
}

}  // namespace wa_tor
