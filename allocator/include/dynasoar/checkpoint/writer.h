/// @file
/// CheckpointWriter: writes the chunks of a checkpoint while the caller gathers the next ones. Used by
/// AllocatorHandle::save.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/checkpoint/compression.h>
#include <dynasoar/checkpoint/format.h>
#include <dynasoar/platform/durable_file.h>
#include <dynasoar/platform/host_threads.h>

namespace dynasoar::detail {

/// Writes a checkpoint to a temporary file. `commit` replaces the old checkpoint by it.
///
/// @par Concurrency   several threads of the host compute checksums and compress, and one more thread writes
class CheckpointWriter {
 public:
  /// @param level   the compression level; 0: none
  /// @throws Error if the file cannot be written
  CheckpointWriter(const std::string& path, int level, const Compression& compression)
      : level_(level), compression_(compression), file_(path, Writing::anywhere) {
    const CheckpointHeader later{};
    file_.write(&later, sizeof later);
  }

  /// Appends contents of any size to a section, and waits until they are written.
  void write(Section section, const void* data, std::size_t bytes) {
    const char* from = static_cast<const char*>(data);
    while (bytes > 0) {
      const std::size_t now = std::min(bytes, kChunksAtOnce * kChunkBytes);
      submit(section, from, cut(now));
      from += now;
      bytes -= now;
    }
    wait();
  }
  template <class Values>
  void write(Section section, const Values& values) {
    using T = typename Values::value_type;
    static_assert(std::is_trivially_copyable_v<T>);
    write(section, values.data(), values.size() * sizeof(T));
  }

  /// Appends consecutive chunks of the given sizes. They are still being written when this returns. So the caller must
  /// not change them before the next call of `submit` or `wait` has returned.
  void submit(Section section, const char* data, const std::vector<std::size_t>& sizes) {
    std::vector<Chunk>& chunks = chunks_[turn_];
    turn_ = 1 - turn_;
    chunks.resize(std::max(chunks.size(), sizes.size()));
    std::vector<const char*> begins;
    for (const std::size_t size : sizes) begins.push_back(std::exchange(data, data + size));
    for_each_on_host(sizes.size(), [&](std::size_t i) { pack(chunks[i], section, begins[i], sizes[i]); });
    wait();
    for (std::size_t i = 0; i < sizes.size(); ++i) sums_.push_back(chunks[i].header.checksum);
    const bool is_much = sizes.size() > 1;  // else it is not worth a thread
    writing_ = std::async(is_much ? std::launch::async : std::launch::deferred, [this, &chunks, count = sizes.size()] {
      for (std::size_t i = 0; i < count; ++i) {
        file_.write(&chunks[i].header, sizeof(ChunkHeader));
        file_.write(chunks[i].stored, chunks[i].header.stored);
      }
    });
  }

  /// Waits until everything is written. @throws Error if it could not be written
  void wait() {
    if (writing_.valid()) writing_.get();
  }

  /// Renames the file to its final name. @param classes   the checksum of the section `classes`
  void commit(std::uint64_t classes) {
    wait();
    CheckpointHeader header{};
    std::memcpy(header.magic, kCheckpointMagic, sizeof header.magic);
    header.version = kCheckpointVersion;
    header.file_bytes = file_.size();
    header.chunks = sums_.size();
    header.classes = classes;
    header.body = checksum(sums_.data(), sums_.size() * sizeof(std::uint64_t));
    header.checksum = header.expected_checksum();
    file_.write_at(0, &header, sizeof header);
    file_.commit();
  }

 private:
  struct Chunk {
    ChunkHeader header;
    const char* stored;
    std::vector<char> compressed;
  };

  static std::vector<std::size_t> cut(std::size_t bytes) {
    std::vector<std::size_t> sizes(bytes / kChunkBytes, kChunkBytes);
    if (bytes % kChunkBytes != 0) sizes.push_back(bytes % kChunkBytes);
    return sizes;
  }

  void pack(Chunk& chunk, Section section, const char* data, std::size_t bytes) const {
    chunk.header = {section, Storing::plain, bytes, bytes, 0, 0};
    chunk.stored = data;
    if (level_ > 0) {
      chunk.compressed.resize(std::max(chunk.compressed.size(), bytes));
      const std::size_t size = compression_.compress(chunk.compressed.data(), data, bytes, level_);
      if (size < bytes) {
        chunk.header.method = Storing::zstd;
        chunk.header.stored = size;
        chunk.stored = chunk.compressed.data();
      }
    }
    chunk.header.data = checksum(chunk.stored, chunk.header.stored);
    chunk.header.checksum = chunk.header.expected_checksum();
  }

  int level_;
  Compression compression_;
  DurableFile file_;
  std::vector<std::uint64_t> sums_;           // of the chunk headers so far
  std::array<std::vector<Chunk>, 2> chunks_;  // one is being packed while the other is being written
  int turn_ = 0;
  std::future<void> writing_;  // ends before what it uses
};

}  // namespace dynasoar::detail
