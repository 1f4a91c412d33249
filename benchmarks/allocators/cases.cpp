// All experiments with one allocator. Compiled once per allocator, which app/allocator.h names.
#include <vector>

#include <app/allocator.h>

#include "experiments/threads.h"
#include "suite.h"

// Experiments with objects.
#if !defined(DYNASOAR_APP_MALLOC_IS_PARTIAL)
#include "experiments/enumeration.h"
#include "experiments/linux_scalability.h"
#include "experiments/memory_usage.h"
#endif

namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR {

void add_experiments(std::vector<Case>& cases);

void add_experiments([[maybe_unused]] std::vector<Case>& cases) {
#if defined(DYNASOAR_APP_MALLOC)
  // Experiments with plain memory.
  using Malloc = dynasoar::DYNASOAR_APP_MALLOC;
  add_threads<Malloc>(cases);
#endif
#if !defined(DYNASOAR_APP_MALLOC_IS_PARTIAL)
  add_linux_scalability(cases);
  add_enumeration(cases);
  add_memory_usage(cases);
#endif
}

}  // namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR
