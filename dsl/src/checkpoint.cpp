#include <dynasoar/checkpoint.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <dynasoar/checkpoint/classes.h>
#include <dynasoar/checkpoint/format.h>
#include <dynasoar/checkpoint/heap_snapshot.h>
#include <dynasoar/checkpoint/saved_objects.h>
#include <dynasoar/checkpoint/writer.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/host_buffer.h>

namespace dynasoar {

SavedItem::SavedItem(std::string_view name, char kind, std::size_t element_bytes, const void* data, std::size_t size,
                     bool is_in_device_memory)
    : name(name),
      kind(kind),
      element_bytes(element_bytes),
      data(data),
      size(size),
      is_in_device_memory(is_in_device_memory) {}
SavedItem::SavedItem(const SavedItem& other) = default;
SavedItem& SavedItem::operator=(const SavedItem& other) = default;
SavedItem::~SavedItem() = default;

std::string SavedItem::text() const {
  return name + ": " + std::to_string(size) + " * " + kind + std::to_string(element_bytes);
}

CheckpointItems::CheckpointItems() = default;
CheckpointItems::CheckpointItems(CheckpointItems&& other) noexcept = default;
CheckpointItems& CheckpointItems::operator=(CheckpointItems&& other) noexcept = default;
CheckpointItems::~CheckpointItems() = default;

CheckpointItems& CheckpointItems::add(const CheckpointItem& item) {
  items_.push_back(item);
  return *this;
}

std::vector<const SavedItem*> CheckpointItems::saved() const {
  std::vector<const SavedItem*> items;
  for (CheckpointItem& item : items_) {
    if (item.look != nullptr) {
      const std::span<const std::byte> now = item.look(item.vector);
      item.size = now.size() / item.element_bytes;
      item.data = now.data();
    }
    items.push_back(&item);
  }
  return items;
}

std::vector<const CheckpointItem*> CheckpointItems::loaded() const {
  std::vector<const CheckpointItem*> items;
  for (const CheckpointItem& item : items_) items.push_back(&item);
  return items;
}

namespace detail {

namespace {

/// @throws Error if that cannot be done
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

/// The section `items`: a line for each, in the order in which their contents follow. @throws Error if names will not
/// do
std::string items_text(View<const SavedItem*> items) {
  std::string text;
  std::vector<std::string> names;
  for (const SavedItem* const saved : items) {
    const SavedItem& item = *saved;
    if (item.name.empty() || item.name.find_first_of(":\n") != std::string::npos) {
      throw Error("dynasoar: '" + item.name + "' is no name for a value in a checkpoint: use one without ':'");
    }
    if (std::find(names.begin(), names.end(), item.name) != names.end()) {
      throw Error("dynasoar: two values in a checkpoint have the name '" + item.name + "'; give each its own");
    }
    names.push_back(item.name);
    text += item.text() + '\n';
  }
  return text;
}

/// Writes what is in device memory, part by part through the host's.
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
  const std::string classes = classes_text(memory.classes());
  const std::string names = items_text(items);
  HeapSnapshot snapshot = HeapSnapshot::of(executor, memory);
  snapshot.numbers.loops = loops;
  snapshot.numbers.growth = growth.notes();
  CheckpointWriter writer(path, options.compression_level, compression);
  writer.write(Section::classes, classes.data(), classes.size());
  writer.write(Section::heap, &snapshot.numbers, sizeof snapshot.numbers);
  writer.write(Section::blocks, snapshot.blocks);
  writer.write(Section::counters, snapshot.counters);
  writer.write(Section::hints, snapshot.hints);
  writer.write(Section::lists, snapshot.lists);
  writer.write(Section::tags, snapshot.tags);
  writer.write(Section::items, names.data(), names.size());
  SavedObjects(executor, memory, snapshot.blocks).write(writer);
  for (const SavedItem* const saved : items) {
    const SavedItem& item = *saved;
    if (kCudaBackend && item.is_in_device_memory) {
      write_from_device(writer, item);
    } else {
      writer.write(Section::values, item.data, item.bytes());
    }
  }
  writer.commit(checksum(classes.data(), classes.size()));
}

}  // namespace detail

}  // namespace dynasoar
