/// @file
/// CheckpointReader: reads the chunks of a checkpoint and checks them, while the next ones are read. Used by
/// AllocatorHandle::load.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/allocator/checkpoint_error.h>
#include <dynasoar/allocator/checkpoint_format.h>
#include <dynasoar/allocator/compression.h>
#include <dynasoar/platform/durable_file.h>
#include <dynasoar/platform/host_buffer.h>
#include <dynasoar/platform/host_threads.h>

namespace dynasoar::detail {

/// Reads a checkpoint from its beginning, as often as one likes.
///
/// @throws CheckpointError from all members if the file is not what it should be; Error if the disk refuses
class CheckpointReader {
 public:
  CheckpointReader(const std::string& path, const Compression& compression) : compression_(compression), file_(path) {
    check_header();
  }

  const std::string& path() const { return file_.path(); }

  /// Contents of some chunks of one section, one after the other.
  struct Contents {
    Section section;
    const char* data;
    std::size_t bytes;
  };

  /// Goes back to the beginning.
  void rewind() {
    if (reading_.valid()) reading_.wait();
    reading_ = {};
    offset_ = sizeof(CheckpointHeader);
    sums_.clear();
    turn_ = 0;
    read_ahead();
  }

  /// Reads on, after `rewind`. @param[out] contents   valid until the next call but one
  /// @return false at the end
  bool next(Contents& contents) {
    Group& group = groups_[turn_];
    reading_.get();
    if (group.chunks.empty()) {
      check_end();
      return false;
    }
    turn_ = (turn_ + 1) % groups_.size();
    read_ahead();
    check(group);
    contents = {group.chunks[0].header.section, contents_of(group), group.bytes};
    return true;
  }

  [[noreturn]] void fail(CheckpointFault fault, const std::string& text) const {
    throw CheckpointError(fault, path(), text);
  }
  [[noreturn]] void fail_damaged(const std::string& what) const {
    fail(CheckpointFault::damaged, "is damaged (" + what + "); use another one");
  }

 private:
  struct Chunk {
    ChunkHeader header;
    std::size_t stored_at;  // in Group::stored
    std::size_t begin;      // in the contents
  };
  struct Group {
    std::vector<Chunk> chunks;  // of one section
    HostBuffer stored;
    HostBuffer unpacked;  // if anything is compressed
    std::size_t bytes = 0;
  };

  void check_header() const {
    CheckpointHeader header{};
    const auto there = static_cast<std::size_t>(std::min<std::uint64_t>(file_.size(), sizeof header));
    if (!file_.read_at(0, &header, there)) fail_truncated(there);
    if (std::memcmp(header.magic, kCheckpointMagic, std::min(there, sizeof header.magic)) != 0) {
      fail(CheckpointFault::not_a_checkpoint, "is no checkpoint: it does not begin like one");
    }
    if (there < sizeof header) fail_truncated(sizeof header);
    if (header.checksum != header.expected_checksum()) fail_damaged("its header has another checksum");
    if (header.version != kCheckpointVersion) check_version(header.version);
    if (file_.size() < header.file_bytes) fail_truncated(header.file_bytes);
    if (file_.size() > header.file_bytes) {
      fail_damaged("it has " + std::to_string(file_.size()) + " bytes, but " + std::to_string(header.file_bytes) +
                   " were written");
    }
  }

  void check_version(std::uint32_t version) const {
    const std::string text = "is in format " + std::to_string(version) + ", and this program reads formats " +
                             std::to_string(kOldestCheckpointVersion) + " to " + std::to_string(kCheckpointVersion);
    if (version > kCheckpointVersion) {
      fail(CheckpointFault::newer_format, text + "; build the program with a newer version of the library");
    }
    if (version < kOldestCheckpointVersion) {
      fail(CheckpointFault::older_format, text + "; load it with the version of the library that wrote it");
    }
  }

  [[noreturn]] void fail_truncated(std::uint64_t wanted) const {
    fail(CheckpointFault::truncated, "is truncated: it has " + std::to_string(file_.size()) + " of " +
                                         (wanted == sizeof(CheckpointHeader) ? "at least " : "") +
                                         std::to_string(wanted) + " bytes; use another one");
  }

  void read_ahead() {
    const bool is_much = file_.size() - offset_ > kChunkBytes;  // else it is not worth a thread
    reading_ = std::async(is_much ? std::launch::async : std::launch::deferred,
                          [this, &group = groups_[turn_]] { read(group); });
  }

