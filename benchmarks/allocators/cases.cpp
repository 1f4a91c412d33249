// All experiments with one allocator. Compiled once per allocator, which app/allocator.h names.
#include <type_traits>
#include <vector>

#include <app/allocator.h>
#include <dynasoar/malloc/toolkit_malloc.h>

#include "experiments/all_to_all.h"
#include "experiments/coalesced_work.h"
#include "experiments/filling.h"
#include "experiments/fragmentation.h"
#include "experiments/generic_tests.h"
#include "experiments/get_page.h"
#include "experiments/hash_join.h"
#include "experiments/k_d_tree.h"
#include "experiments/registers.h"
#include "experiments/rw_mixed.h"
#include "experiments/rw_sizes.h"
#include "experiments/rw_threads.h"
#include "experiments/rw_utilization.h"
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
  using Malloc = DYNASOAR_APP_MALLOC;
  add_threads<Malloc>(cases);
  // Elsewhere heaps need a bound.
  if constexpr (std::is_same_v<Malloc, dynasoar::ToolkitMalloc>) add_threads<dynasoar::BareToolkitMalloc>(cases);
  add_get_page<Malloc>(cases);
  add_rw_threads<Malloc>(cases);
  add_rw_sizes<Malloc>(cases);
  add_rw_mixed<Malloc>(cases);
  add_rw_utilization<Malloc>(cases);
  add_hash_join<Malloc>(cases);
  add_coalesced_work<Malloc>(cases);
  add_all_to_all<Malloc>(cases);
  add_filling<Malloc>(cases);
  add_fragmentation<Malloc>(cases);
  add_generic_tests<Malloc>(cases);
  add_k_d_tree<Malloc>(cases);
  add_registers<Malloc>(cases);
#endif
#if !defined(DYNASOAR_APP_MALLOC_IS_PARTIAL)
  add_linux_scalability(cases);
  add_enumeration(cases);
  add_memory_usage(cases);
#endif
}

}  // namespace benchmarks::allocators::DYNASOAR_APP_ALLOCATOR
