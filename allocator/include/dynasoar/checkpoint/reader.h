/// @file
/// CheckpointReader: reads the chunks of a checkpoint, and checks them while it reads the next ones. Used by
/// AllocatorHandle::load and load_values.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/checkpoint/compression.h>
#include <dynasoar/checkpoint/error.h>
#include <dynasoar/checkpoint/format.h>
#include <dynasoar/platform/durable_file.h>
#include <dynasoar/platform/host_buffer.h>
#include <dynasoar/platform/host_threads.h>

namespace dynasoar::detail {

/// Reads sections of a checkpoint, any number of times.
///
/// The constructor reads, checks and keeps all headers. So the sizes of all sections are known before memory for their
/// contents is allocated, and cannot change while these are read.
/// @throws CheckpointError from all members if the file is not valid; Error if it cannot be read
/// @par Cost   buffers for three groups of kChunksAtOnce chunks, of kChunkBytes or one block each; 56 bytes per chunk
class CheckpointReader {
 public:
  /// @param memory_bytes   memory that the contents may take, if this is more than 1000 times the size of the file: see
  ///                       LoadOptions
  CheckpointReader(const std::string& path, std::uint64_t memory_bytes, const Compression& compression)
      : compression_(compression),
        file_(path),
        allowed_(std::max(memory_bytes, kTimesFile * std::min(file_.size(), kMost / kTimesFile))) {
    read_headers(read_header());
  }

  const std::string& path() const { return file_.path(); }
  std::uint64_t file_bytes() const { return file_.size(); }

  /// Bytes of the contents of a section.
  std::uint64_t bytes(Section section) const { return bytes_[static_cast<std::size_t>(section)]; }

  /// The checksum of the section `classes`, from the file's header.
  std::uint64_t classes_checksum() const { return classes_checksum_; }

  /// Checks that no chunk of objects has more than kChunkBytes or, if that is more, one block. Call this before objects
  /// are read, once the classes are known.
  void check_objects(std::uint64_t largest_block) const {
    const std::uint64_t most = std::max<std::uint64_t>(kChunkBytes, largest_block);
    for (const Chunk& chunk : chunks_) {
      if (chunk.header.bytes > most) fail_damaged("a chunk is too large");
    }
  }

  /// Contents of several consecutive chunks of one section.
  struct Contents {
    const char* data;
    std::size_t bytes;
  };

  /// Reads a section: calls `function(contents)` for one group of chunks after the other. The data to which `contents`
  /// points stays valid until the end of the next call.
  template <class F>
  void for_each(Section section, const F& function) {
    Contents contents{};
    for (rewind(section); next(contents);) function(contents);
  }

  /// Reads a section into a vector or a string, and counts its memory. @throws CheckpointError also if the section does
  /// not end at the end of a value
  template <class Values>
  void read(Section section, Values& values) {
    constexpr std::size_t kBytes = sizeof(typename Values::value_type);
    if (bytes(section) % kBytes != 0) fail_damaged("a section has a part of a value");
    take_memory(bytes(section));
    values.resize(static_cast<std::size_t>(bytes(section) / kBytes));
    char* at = reinterpret_cast<char*>(values.data());
    for_each(section, [&at](const Contents& contents) {
      std::memcpy(at, contents.data, contents.bytes);
      at += contents.bytes;
    });
  }

  /// Bytes of memory that the contents of the file may take.
  std::uint64_t allowed_memory() const { return allowed_; }

  /// Counts memory that stays allocated while the file is being loaded. @throws CheckpointError if the sum is too large
  void take_memory(std::uint64_t bytes) {
    if (bytes > allowed_ - taken_) fail_memory("what it holds", bytes);
    taken_ += bytes;
  }
  [[noreturn]] void fail_memory(const std::string& what, std::uint64_t bytes) const {
    fail(CheckpointFault::needs_memory,
         "has " + std::to_string(file_bytes()) + " bytes, and " + what + " would take more than the " +
             std::to_string(allowed_) + " bytes of memory that it may: if you trust it, load it with LoadOptions" +
             "{.memory_bytes = " + std::to_string(bytes > kMost - taken_ ? kMost : taken_ + bytes) + "}");
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
    std::uint64_t offset;  // of the stored bytes in the file
  };
  struct Part {
    const Chunk* chunk;
    std::size_t stored_at;  // offset in Group::stored
    std::size_t begin;      // offset in the contents
  };
  struct Group {
    std::vector<Part> parts;  // of one section
    HostBuffer stored;
    HostBuffer unpacked;  // only if chunks are compressed
    std::size_t bytes = 0;
  };

