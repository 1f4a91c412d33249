/// @file
/// GrowingMemory: device memory that keeps its address while it grows. Used by HeapMemory.
///
/// Addresses are reserved for its greatest size, and memory is mapped to them when it is needed. If it cannot grow, it
/// is an ordinary DeviceArray.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// The free memory of the device, in bytes. For a CPU, this is the memory that is available without swapping, or all
/// memory if the system does not report it.
std::size_t free_memory();

/// Bytes at a fixed address. Two parts have memory: a first part, which grows, and a last part of constant size.
///
/// @par Concurrency   one host thread calls all functions; `commit` may be called while kernels run
class GrowingMemory {
 public:
  GrowingMemory() = default;

  /// @param limit   the greatest size in bytes
  /// @param tail    the number of last bytes of these that have memory from the beginning
  /// @param grows   false: all bytes have memory from the beginning
  /// @throws Error if there are not enough addresses or there is not enough memory
  GrowingMemory(std::size_t limit, std::size_t tail, bool grows);

  GrowingMemory(GrowingMemory&& other) noexcept { *this = std::move(other); }
  GrowingMemory& operator=(GrowingMemory&& other) noexcept;
  ~GrowingMemory() { free(); }

  /// The address in device memory, which never changes.
  char* data() const { return address_; }

  /// The number of bytes that have memory.
  std::size_t bytes() const { return reserved_ == 0 ? whole_.bytes() : committed_ + reserved_ - tail_begin_; }

  /// Maps memory to the first `bytes` bytes. Its contents are unspecified. @throws Error if there is not enough memory;
  /// nothing has changed then
  void commit(std::size_t bytes);

  /// Frees the memory that the last call of `commit`, for more than `bytes`, has mapped. @pre it is not used
  void take_back(std::size_t bytes);

 private:
  struct Mapped {
    std::size_t begin, end;
  };

  void map(std::size_t begin, std::size_t end);

  void free() noexcept;

  DeviceArray<char> whole_;  // used if it does not grow
  char* address_ = nullptr;
  std::size_t reserved_ = 0;
  std::size_t tail_begin_ = 0;
  std::size_t committed_ = 0;
  std::vector<Mapped> mapped_;  // each piece must be unmapped as a whole
};

}  // namespace dynasoar::detail
