/// @file
/// MallocStorage: the Storage of an allocator: its own heap or that of another allocator, and additional tables. Used
/// by the allocators in this folder.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar {

struct MallocNeeds;

namespace detail {

/// The device memory of an allocator. @throws Error from all functions that allocate, if there is too little memory
class MallocMemory {
 public:
  /// Allocates the heap. @pre called once
  char* make_heap(std::size_t bytes) {
    heap_ = DeviceArray<char>(bytes);
    add_heap(bytes);
    return heap_.data();
  }

  /// Allocates a table, and sets each byte to `value`.
  template <class T>
  T* make_table(std::size_t count, unsigned char value = 0) {
    DeviceArray<char>& table = tables_.emplace_back(count * sizeof(T));
    table.fill_bytes(value);
    state_bytes_ += table.bytes();
    return reinterpret_cast<T*>(table.data());
  }

  /// Allocates a table of T with the bytes of these values.
  template <class T, class Value>
  T* make_table(const std::vector<Value>& values) {
    static_assert(sizeof(T) == sizeof(Value) && std::is_trivially_copyable_v<Value>);
    T* const table = make_table<T>(values.size());
    if (!values.empty()) copy_to_device(table, values.data(), values.size() * sizeof(T));
    return table;
  }

  /// Makes another allocator for all of the memory or a part of it.
  template <class Pool>
  Pool make_pool(Executor& executor, const MallocNeeds& needs) {
    const auto storage = std::make_shared<typename Pool::Storage>(executor, needs);
    pools_.push_back(storage);
    heap_bytes_ += storage->heap_bytes();
    state_bytes_ += storage->state_bytes();
    return storage->view();
  }

  /// Adds to the size of the heap memory that belongs to another allocator.
  void add_heap(std::size_t bytes) { heap_bytes_ += bytes; }

  std::size_t heap_bytes() const { return heap_bytes_; }
  std::size_t state_bytes() const { return state_bytes_; }

 private:
  std::size_t heap_bytes_ = 0;
  std::size_t state_bytes_ = 0;
  DeviceArray<char> heap_;
  std::vector<DeviceArray<char>> tables_;
  std::vector<std::shared_ptr<void>> pools_;
};

/// Owns the memory of an allocator.
///
/// @tparam M   a DeviceMalloc with a static function `make(executor, needs, memory)`, which returns a view of the
///             memory that it makes in `memory`
template <class M>
class MallocStorage {
 public:
  /// @throws Error as M::make
  MallocStorage(Executor& executor, const MallocNeeds& needs) : view_(M::make(executor, needs, memory_)) {}

  M view() const { return view_; }
  std::size_t heap_bytes() const { return memory_.heap_bytes(); }
  std::size_t state_bytes() const { return memory_.state_bytes(); }

 private:
  MallocMemory memory_;
  M view_;
};

}  // namespace detail
}  // namespace dynasoar
