// The other half of mixed_build_test.cpp: compiled with checks.
#include <dynasoar/dynasoar.h>

static_assert(dynasoar::kChecked && !dynasoar::kCountsAccesses);
