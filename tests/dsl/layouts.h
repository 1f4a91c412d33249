/// @file
/// Layouts: parameters of tests that run over objects in arrays and over objects in one piece of memory each.
#pragma once

#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

namespace dynasoar::test {

struct InArrays {
  template <class... Types>
  using Allocator = SoaAllocator<Types...>;
};
struct InOnePiece {
  template <class... Types>
  using Allocator = AosAllocator<BitmapMalloc, Types...>;
};

}  // namespace dynasoar::test
