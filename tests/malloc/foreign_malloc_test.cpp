// Compiled once for each allocator in the folders of DYNASOAR_FOREIGN_ALLOCATORS: the suite that all allocators pass.
#include <dynasoar/malloc/device_malloc.h>

#include "malloc_suite.h"

#include DYNASOAR_APP_MALLOC_HEADER
#if defined(DYNASOAR_APP_MALLOC_SUITE)
#include DYNASOAR_APP_MALLOC_SUITE
#endif

static_assert(dynasoar::detail::check_device_malloc<DYNASOAR_APP_MALLOC>());

namespace dynasoar::test {

DYNASOAR_MALLOC_SUITE(DYNASOAR_APP_MALLOC);

}  // namespace dynasoar::test
