/// @file
/// Saves and loads checkpoints: implements AllocatorHandle::save, AllocatorHandle::load and load_values.
/// docs/checkpoints.md describes the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <dynasoar/base/view.h>
#include <dynasoar/checkpoint/compression.h>
#include <dynasoar/checkpoint/error.h>
#include <dynasoar/checkpoint/items.h>
#include <dynasoar/heap/heap_growth.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar {

/// Options for saving.
struct SaveOptions {
  int compression_level = 0;  ///< of zstd, from 1 (fast) to 19 (slow); 0: not compressed
};

/// Options for loading.
///
/// A compressed file can have contents of 10 000 times its size, and it may come from a source that you do not trust.
/// So there is a limit for the memory that its contents take: 1000 times the size of the file or, if it is more,
/// `memory_bytes`. It applies to the sum of the vectors among the program's values and the description of the heap. If
/// the handle was made without heap_limit_bytes, it also applies to the growth of the heap. Buffers take additional
/// memory, see docs/checkpoints.md.
struct LoadOptions {
  std::uint64_t memory_bytes = std::uint64_t{16} << 20;
};

namespace detail {

/// Saves a heap. @pre the device is idle
///
/// @param loops   the number of loops that its handle has run; checked builds
/// @throws Error if the file cannot be written, or an option or the name of an item is not valid
void save_checkpoint(Executor& executor, const HeapMemory& memory, HeapGrowth& growth, std::uint64_t loops,
                     const std::string& path, const SaveOptions& options, View<const SavedItem*> items,
                     const Compression& compression);

/// Facts about a loaded heap for its handle.
struct LoadedCheckpoint {
  std::uint64_t loops;  ///< as for save_checkpoint
  bool has_lists;       ///< whether there are lists of objects; if not, they have to be made
};

/// Loads a heap, which grows if necessary. Checks the whole file before it changes anything. @pre the device is idle
/// @throws CheckpointError if the file does not fit the program, or does not fit into the heap even after growth; or if
///         it cannot be read a second time, in which case the heap is empty
LoadedCheckpoint load_checkpoint(Executor& executor, HeapMemory& memory, HeapGrowth& growth, const std::string& path,
                                 const LoadOptions& options, View<const CheckpointItem*> items,
                                 const Compression& compression);

struct CheckedFile;

/// Values of a checkpoint that have been read and checked, but not stored in the program's items yet.
class ReadValues {
 public:
  /// @param items    items in host memory
  /// @param others   the treatment of other values in the file
  /// @throws CheckpointError if the file lacks one of these values, has other classes than the heap, or has objects in
  ///         its heap
  ReadValues(const HeapMemory& memory, const std::string& path, const LoadOptions& options,
             View<const CheckpointItem*> items, Others others, const Compression& compression);
  ReadValues(ReadValues&& other) noexcept;
  ~ReadValues();

  /// Stores the values of the items from `first` up to `end`.
  void take_over(std::size_t first, std::size_t end) const;

 private:
  std::unique_ptr<CheckedFile> file_;
};

/// Reads only values in host memory, from any checkpoint.
void load_values(const std::string& path, const LoadOptions& options, View<const CheckpointItem*> items,
                 const Compression& compression);

}  // namespace detail

}  // namespace dynasoar
