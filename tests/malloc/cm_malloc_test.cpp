#include <dynasoar/malloc/cm_malloc.h>

#include "circular_suite.h"

namespace dynasoar::test {

DYNASOAR_CIRCULAR_SUITE(CMMalloc);

}  // namespace dynasoar::test
