/// @file
/// Makes the DSL variants with the allocator that the parameters name.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <app/allocator_choice.h>
#include <app/object_heap.h>
#include <app/saved_options.h>
#include <dynasoar/dynasoar.h>

#include "simulation.h"

namespace life {

using Maker = std::unique_ptr<Simulation>(const Parameters&);
DYNASOAR_MAKERS(agents)
DYNASOAR_MAKERS(cells)

app::SavedOptions options_of(const Parameters& parameters) {
  app::InputSum rule;
  rule.add(parameters.rule.birth, parameters.rule.survival, parameters.rule.states);
  app::InputSum edge;
  edge.add(parameters.edge);
  app::InputSum pattern;
  pattern.add(parameters.left, parameters.top);
  for (const std::uint16_t state : parameters.start) pattern.add(state);
  return app::SavedOptions()
      .add("--rule", rule)
      .add("--width", parameters.width)
      .add("--height", parameters.height)
      .add("--margin", parameters.margin)
      .add("--density", parameters.density)
      .add("--seed", parameters.seed)
      .add("--edge", edge)
      .add("--pattern", pattern);
}

std::vector<std::int64_t> saved_notes(const app::SavedOptions& options, const std::string& path) {
  std::uint32_t step = 0;
  app::SavedRun(options, step).check(path);
  std::vector<std::int64_t> notes;
  dynasoar::load_values(path, dynasoar::array("notes", notes));
  return notes;
}

std::unique_ptr<Simulation> make_agents(const Parameters& parameters) {
  return app::make_with(agents_makers, parameters.allocator, parameters);
}

std::unique_ptr<Simulation> make_cells(const Parameters& parameters) {
  return app::make_with(cells_makers, parameters.allocator, parameters);
}

}  // namespace life
