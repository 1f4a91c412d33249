// The other half of mixed_counting_test.cpp: compiled with counts.
#include <dynasoar/dynasoar.h>

static_assert(dynasoar::kCountsAccesses);
