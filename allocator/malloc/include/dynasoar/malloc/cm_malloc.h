/// @file
/// CMMalloc (Circular Multi Malloc): CMalloc with an offset for each multiprocessor.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", section 5.4. What was left
/// open there: see CircularMalloc.
#pragma once

#include <dynasoar/malloc/chunk_headers.h>
#include <dynasoar/malloc/circular_malloc.h>
#include <dynasoar/malloc/device_malloc.h>

namespace dynasoar {

/// As CMalloc, faster where many allocate at once. The heap is split beforehand into smaller chunks.
using CMMalloc = CircularMalloc<TwoWordHeaders, SearchOffsets::per_multiprocessor>;

static_assert(DeviceMalloc<CMMalloc>);

}  // namespace dynasoar
