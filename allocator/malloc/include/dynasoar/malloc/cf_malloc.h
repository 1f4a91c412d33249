/// @file
/// CFMalloc (Circular Fused Malloc): a ring of chunks, with headers of one word.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", section 5.3. What was left
/// open there: see CircularMalloc.
#pragma once

#include <dynasoar/malloc/chunk_headers.h>
#include <dynasoar/malloc/circular_malloc.h>
#include <dynasoar/malloc/device_malloc.h>

namespace dynasoar {

/// As CMalloc, with half as much memory for headers, for heaps up to 32 GiB.
using CFMalloc = CircularMalloc<FusedHeaders, SearchOffsets::one>;

static_assert(DeviceMalloc<CFMalloc>);

}  // namespace dynasoar
