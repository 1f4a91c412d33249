/// @file
/// GrowingMemory: device memory that keeps its address while it grows. Used by HeapMemory.
///
/// Addresses are reserved for as much as it may ever hold; memory is put behind them when it is needed. Where it cannot
/// grow, it is an ordinary DeviceArray.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

/// Memory of the device that nobody has; of a CPU's, what can be had without swapping, or all of it where the system
/// does not tell.
std::size_t free_memory();

/// Bytes at one address, of which a growing first part, and a last part from the beginning, have memory.
///
/// @par Concurrency   all of it from one host thread; `commit` while kernels run
class GrowingMemory {
 public:
  GrowingMemory() = default;

  /// @param limit   bytes that it may ever have
  /// @param tail    how many of these, the last ones, have memory at once
  /// @param grows   false: all of them have
  /// @throws Error if there are no addresses or there is no memory
  GrowingMemory(std::size_t limit, std::size_t tail, bool grows);

  GrowingMemory(GrowingMemory&& other) noexcept { *this = std::move(other); }
  GrowingMemory& operator=(GrowingMemory&& other) noexcept;
  ~GrowingMemory() { free(); }

  /// Address in device memory; for good.
  char* data() const { return address_; }

  /// Bytes that have memory.
  std::size_t bytes() const { return reserved_ == 0 ? whole_.bytes() : committed_ + reserved_ - tail_begin_; }

  /// Gives the first `bytes` bytes memory, whose contents are anything. @throws Error if there is none; then nothing
  /// has changed
  void commit(std::size_t bytes);

  /// Takes back what the last call of `commit`, for more than `bytes`, got. @pre nobody uses it
  void take_back(std::size_t bytes);

 private:
  struct Mapped {
    std::size_t begin, end;
  };

  void map(std::size_t begin, std::size_t end);

  void free() noexcept;

  DeviceArray<char> whole_;  // if it does not grow
  char* address_ = nullptr;
  std::size_t reserved_ = 0;
  std::size_t tail_begin_ = 0;
  std::size_t committed_ = 0;
  std::vector<Mapped> mapped_;  // each can only be unmapped as it was mapped
};

}  // namespace dynasoar::detail
