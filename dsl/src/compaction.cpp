#include <dynasoar/handle_options.h>

#include <dynasoar/base/number_text.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

void CompactionOptions::check() const {
  if (above >= 0 && above <= 1) return;
  throw Error("dynasoar: CompactionOptions::above is a fraction of free slots, from 0 to 1, and not " +
              detail::number_text(above));
}

}  // namespace dynasoar
