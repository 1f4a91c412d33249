/// @file
/// ForgedCheckpoint: the parts of a checkpoint file, to be changed and put together again with right checksums. Used by
/// tests of forged files and the fuzz target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/checkpoint/format.h>

namespace dynasoar::test {

struct ForgedChunk {
  detail::Section section;
  detail::Storing method;
  std::uint64_t bytes;  ///< that its header says it has
  std::string stored;

  std::size_t size() const { return stored.size(); }

  /// Makes it a plain one.
  void set(std::string contents) {
    method = detail::Storing::plain;
    bytes = contents.size();
    stored = std::move(contents);
  }

  /// The value of type T at an offset. @pre it is there
  template <class T>
  T get(std::size_t offset) const {
    T value{};
    std::memcpy(&value, stored.data() + offset, sizeof value);
    return value;
  }
  template <class T>
  void put(std::size_t offset, const T& value) {
    std::memcpy(stored.data() + offset, &value, sizeof value);
  }
  template <class T>
  void append(const T& value) {
    stored.append(reinterpret_cast<const char*>(&value), sizeof value);
    bytes = stored.size();
  }
};

struct ForgedCheckpoint {
  std::vector<ForgedChunk> chunks;

  /// @param file   a checkpoint that is in order
  explicit ForgedCheckpoint(const std::string& file) {
    for (std::size_t at = sizeof(detail::CheckpointHeader); at < file.size();) {
      detail::ChunkHeader header;
      std::memcpy(&header, file.data() + at, sizeof header);
      at += sizeof header;
      chunks.push_back({header.section, header.method, header.bytes, file.substr(at, header.stored)});
      at += header.stored;
    }
  }

  /// The first chunk of a section, which is made if there is none.
  ForgedChunk& operator[](detail::Section section) {
    auto at = chunks.begin();
    while (at != chunks.end() && at->section < section) ++at;
    if (at == chunks.end() || at->section != section) {
      at = chunks.insert(at, {section, detail::Storing::plain, 0, {}});
    }
    return *at;
  }

  void remove(detail::Section section) {
    std::erase_if(chunks, [section](const ForgedChunk& chunk) { return chunk.section == section; });
  }

  /// The file, with right checksums. @param change   is called with its header
  template <class Change>
  std::string file(const Change& change) const {
    std::string body;
    std::vector<std::uint64_t> sums;
    detail::CheckpointHeader header{};
    for (const ForgedChunk& chunk : chunks) {
      detail::ChunkHeader before{chunk.section,
                                 chunk.method,
                                 chunk.bytes,
                                 chunk.size(),
                                 detail::checksum(chunk.stored.data(), chunk.size()),
                                 0};
      before.checksum = before.expected_checksum();
      sums.push_back(before.checksum);
      body.append(reinterpret_cast<const char*>(&before), sizeof before) += chunk.stored;
      if (chunk.section == detail::Section::classes) header.classes = before.data;
    }
    std::memcpy(header.magic, detail::kCheckpointMagic, sizeof header.magic);
    header.version = detail::kCheckpointVersion;
    header.file_bytes = sizeof header + body.size();
    header.chunks = sums.size();
    header.body = detail::checksum(sums.data(), sums.size() * sizeof(std::uint64_t));
    change(header);
    header.checksum = header.expected_checksum();
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + body;
  }
  std::string file() const {
    return file([](detail::CheckpointHeader&) {});
  }
};

}  // namespace dynasoar::test
