#include <dynasoar/malloc/cfm_malloc.h>

#include "circular_suite.h"

namespace dynasoar::test {

DYNASOAR_CIRCULAR_SUITE(CFMMalloc);

}  // namespace dynasoar::test
