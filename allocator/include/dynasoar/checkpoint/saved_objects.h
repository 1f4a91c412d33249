/// @file
/// SavedObjects: copies the objects of open blocks to a checkpoint file, and back. Used by save.cpp and load.cpp.
///
/// Three stages overlap, for three consecutive groups of blocks: the device gathers the objects of the last group, the
/// host computes the checksums of the group before it, and the disk writes the group before that.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dynasoar/checkpoint/format.h>
#include <dynasoar/checkpoint/reader.h>
#include <dynasoar/checkpoint/snapshot_tasks.h>
#include <dynasoar/checkpoint/writer.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/heap/heap_memory.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/host_buffer.h>
#include <dynasoar/platform/memory.h>

namespace dynasoar::detail {

class SavedObjects {
 public:
  /// @param blocks   the blocks to copy, in the order of the file
  SavedObjects(Executor& executor, const HeapMemory& memory, const std::vector<SavedBlock>& blocks)
      : executor_(executor),
        base_(memory.base()),
        info_(memory.classes()),
        classes_(memory.class_view()),
        blocks_(blocks) {}

  /// Writes the objects.
  void write(CheckpointWriter& writer) {
    make_buffers(std::max(kChunksAtOnce * kChunkBytes, info_.largest_block_bytes()));
    std::array<HostBuffer, 3> buffers;  // gathered, summed up, written
    for (HostBuffer& buffer : buffers) buffer = HostBuffer(capacity_);
    std::vector<std::size_t> sizes;  // of the chunks in the previous buffer
    for (std::size_t turn = 0;; ++turn) {
      executor_.wait();
      std::vector<std::size_t> next_sizes;
      if (at_ < blocks_.size()) next_sizes = gather(buffers[turn % 3].data());
      if (!sizes.empty()) writer.submit(Section::objects, buffers[(turn + 2) % 3].data(), sizes);
      sizes = std::move(next_sizes);
      if (sizes.empty()) break;
    }
    writer.wait();
  }

  /// Copies the next objects from a file. @return whether they end at the end of a block
  bool read(const CheckpointReader::Contents& contents) {
    std::vector<PlacedBlock> placed;
    std::size_t bytes = 0;
    for (; at_ < blocks_.size() && bytes < contents.bytes; ++at_) {
      placed.push_back(place(blocks_[at_], bytes));
      bytes += info_[blocks_[at_].type].block_bytes;
    }
    if (bytes != contents.bytes) return false;
    executor_.wait();  // until the previous objects have been copied from these buffers
    if (capacity_ < bytes) make_buffers(bytes);
    upload(placed);
    char* const buffer = kCudaBackend ? staged_.data() : const_cast<char*>(contents.data);
    if constexpr (kCudaBackend) submit_copy(executor_, buffer, contents.data, bytes);
    copy(CopyDirection::to_heap, buffer, placed.size());
    return true;
  }

  /// Whether all objects have been read.
  bool is_complete() const { return at_ == blocks_.size(); }

 private:
  PlacedBlock place(const SavedBlock& block, std::size_t in_buffer) const {
    return {block, info_.block_offset(block.number, block.type), in_buffer};
  }

  void make_buffers(std::size_t bytes) {
    capacity_ = bytes;
    if constexpr (kCudaBackend) staged_ = DeviceArray<char>(bytes);
  }

  /// Submits the copy of the next objects. @return the sizes of their chunks, each of whole blocks
  std::vector<std::size_t> gather(char* to) {
    std::vector<PlacedBlock> placed;
    std::vector<std::size_t> sizes;
    std::size_t bytes = 0;
    for (; at_ < blocks_.size(); ++at_) {
      const std::size_t size = info_[blocks_[at_].type].block_bytes;
      const bool is_new_chunk = sizes.empty() || sizes.back() + size > kChunkBytes;
      if (bytes + size > capacity_ || (is_new_chunk && sizes.size() == kChunksAtOnce)) break;
      placed.push_back(place(blocks_[at_], bytes));
      bytes += size;
      if (is_new_chunk) sizes.push_back(0);
      sizes.back() += size;
    }
    upload(placed);
    char* const buffer = kCudaBackend ? staged_.data() : to;
    if constexpr (kCudaBackend) executor_.fill_bytes(buffer, 0, bytes);
    copy(CopyDirection::to_buffer, buffer, placed.size());
    if constexpr (kCudaBackend) submit_copy(executor_, to, buffer, bytes);
    return sizes;
  }

  void upload(const std::vector<PlacedBlock>& placed) {
    if (placed_.size() < placed.size()) placed_ = DeviceArray<PlacedBlock>(placed.size());
    placed_.upload(placed);
  }

  void copy(CopyDirection direction, char* buffer, std::size_t blocks) {
    executor_.for_each_index(blocks * CopyObjects::kTasksPerBlock,
                             CopyObjects{classes_, placed_.data(), base_, buffer, direction});
  }

  Executor& executor_;
  char* base_;
  const ClassTable& info_;
  ClassView classes_;
  const std::vector<SavedBlock>& blocks_;
  std::size_t at_ = 0;  // number of finished blocks
  std::size_t capacity_ = 0;
  DeviceArray<char> staged_;  // on a GPU: objects that are being copied
  DeviceArray<PlacedBlock> placed_;
};

}  // namespace dynasoar::detail
