/// @file
/// The format of checkpoint files: a header, and chunks with checksums. Used by writer.h and reader.h. heap_snapshot.h
/// describes the contents of chunks, and docs/checkpoints.md describes the format byte by byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <dynasoar/checkpoint/checksum.h>
#include <dynasoar/tuning.h>

namespace dynasoar::detail {

inline constexpr char kCheckpointMagic[8] = {'D', 'y', 'n', 'a', 'S', 'O', 'A', 'r'};
inline constexpr std::uint32_t kCheckpointVersion = 2;        ///< the version that is written
inline constexpr std::uint32_t kOldestCheckpointVersion = 2;  ///< the oldest version that can be read

/// The first bytes of a file. Their form, and their checksum, are the same in all versions.
struct CheckpointHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t reserved;
  std::uint64_t file_bytes;
  std::uint64_t chunks;
  std::uint64_t classes;  ///< checksum of the section `classes`
  std::uint64_t body;     ///< checksum of the checksums of all chunk headers
  std::uint64_t reserved_too;
  std::uint64_t checksum;  ///< of the bytes before it

  std::uint64_t expected_checksum() const { return detail::checksum(this, offsetof(CheckpointHeader, checksum)); }
};
static_assert(sizeof(CheckpointHeader) == 64 && std::is_trivially_copyable_v<CheckpointHeader>);

/// The sections of a file, in their order. Each consists of any number of chunks.
enum class Section : std::uint32_t {
  classes = 1,  ///< the classes and their fields, as text
  heap,         ///< a HeapNumbers
  blocks,       ///< a SavedBlock for each open block, in the order of their numbers
  counters,     ///< tallies, refusals and proofs, per class
  hints,        ///< the places where warps search first
  lists,        ///< lists of objects for loops
  tags,         ///< in checked builds: SavedTags of all blocks that have been used
  items,        ///< the names, types and sizes of the program's own values
  objects,      ///< the contents of the open blocks, in order
  values        ///< the contents of the program's own values, in order
};
inline constexpr int kSections = 10;

/// The way in which a chunk is stored.
enum class Storing : std::uint32_t { plain = 0, zstd = 1 };

/// Stands in front of each chunk.
struct ChunkHeader {
  Section section;
  Storing method;
  std::uint64_t bytes;   ///< number of bytes of the contents
  std::uint64_t stored;  ///< number of stored bytes, which follow the header
  std::uint64_t data;    ///< checksum of the stored bytes
  std::uint64_t checksum;

  std::uint64_t expected_checksum() const { return detail::checksum(this, offsetof(ChunkHeader, checksum)); }
};
static_assert(sizeof(ChunkHeader) == 40);

}  // namespace dynasoar::detail
