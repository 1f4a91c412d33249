#include <dynasoar/malloc/c_malloc.h>

#include "circular_suite.h"

namespace dynasoar::test {

DYNASOAR_CIRCULAR_SUITE(CMalloc);

}  // namespace dynasoar::test
