/// @file
/// MakeInOrder: a loop of one thread that creates objects, so that blocks are filled one after the other.
#pragma once

#include <cstddef>

#include <dynasoar/dynasoar.h>

namespace dynasoar::test {

/// Creates objects from their numbers. For one index.
template <class T>
struct MakeInOrder {
  std::size_t count;
  __device__ void operator()(std::size_t) const {
    for (std::size_t i = 0; i < count; ++i) make_new<T>(i);
  }
};

}  // namespace dynasoar::test
