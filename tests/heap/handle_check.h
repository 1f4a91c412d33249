/// @file
/// Checks the heap of a handle that no loop is using: see heap_check.h.
#pragma once

#include <string>

#include <dynasoar/dynasoar.h>

#include "heap_check.h"

namespace dynasoar::test {

template <class A>
HeapCopy copy_heap(AllocatorHandle<A>& handle) {
  return copy_heap(handle.executor(), handle.state().heap);
}

template <class A>
std::string heap_errors(AllocatorHandle<A>& handle) {
  return heap_errors(copy_heap(handle));
}

}  // namespace dynasoar::test