  CheckpointHeader read_header() const {
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
    if (header.reserved != 0 || header.reserved_too != 0) fail_damaged("its header has more than was written");
    return header;
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

  /// Reads the headers of all chunks. Checks that none is missing, and that they were written together.
  void read_headers(const CheckpointHeader& file) {
    std::vector<std::uint64_t> sums;
    for (std::uint64_t offset = sizeof file; offset < file_.size();) {
      ChunkHeader header{};
      if (!file_.read_at(offset, &header, sizeof header)) fail_damaged("a chunk is missing");
      if (header.checksum != header.expected_checksum()) fail_damaged("a chunk's header has another checksum");
      offset += sizeof header;
      check(header, file_.size() - offset);
      chunks_.push_back({header, offset});
      sums.push_back(header.checksum);
      bytes_[static_cast<std::size_t>(header.section)] += header.bytes;
      offset += header.stored;
    }
    if (sums.size() != file.chunks || checksum(sums.data(), sums.size() * sizeof(std::uint64_t)) != file.body) {
      fail_damaged("its chunks are not those that were written");
    }
    classes_checksum_ = file.classes;
  }

  /// @param rest   bytes of the file behind the header
  void check(const ChunkHeader& header, std::uint64_t rest) const {
    const auto section = static_cast<std::uint32_t>(header.section);
    if (section == 0 || section > kSections) fail_damaged("a chunk belongs to nothing");
    if (!chunks_.empty() && header.section < chunks_.back().header.section) {
      fail_damaged("its sections are in another order");
    }
    if (header.stored > rest) fail_damaged("a chunk has no end");
    if (header.bytes == 0) fail_damaged("a chunk is empty");
    if (header.bytes > kChunkBytes && header.section != Section::objects) fail_damaged("a chunk is too large");
    check_method(header);
  }

  void check_method(const ChunkHeader& header) const {
    if (header.method != Storing::plain && header.method != Storing::zstd) {
      fail_damaged("a chunk is stored in a way that does not exist");
    }
    const bool is_plain = header.method == Storing::plain;
    if (is_plain ? header.bytes != header.stored : header.bytes < header.stored) fail_damaged("a chunk has two sizes");
    if (!is_plain && compression_.decompress == nullptr) {
      fail(CheckpointFault::needs_compression,
           "is compressed, and this program was built without zstd; link it to dynasoar::zstd");
    }
  }

  /// Starts to read a section at its beginning.
  void rewind(Section section) {
    if (reading_.valid()) reading_.wait();
    reading_ = {};
    const auto first = std::partition_point(chunks_.begin(), chunks_.end(),
                                            [=](const Chunk& chunk) { return chunk.header.section < section; });
    const auto end =
        std::partition_point(first, chunks_.end(), [=](const Chunk& chunk) { return chunk.header.section == section; });
    next_ = static_cast<std::size_t>(first - chunks_.begin());
    end_ = static_cast<std::size_t>(end - chunks_.begin());
    turn_ = 0;
    read_ahead();
  }

  /// Reads the next chunks of the section. @return false at its end
  bool next(Contents& contents) {
    Group& group = groups_[turn_];
    reading_.get();
    if (group.parts.empty()) return false;
    turn_ = (turn_ + 1) % groups_.size();
    read_ahead();
    check(group);
    contents = {contents_of(group), group.bytes};
    return true;
  }

  void read_ahead() {
    std::uint64_t bytes = 0;
    for (std::size_t i = next_; i < std::min(end_, next_ + kChunksAtOnce); ++i) bytes += chunks_[i].header.stored;
    const bool is_much = bytes > kChunkBytes;  // fewer are not worth a thread
    reading_ = std::async(is_much ? std::launch::async : std::launch::deferred,
                          [this, &group = groups_[turn_]] { read(group); });
  }

  /// Reads the next chunks without checking their contents.
  void read(Group& group) {
    group.parts.clear();
    group.bytes = 0;
    std::size_t stored = 0;
    for (; next_ < end_ && group.parts.size() < kChunksAtOnce; ++next_) {
      const Chunk& chunk = chunks_[next_];
      if (!group.parts.empty() && chunk.header.section != group.parts[0].chunk->header.section) break;
      group.parts.push_back({&chunk, stored, group.bytes});
      stored += chunk.header.stored;
      group.bytes += chunk.header.bytes;
    }
    if (group.stored.bytes() < stored) group.stored = HostBuffer(stored);
    for (const Part& part : group.parts) {
      const Chunk& chunk = *part.chunk;
      if (!file_.read_at(chunk.offset, group.stored.data() + part.stored_at, chunk.header.stored)) {
        fail_damaged("a chunk has no end");
      }
    }
  }

  void check(const Group& group) const {
    std::atomic<bool> is_intact{true};
    for_each_on_host(group.parts.size(), [&](std::size_t i) {
      const Part& part = group.parts[i];
      const ChunkHeader& header = part.chunk->header;
      if (checksum(group.stored.data() + part.stored_at, header.stored) != header.data) is_intact = false;
    });
    if (!is_intact) fail_damaged("a chunk has another checksum");
  }

  const char* contents_of(Group& group) const {
    const auto is_plain = [](const Part& part) { return part.chunk->header.method == Storing::plain; };
    if (std::all_of(group.parts.begin(), group.parts.end(), is_plain)) return group.stored.data();
    if (group.unpacked.bytes() < group.bytes) group.unpacked = HostBuffer(group.bytes);
    std::atomic<bool> is_intact{true};
    for_each_on_host(group.parts.size(), [&](std::size_t i) {
      if (!unpack(group, group.parts[i])) is_intact = false;
    });
    if (!is_intact) fail_damaged("a chunk cannot be decompressed");
    return group.unpacked.data();
  }

  bool unpack(const Group& group, const Part& part) const {
    const ChunkHeader& header = part.chunk->header;
    const char* const from = group.stored.data() + part.stored_at;
    char* const to = group.unpacked.data() + part.begin;
    if (header.method == Storing::zstd) return compression_.decompress(to, header.bytes, from, header.stored);
    std::memcpy(to, from, header.bytes);
    return true;
  }

  static constexpr std::uint64_t kTimesFile = 1000;
  static constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

  Compression compression_;
  InputFile file_;
  std::uint64_t allowed_;
  std::uint64_t taken_ = 0;
  std::vector<Chunk> chunks_;  // all of them
  std::array<std::uint64_t, kSections + 1> bytes_{};
  std::uint64_t classes_checksum_ = 0;
  std::size_t next_ = 0, end_ = 0;  // the chunks that are still to be read
  std::array<Group, 3> groups_;     // one is read, one is used by the caller, one may be copied to the device
  std::size_t turn_ = 0;
  std::future<void> reading_;  // the last member, because it uses the others
};

}  // namespace dynasoar::detail
