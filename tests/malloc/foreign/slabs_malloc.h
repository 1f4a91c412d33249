/// @file
/// The adapter: what DynaSOAr has to know of the allocator in slabs/.
#pragma once

#include <cstddef>

#include <dynasoar/malloc/foreign_malloc.h>
#include <dynasoar/platform/error.h>
#include <slabs.h>

struct SlabsAdapter {
  static constexpr dynasoar::MallocProperties kProperties{"slabs", true, false, false};  // frees
  slabs::Pool* pool;
  std::size_t bytes_per_slab;

  static SlabsAdapter make(const dynasoar::MallocNeeds& needs) {
    slabs::Pool* const pool = slabs::create(needs.heap_bytes, needs.largest_request);
    if (pool == nullptr) throw dynasoar::Error("slabs: the heap is too small for one slab, or there is no memory");
    return {pool, needs.largest_request};
  }
  void destroy() const { slabs::destroy(pool); }
  std::size_t largest() const { return bytes_per_slab; }
  __device__ void* malloc(std::size_t bytes) const { return slabs::take(pool, bytes); }
  __device__ void free(void* memory) const { slabs::give(pool, memory); }
};

using SlabsMalloc = dynasoar::ForeignMalloc<SlabsAdapter>;
