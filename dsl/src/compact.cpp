#include <dynasoar/compact.h>

#include <string>

#include <dynasoar/platform/error.h>

namespace dynasoar {

void CompactionOptions::check() const {
  if (above >= 0 && above <= 1) return;
  throw Error("dynasoar: CompactionOptions::above is a fraction of free slots, from 0 to 1, and not " +
              std::to_string(above));
}

}  // namespace dynasoar
