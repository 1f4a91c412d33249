/// @file
/// The options that a checkpoint must fit, and the notes that it holds.

#include <cstdint>
#include <string>
#include <vector>

#include <app/allocator_choice.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/program/object_simulation.h>

#include "simulation.h"

namespace life {

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

}  // namespace life
