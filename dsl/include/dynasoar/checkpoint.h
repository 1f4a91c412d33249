/// @file
/// Checkpoints: what AllocatorHandle::save and load do. The format is in docs/checkpoints.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <dynasoar/allocator/checkpoint_error.h>
#include <dynasoar/allocator/compression.h>
#include <dynasoar/allocator/heap_growth.h>
#include <dynasoar/allocator/heap_memory.h>
#include <dynasoar/checkpoint_items.h>
#include <dynasoar/platform/executor.h>

namespace dynasoar {

/// How to save.
struct SaveOptions {
  int compression_level = 0;  ///< of zstd: 1, fast, to 19, slow; 0: not compressed
};

namespace detail {

/// What a checkpoint holds of a handle beside its heap.
struct HandleNotes {
  std::uint64_t loops;  ///< that it has run; checked builds
  GrowthNotes growth;
};

/// Saves a heap. @pre the device is idle
/// @throws Error if the file cannot be written, the options are none, or names of items will not do
void save_checkpoint(Executor& executor, const HeapMemory& memory, const HandleNotes& notes, const std::string& path,
                     const SaveOptions& options, std::span<const SavedItem* const> items,
                     const Compression& compression);

/// A checkpoint that is being loaded: first everything is read and checked, then it is read again and put in its place.
class CheckpointLoader {
 public:
  /// Reads and checks. Changes nothing. @throws CheckpointError if the file does not fit, also into the largest heap
  /// that this one may become
  CheckpointLoader(const std::string& path, std::span<const CheckpointItem* const> items, const HeapMemory& memory,
                   const Compression& compression);
  ~CheckpointLoader();

  /// Of the heap that was saved.
  std::uint64_t pages() const;
  HandleNotes notes() const;

  /// Puts everything in its place. @pre the device is idle; the heap has the pages that are used
  /// @return whether the heap has lists of objects; else they have to be made
  /// @throws CheckpointError if the file cannot be read any more; then the heap is empty
  bool load(Executor& executor, HeapMemory& memory);

 private:
  class Contents;
  std::unique_ptr<Contents> contents_;
};

/// Reads values of the host's, and nothing else, from any checkpoint.
void load_values(const std::string& path, std::span<const CheckpointItem* const> items, const Compression& compression);

}  // namespace detail

}  // namespace dynasoar
