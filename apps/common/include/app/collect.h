/// @file
/// collect: computes a value for each index on the device and copies the values to the host. Used by the
/// implementations of the models to get the state of all cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace app {

/// Calls a function of a 32-bit number in a loop whose indices have 64 bits.
template <class F>
struct With32Bits {
  F function;
  __device__ void operator()(std::size_t i) const { function(static_cast<std::uint32_t>(i)); }
};

/// Stores the value for an index. @tparam Index   of 32 or 64 bits
template <class T, class Index, class F>
struct WriteValue {
  F value_of;
  T* values;
  __device__ void operator()(std::size_t i) const { values[i] = value_of(static_cast<Index>(i)); }
};

/// Waits for all loops.
///
/// @tparam Index      of 64 bits if there may be more than 2^32 values
/// @param value_of   device callable: the T for an Index
/// @return           the values for the indices from 0 to count - 1
template <class T, class Index = std::uint32_t, class F>
std::vector<T> collect(dynasoar::Executor& executor, std::size_t count, const F& value_of) {
  const dynasoar::DeviceArray<T> values(count);
  executor.for_each_index(count, WriteValue<T, Index, F>{value_of, values.data()});
  executor.synchronize();
  return values.download();
}

/// The same with a dynasoar::AllocatorHandle, for functions that read objects.
template <class T, class Index = std::uint32_t, class Handle, class F>
std::vector<T> collect(Handle& handle, std::size_t count, const F& value_of) {
  const dynasoar::DeviceArray<T> values(count);
  handle.parallel_for(count, WriteValue<T, Index, F>{value_of, values.data()});
  handle.synchronize();
  return values.download();
}

}  // namespace app
