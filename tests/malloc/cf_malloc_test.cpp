#include <dynasoar/malloc/cf_malloc.h>

#include "circular_suite.h"

namespace dynasoar::test {

DYNASOAR_CIRCULAR_SUITE(CFMalloc);

}  // namespace dynasoar::test
