#include <dynasoar/checkpoint/save_and_load.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <dynasoar/checkpoint/descriptions.h>
#include <dynasoar/checkpoint/format.h>
#include <dynasoar/checkpoint/heap_snapshot.h>
#include <dynasoar/checkpoint/saved_objects.h>
#include <dynasoar/checkpoint/writer.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/host_buffer.h>

namespace dynasoar::detail {

namespace {

/// @throws Error if an option is invalid
void check(const SaveOptions& options, const Compression& compression) {
  const int level = options.compression_level;
  if (level < 0 || level > 19) {
    throw Error("dynasoar: SaveOptions::compression_level is 0, or 1 to 19, and not " + std::to_string(level));
  }
  if (level > 0 && compression.compress == nullptr) {
    throw Error(
        "dynasoar: this program was built without zstd: link it to dynasoar::zstd, or save with a "
        "compression_level of 0");
  }
}

/// The section `items`: a line for each item, in the order in which their contents follow.
/// @throws Error if a name is not valid
std::string items_text(View<const SavedItem*> items) {
  std::string text;
  std::set<std::string_view> names;
  for (const SavedItem* const item : items) {
    if (item->name.empty() || item->name.find_first_of(":\n") != std::string::npos) {
      throw Error("dynasoar: '" + item->name + "' is no name for a value in a checkpoint: use one without ':'");
    }
    if (!names.insert(item->name).second) {
      throw Error("dynasoar: two values in a checkpoint have the name '" + item->name + "'; give each its own");
    }
    text += item->text() + '\n';
  }
  return text;
}

/// Copies an item from device memory to the host, part by part, and writes it.
void write_from_device(CheckpointWriter& writer, const SavedItem& item) {
  constexpr std::size_t kPart = kChunksAtOnce * kChunkBytes;
  const HostBuffer buffer(std::min(item.bytes(), kPart));
  for (std::size_t done = 0; done < item.bytes(); done += buffer.bytes()) {
    const std::size_t bytes = std::min(buffer.bytes(), item.bytes() - done);
    copy_from_device(buffer.data(), static_cast<const char*>(item.data) + done, bytes);
    writer.write(Section::values, buffer.data(), bytes);
  }
}

}  // namespace

void save_checkpoint(Executor& executor, const HeapMemory& memory, HeapGrowth& growth, std::uint64_t loops,
                     const std::string& path, const SaveOptions& options, View<const SavedItem*> items,
                     const Compression& compression) {
  check(options, compression);
  const std::string classes = describe_classes(memory.classes());
  const std::string names = items_text(items);
  HeapSnapshot snapshot = HeapSnapshot::of(executor, memory);
  snapshot.numbers.loops = loops;
  snapshot.numbers.growth = growth.notes();
  CheckpointWriter writer(path, options.compression_level, compression);
  writer.write(Section::classes, classes);
  writer.write(Section::heap, &snapshot.numbers, sizeof snapshot.numbers);
  writer.write(Section::blocks, snapshot.blocks);
  writer.write(Section::counters, snapshot.counters);
  writer.write(Section::hints, snapshot.hints);
  writer.write(Section::lists, snapshot.lists);
  writer.write(Section::tags, snapshot.tags);
  writer.write(Section::items, names);
  SavedObjects(executor, memory, snapshot.blocks).write(writer);
  for (const SavedItem* const item : items) {
    if (kCudaBackend && item->is_in_device_memory) {
      write_from_device(writer, *item);
    } else {
      writer.write(Section::values, item->data, item->bytes());
    }
  }
  writer.commit(checksum(classes.data(), classes.size()));
}

}  // namespace dynasoar::detail
