#include <dynasoar/malloc/toolkit_malloc.h>

#include "malloc_suite.h"

namespace dynasoar::test {

DYNASOAR_MALLOC_SUITE(ToolkitMalloc);

}  // namespace dynasoar::test
