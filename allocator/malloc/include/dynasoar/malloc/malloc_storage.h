/// @file
/// MallocStorage: the Storage of allocators that have a heap of their own and tables beside it. Used by most allocators
/// in this folder.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar {

struct MallocNeeds;

namespace detail {

/// Device memory of an allocator. @throws Error from all that makes some, if there is too little
class MallocMemory {
 public:
  /// The memory to hand out. @pre called once
  char* make_heap(std::size_t bytes) {
    heap_ = DeviceArray<char>(bytes);
    return heap_.data();
  }

  /// A table beside it, every byte of which is `value`.
  template <class T>
  T* make_table(std::size_t count, unsigned char value = 0) {
    DeviceArray<char>& table = tables_.emplace_back(count * sizeof(T));
    table.fill_bytes(value);
    return reinterpret_cast<T*>(table.data());
  }

  /// A table of T that has the bytes of these values.
  template <class T, class Value>
  T* make_table(const std::vector<Value>& values) {
    static_assert(sizeof(T) == sizeof(Value) && std::is_trivially_copyable_v<Value>);
    T* const table = make_table<T>(values.size());
    if (!values.empty()) copy_to_device(table, values.data(), values.size() * sizeof(T));
    return table;
  }

  std::size_t heap_bytes() const { return heap_.bytes(); }
  std::size_t table_bytes() const {
    std::size_t bytes = 0;
    for (const DeviceArray<char>& table : tables_) bytes += table.bytes();
    return bytes;
  }

 private:
  DeviceArray<char> heap_;
  std::vector<DeviceArray<char>> tables_;
};

/// Owns the memory of an allocator.
///
/// @tparam M   a DeviceMalloc with a static function `make(executor, needs, memory)`, which returns a view of what it
///             makes in `memory`
template <class M>
class MallocStorage {
 public:
  /// @throws Error as M::make
  MallocStorage(Executor& executor, const MallocNeeds& needs) : view_(M::make(executor, needs, memory_)) {}

  M view() const { return view_; }
  std::size_t heap_bytes() const { return memory_.heap_bytes(); }
  std::size_t state_bytes() const { return memory_.table_bytes(); }

 private:
  MallocMemory memory_;
  M view_;
};

}  // namespace detail
}  // namespace dynasoar
