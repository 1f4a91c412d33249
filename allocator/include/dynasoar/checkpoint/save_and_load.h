/// @file
/// How checkpoints are saved and loaded: what AllocatorHandle::save and load, and load_values, do. docs/checkpoints.md
/// has the format.
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

/// How to save.
struct SaveOptions {
  int compression_level = 0;  ///< of zstd: 1, fast, to 19, slow; 0: not compressed
};

/// How to load.
///
/// A compressed file can hold 10 000 times as many bytes as it has, and may come from a stranger. So what it holds may
/// take 1000 times as much memory as the file on the disk, or `memory_bytes` if that is more: the vectors among the
/// program's values together with the description of the heap; and, likewise, what the heap grows by, if the handle was
/// made without heap_limit_bytes. Beside that there are buffers, see docs/checkpoints.md.
struct LoadOptions {
  std::uint64_t memory_bytes = std::uint64_t{16} << 20;
};

namespace detail {

/// Saves a heap. @pre the device is idle
///
/// @param loops   that its handle has run; checked builds
/// @throws Error if the file cannot be written, or an option or the name of an item is not valid
void save_checkpoint(Executor& executor, const HeapMemory& memory, HeapGrowth& growth, std::uint64_t loops,
                     const std::string& path, const SaveOptions& options, View<const SavedItem*> items,
                     const Compression& compression);

/// What its handle has to know of a heap that was loaded.
struct LoadedCheckpoint {
  std::uint64_t loops;  ///< as for save_checkpoint
  bool has_lists;       ///< of objects; else they have to be made
};

/// Loads a heap, which grows if it must. Everything is checked before anything is changed. @pre the device is idle
/// @throws CheckpointError if the file does not fit, also into the largest heap that this one may become; or if it
///         cannot be read any more, and then the heap is empty
LoadedCheckpoint load_checkpoint(Executor& executor, HeapMemory& memory, HeapGrowth& growth, const std::string& path,
                                 const LoadOptions& options, View<const CheckpointItem*> items,
                                 const Compression& compression);

struct CheckedFile;

/// Values of a checkpoint that have been read and checked, and are not in their places yet.
class ReadValues {
 public:
  /// @param items    that lie in host memory
  /// @param others   what happens to other values of the file
  /// @throws CheckpointError if the file has not these values, is of other classes than the heap, or has objects in its
  ///         heap
  ReadValues(const HeapMemory& memory, const std::string& path, const LoadOptions& options,
             View<const CheckpointItem*> items, Others others, const Compression& compression);
  ReadValues(ReadValues&& other) noexcept;
  ~ReadValues();

  /// Puts some of them in their places: those of the items from `first` to `end`.
  void take_over(std::size_t first, std::size_t end) const;

 private:
  std::unique_ptr<CheckedFile> file_;
};

/// Reads only values that lie in host memory, from any checkpoint.
void load_values(const std::string& path, const LoadOptions& options, View<const CheckpointItem*> items,
                 const Compression& compression);

}  // namespace detail

}  // namespace dynasoar
