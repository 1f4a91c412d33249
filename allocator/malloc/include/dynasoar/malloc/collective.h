/// @file
/// The functions that programs call after `dynasoar-coalesce` has rewritten them: `malloc` with an argument that says
/// whether all threads of a block call it together, `free`, and the memory itself. See
/// docs/how-to/collective-allocations.md.
///
/// Source: "Coalescing Memory Allocations for GPU MPI" (Blach, Erhart, Memedi, Schäfer), section 3.1. The paper
/// initializes and destroys the allocator with two calls in `main`. Here an object does this, so that it works with
/// each `return`.
///
/// DYNASOAR_COLLECTIVE_MALLOC chooses the allocator of coalescing_malloc.h when the program is compiled.
#pragma once

#include <cstddef>
#include <memory>

#include <dynasoar/malloc/coalescing_malloc.h>
#include <dynasoar/malloc/device_malloc.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>

#ifndef DYNASOAR_COLLECTIVE_MALLOC
#define DYNASOAR_COLLECTIVE_MALLOC HeaderBlockMalloc
#endif

// clang-format off
#include DYNASOAR_BACKEND_HEADER(collective.h)
// clang-format on

namespace dynasoar {

/// The allocator of rewritten programs.
using CollectiveMalloc = DYNASOAR_COLLECTIVE_MALLOC;

namespace detail {
struct BoundCollectiveMalloc {
  using State = CollectiveMalloc;
};

/// The memory that all ranks share.
struct CollectiveStorage {
  Executor executor;
  CollectiveMalloc::Storage storage;
  explicit CollectiveStorage(const MallocNeeds& needs) : storage(executor, needs) {}

  inline static std::unique_ptr<CollectiveStorage> current;
};
}  // namespace detail

namespace {  // constant memory on a GPU belongs to a translation unit

/// Memory of at least `bytes` bytes.
///
/// @param coalesce   whether all threads of the block call this together, with the same `bytes`. It is then a barrier
///                   of the block, unless the allocator is WarpMalloc
/// @return null if there is no memory
/// @par Cost   as StaticCoalescingMalloc; without `coalesce`, one `malloc` of the toolkit for each thread
__device__ inline void* collective_malloc(std::size_t bytes, bool coalesce = false) {
  const CollectiveMalloc& memory = detail::bound_state<detail::BoundCollectiveMalloc>();
  const auto warp = detail::collective_warp();
  return coalesce ? memory.malloc(bytes, warp) : memory.malloc_alone(bytes, warp);
}

/// Frees memory that any thread got from collective_malloc, coalesced or not. Does nothing if the pointer is null.
__device__ inline void collective_free(void* pointer) {
  detail::bound_state<detail::BoundCollectiveMalloc>().free(pointer, detail::collective_warp());
}

/// Owns the memory of collective_malloc during its lifetime. On a GPU, the host creates it in the file that has the
/// kernels; on the CPU, each rank creates one, and all share the memory.
class CollectiveMemory {
 public:
  /// @param needs   heap_bytes for all threads together, and the largest request of one of them
  /// @pre all ranks call it together
  /// @throws Error if there is too little memory
  explicit CollectiveMemory(const MallocNeeds& needs = {std::size_t{256} << 20, 4096}) {
    detail::first_rank_enters([&] {
      detail::CollectiveStorage::current = std::make_unique<detail::CollectiveStorage>(needs);
      using Bound = detail::Binding<detail::BoundCollectiveMalloc>;
      Bound::state = detail::CollectiveStorage::current->storage.view();
      ++Bound::generation;
      detail::bring_up_to_date<detail::BoundCollectiveMalloc>(detail::CollectiveStorage::current->executor);
      detail::CollectiveStorage::current->executor.synchronize();
    });
  }
  ~CollectiveMemory() {
    detail::last_rank_leaves([] { detail::CollectiveStorage::current.reset(); });
  }
  CollectiveMemory(const CollectiveMemory&) = delete;
  CollectiveMemory& operator=(const CollectiveMemory&) = delete;
};

}  // namespace
}  // namespace dynasoar
