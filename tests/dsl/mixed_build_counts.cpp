// Another other half of mixed_build_test.cpp: compiled with counts.
#include <dynasoar/dynasoar.h>

static_assert(!dynasoar::kChecked && dynasoar::kCountsAccesses);