  /// Reads the next chunks, which are not checked yet, but for their headers.
  void read(Group& group) {
    group.chunks.clear();
    std::size_t stored = 0;
    group.bytes = 0;
    while (group.chunks.size() < kChunksAtOnce && offset_ < file_.size()) {
      Chunk chunk{{}, stored, group.bytes};
      if (!file_.read_at(offset_, &chunk.header, sizeof chunk.header)) fail_damaged("a chunk is missing");
      const ChunkHeader& header = chunk.header;
      if (header.checksum != header.expected_checksum()) fail_damaged("a chunk's header has another checksum");
      if (!group.chunks.empty() && header.section != group.chunks[0].header.section) break;
      offset_ += sizeof header;
      if (header.stored > file_.size() - offset_) fail_damaged("a chunk has no end");
      make_room(group.stored, stored, header.stored);
      if (!file_.read_at(offset_, group.stored.data() + stored, header.stored)) fail_damaged("a chunk has no end");
      offset_ += header.stored;
      stored += header.stored;
      group.bytes += header.bytes;
      group.chunks.push_back(chunk);
      sums_.push_back(header.checksum);
    }
  }

  /// Makes room for `more` bytes behind the first `used` ones.
  void make_room(HostBuffer& buffer, std::size_t used, std::size_t more) const {
    if (used + more <= buffer.bytes()) return;
    const auto usual = std::min<std::uint64_t>(kChunksAtOnce * kChunkBytes, file_.size());
    HostBuffer larger(std::max<std::size_t>(used + more, static_cast<std::size_t>(usual)));
    if (used > 0) std::memcpy(larger.data(), buffer.data(), used);
    buffer = std::move(larger);
  }

  void check(const Group& group) const {
    std::atomic<bool> is_intact{true};
    for_each_on_host(group.chunks.size(), [&](std::size_t i) {
      const Chunk& chunk = group.chunks[i];
      const bool same = checksum(group.stored.data() + chunk.stored_at, chunk.header.stored) == chunk.header.data;
      if (!same) is_intact = false;
    });
    if (!is_intact) fail_damaged("a chunk has another checksum");
    for (const Chunk& chunk : group.chunks) check_method(chunk.header);
  }

  const char* contents_of(Group& group) const {
    const auto is_plain = [](const Chunk& chunk) { return chunk.header.method == Storing::plain; };
    if (std::all_of(group.chunks.begin(), group.chunks.end(), is_plain)) return group.stored.data();
    if (group.unpacked.bytes() < group.bytes) group.unpacked = HostBuffer(group.bytes);
    std::atomic<bool> is_intact{true};
    for_each_on_host(group.chunks.size(), [&](std::size_t i) {
      if (!unpack(group, group.chunks[i])) is_intact = false;
    });
    if (!is_intact) fail_damaged("a chunk cannot be decompressed");
    return group.unpacked.data();
  }

  bool unpack(const Group& group, const Chunk& chunk) const {
    const char* const from = group.stored.data() + chunk.stored_at;
    char* const to = group.unpacked.data() + chunk.begin;
    if (chunk.header.method == Storing::zstd)
      return compression_.decompress(to, chunk.header.bytes, from, chunk.header.stored);
    std::memcpy(to, from, chunk.header.bytes);
    return true;
  }

  void check_method(const ChunkHeader& header) const {
    if (header.method == Storing::plain) {
      if (header.bytes != header.stored) fail_damaged("a chunk has two sizes");
      return;
    }
    if (header.method != Storing::zstd) fail_damaged("a chunk is stored in a way that does not exist");
    if (compression_.decompress == nullptr) {
      fail(CheckpointFault::needs_compression,
           "is compressed, and this program was built without zstd; link it to dynasoar::zstd");
    }
  }

  /// All chunks are there, and those that were written together.
  void check_end() const {
    CheckpointHeader header{};
    if (!file_.read_at(0, &header, sizeof header)) fail_truncated(sizeof header);
    if (sums_.size() != header.chunks || checksum(sums_.data(), sums_.size() * sizeof(std::uint64_t)) != header.body) {
      fail_damaged("its chunks are not those that were written");
    }
  }

  Compression compression_;
  InputFile file_;
  std::uint64_t offset_ = 0;
  std::vector<std::uint64_t> sums_;
  std::array<Group, 3> groups_;  // one is being read, one looked at, and one may still be on its way to the device
  std::size_t turn_ = 0;
  std::future<void> reading_;  // ends before what it uses
};

}  // namespace dynasoar::detail
