/// @file
/// Makes the DSL variant with the allocator that the parameters name.

#include <memory>

#include <app/allocator_choice.h>

#include "n_body.h"

namespace n_body {

using Maker = std::unique_ptr<bodies::Simulation>(const bodies::Parameters&);
DYNASOAR_MAKERS(objects)

std::unique_ptr<bodies::Simulation> make_objects(const bodies::Parameters& parameters) {
  return app::make_with(objects_makers, parameters.allocator, parameters);
}

}  // namespace n_body
