// The first of two translation units that share classes and handles; see two_units_test.cpp.
#include "two_units_loops.h"

two_units::Unit two_units::first_unit() {
  return own_unit();
}
