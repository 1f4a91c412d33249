/// @file
/// CMalloc (CircularMalloc in the paper): a ring of chunks, with headers of two words.
///
/// Source: Vinkler and Havran, "Register Efficient Dynamic Memory Allocator for GPUs", section 5.2. What was left
/// open there: see CircularMalloc.
#pragma once

#include <dynasoar/malloc/chunk_headers.h>
#include <dynasoar/malloc/circular_malloc.h>
#include <dynasoar/malloc/device_malloc.h>

namespace dynasoar {

/// Chunks in a ring that all requests search from one offset, for heaps up to 128 GiB.
using CMalloc = CircularMalloc<TwoWordHeaders, SearchOffsets::one>;

static_assert(DeviceMalloc<CMalloc>);

}  // namespace dynasoar
