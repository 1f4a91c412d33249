/// @file
/// Checkpoints: what AllocatorHandle::save and load do. The format is in docs/checkpoints.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator/checkpoint_classes.h>
#include <dynasoar/allocator/checkpoint_error.h>
#include <dynasoar/allocator/checkpoint_format.h>
#include <dynasoar/allocator/checkpoint_reader.h>
#include <dynasoar/allocator/checkpoint_writer.h>
#include <dynasoar/allocator/heap_snapshot.h>
#include <dynasoar/allocator/heap_storage.h>
#include <dynasoar/allocator/saved_objects.h>
#include <dynasoar/checkpoint_items.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/host_buffer.h>
#include <dynasoar/type_name.h>

namespace dynasoar {

/// How to save.
struct SaveOptions {
  int compression_level = 0;  ///< of zstd: 1, fast, to 19, slow; 0: not compressed

  /// @throws Error if that cannot be done
  void check() const {
    if (compression_level < 0 || compression_level > 19) {
      throw Error("dynasoar: SaveOptions::compression_level is 0, or 1 to 19, and not " +
                  std::to_string(compression_level));
    }
    if (compression_level > 0 && !detail::kHasZstd) {
      throw Error(
          "dynasoar: this program was built without zstd: link it to dynasoar::zstd, or save with a "
          "compression_level of 0");
    }
  }
};

namespace detail {

/// The text that must be the same in a file and a program.
template <class A>
std::string classes_text_of() {
  return classes_text<A>([]<class T>(std::type_identity<T>) { return type_name<T>(); });
}

/// The section `items`: a line for each, in the order in which their contents follow. @throws Error if names will not
/// do
inline std::string items_text(const std::vector<SavedItem>& items) {
  std::string text;
  std::vector<std::string> names;
  for (const SavedItem& item : items) {
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
inline void write_from_device(CheckpointWriter& writer, const SavedItem& item) {
  constexpr std::size_t kPart = kChunksAtOnce * kChunkBytes;
  const HostBuffer buffer(std::min(item.bytes, kPart));
  for (std::size_t done = 0; done < item.bytes; done += buffer.bytes()) {
    const std::size_t bytes = std::min(buffer.bytes(), item.bytes - done);
    copy_from_device(buffer.data(), static_cast<const char*>(item.data) + done, bytes);
    writer.write(Section::values, buffer.data(), bytes);
  }
}

/// Saves a heap. @pre the device is idle
template <class A>
void save_checkpoint(Executor& executor, const HeapStorage<A>& storage, const HeapSnapshot<A>& snapshot,
                     const std::string& path, const SaveOptions& options, const std::vector<SavedItem>& items) {
  options.check();
  const std::string classes = classes_text_of<A>();
  const std::string names = items_text(items);
  CheckpointWriter writer(path, options.compression_level);
  writer.write(Section::classes, classes.data(), classes.size());
  writer.write(Section::heap, &snapshot.numbers, sizeof snapshot.numbers);
  writer.write(Section::blocks, snapshot.blocks);
  writer.write(Section::counters, snapshot.counters);
  writer.write(Section::hints, snapshot.hints);
  writer.write(Section::lists, snapshot.lists);
  writer.write(Section::tags, snapshot.tags);
  writer.write(Section::items, names.data(), names.size());
  SavedObjects<A>(executor, storage.state().base, snapshot.blocks).write(writer);
  for (const SavedItem& item : items) {
    if (kCudaBackend && item.is_in_device_memory) {
      write_from_device(writer, item);
    } else {
      writer.write(Section::values, item.data, item.bytes);
    }
  }
  writer.commit(checksum(classes.data(), classes.size()));
}

/// A checkpoint that is being loaded: first everything is read and checked, then it is read again and put in its place.
template <class A>
class CheckpointLoader {
 public:
  /// Reads and checks. Changes nothing. @throws CheckpointError if the file does not fit
  CheckpointLoader(const std::string& path, std::vector<CheckpointItem> items)
      : reader_(path), items_(std::move(items)) {
    read_all();
    check_classes();
    take_snapshot();
    check_items();
    check_sizes();
  }

  const HeapNumbers& numbers() const { return snapshot_.numbers; }

  /// @throws CheckpointError if a heap that may have `limit` pages is too small
  void check_fits(std::uint64_t limit, std::size_t page_bytes) const {
    if (numbers().used_pages <= limit) return;
    reader_.fail(CheckpointFault::heap_too_small,
                 "needs a heap of " + std::to_string(numbers().used_pages * page_bytes) + " bytes, and this one has " +
                     std::to_string(limit * page_bytes) +
                     " at most: make the handle with more heap_bytes or a higher heap_limit_bytes (or compact before "
                     "saving, if much of the heap was free)");
  }

  /// Puts everything in its place. @pre the device is idle; the heap has the pages that are used
  /// @throws CheckpointError if the file cannot be read any more; then the heap is empty
  void load(Executor& executor, HeapStorage<A>& storage) {
    snapshot_.restore(executor, storage);
    try {
      read_contents(executor, storage);
    } catch (const std::exception& error) {
      executor.wait();
      HeapSnapshot<A>::empty(storage).restore(executor, storage);
      reader_.fail(
          CheckpointFault::lost_while_reading,
          "changed while it was being read, so the heap is empty now, and the program's values are anything (" +
              std::string(error.what()) + ")");
    }
    for (CheckpointItem& item : items_) {
      if (item.take_over) item.take_over();
    }
  }

 private:
  struct Target {
    CheckpointItem* item;
    char* data;
    std::size_t bytes;
  };

  std::vector<char>& held(Section section) { return held_[static_cast<std::size_t>(section)]; }

  /// Reads the file to its end. Keeps all but the objects and the program's values, whose bytes are counted.
  void read_all() {
    CheckpointReader::Contents contents{};
    for (reader_.rewind(); reader_.next(contents);) {
      const auto section = static_cast<std::size_t>(contents.section);
      if (section == 0 || section > kSections) reader_.fail_damaged("a chunk belongs to nothing");
      bytes_[section] += contents.bytes;
      if (contents.section == Section::objects || contents.section == Section::values) continue;
      held_[section].insert(held_[section].end(), contents.data, contents.data + contents.bytes);
    }
  }

  std::string text_of(Section section) { return {held(section).data(), held(section).size()}; }

  void check_classes() {
    const std::string program = classes_text_of<A>();
    const std::string file = text_of(Section::classes);
    if (file == program) return;
    reader_.fail(CheckpointFault::other_classes, "is of other classes: " + first_difference(file, program) +
                                                     "; load it with the program that wrote it");
  }

  template <class T>
  std::vector<T> take(Section section) {
    std::vector<char> bytes = std::exchange(held(section), {});
    if (bytes.size() % sizeof(T) != 0) reader_.fail_damaged("a section has a part of a value");
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    return values;
  }

  void take_snapshot() {
    const auto numbers = take<HeapNumbers>(Section::heap);
    if (numbers.size() != 1) reader_.fail_damaged("the heap's numbers are missing");
    snapshot_.numbers = numbers.front();
    snapshot_.blocks = take<SavedBlock>(Section::blocks);
    snapshot_.counters = take<std::uint64_t>(Section::counters);
    snapshot_.hints = take<std::uint32_t>(Section::hints);
    snapshot_.lists = take<std::uint64_t>(Section::lists);
    snapshot_.tags = take<SavedTags>(Section::tags);
    if (!snapshot_.is_consistent()) reader_.fail_damaged("its parts do not fit together");
    if (!kChecked && numbers.front().is_checked != 0) {
      reader_.fail(CheckpointFault::checked_build,
                   "was written by a checked build, whose pointers have generations, and this program is none: load it "
                   "with one built with DYNASOAR_CHECKED=1");
    }
  }

  /// Finds the program's value for each of the file's.
  void check_items() {
    std::vector<bool> found(items_.size());
    const std::string text = text_of(Section::items);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      if (end == std::string::npos) reader_.fail_damaged("a value has no description");
      const std::string line = text.substr(begin, end - begin);
      const std::string name = line.substr(0, line.find(':'));
      const auto match =
          std::find_if(items_.begin(), items_.end(), [&](const auto& item) { return item.name == name; });
      if (match == items_.end()) {
        reader_.fail(CheckpointFault::other_values, "has a value '" + line + "' that the program does not ask for");
      }
      found[static_cast<std::size_t>(match - items_.begin())] = true;
      targets_.push_back(target_of(*match, line));
      begin = end + 1;
    }
    const auto missing = std::find(found.begin(), found.end(), false);
    if (missing == found.end()) return;
    const CheckpointItem& item = items_[static_cast<std::size_t>(missing - found.begin())];
    reader_.fail(CheckpointFault::other_values, "has no value '" + item.name + "'");
  }

  Target target_of(CheckpointItem& item, const std::string& line) {
    if (item.make_room) {
      item.size = std::strtoull(line.c_str() + item.name.size() + 2, nullptr, 10);
      item.bytes = bytes_of(item);
    }
    if (item.text() != line) {
      reader_.fail(CheckpointFault::other_values,
                   "has a value '" + line + "', and the program asks for '" + item.text() + "'");
    }
    void* const data = item.make_room ? item.make_room(item.size) : const_cast<void*>(item.data);
    return {&item, static_cast<char*>(data), item.bytes};
  }

  /// Of a vector, whose size is the file's: no more than the file has.
  std::size_t bytes_of(const CheckpointItem& item) const {
    const std::size_t element = std::strtoull(item.kind.c_str() + 1, nullptr, 10);
    const std::uint64_t there = bytes_[static_cast<std::size_t>(Section::values)];
    if (item.size > there / element) reader_.fail_damaged("a value is missing");
    return item.size * element;
  }

  /// Whether as much is there as the sections before say.
  void check_sizes() const {
    std::uint64_t objects = 0;
    for (const SavedBlock& block : snapshot_.blocks) objects += SavedObjects<A>::block_bytes(block.type);
    std::uint64_t values = 0;
    for (const Target& target : targets_) values += target.bytes;
    if (objects != bytes_[static_cast<std::size_t>(Section::objects)]) reader_.fail_damaged("objects are missing");
    if (values != bytes_[static_cast<std::size_t>(Section::values)]) reader_.fail_damaged("values are missing");
  }

  /// Reads the file again.
  void read_contents(Executor& executor, HeapStorage<A>& storage) {
    SavedObjects<A> objects(executor, storage.state().base, snapshot_.blocks);
    auto target = targets_.begin();
    std::size_t done = 0;  // of the target
    CheckpointReader::Contents contents{};
    for (reader_.rewind(); reader_.next(contents);) {
      if (contents.section == Section::objects && !objects.read(contents)) reader_.fail_damaged("a block has no end");
      if (contents.section != Section::values) continue;
      while (contents.bytes > 0) {
        for (; target != targets_.end() && done == target->bytes; ++target) done = 0;
        if (target == targets_.end()) reader_.fail_damaged("there is more than was written");
        const std::size_t bytes = std::min(contents.bytes, target->bytes - done);
        put(*target, done, contents.data, bytes);
        done += bytes;
        contents.data += bytes;
        contents.bytes -= bytes;
      }
    }
    executor.wait();
    if (!objects.is_complete()) reader_.fail_damaged("objects are missing");
  }

  static void put(const Target& target, std::size_t offset, const char* from, std::size_t bytes) {
    if (target.item->is_in_device_memory) {
      copy_to_device(target.data + offset, from, bytes);
    } else {
      std::memcpy(target.data + offset, from, bytes);
    }
  }

  CheckpointReader reader_;
  std::vector<CheckpointItem> items_;
  std::vector<Target> targets_;  // in the order of the file
  std::array<std::vector<char>, kSections + 1> held_;
  std::array<std::uint64_t, kSections + 1> bytes_{};
  HeapSnapshot<A> snapshot_;
};

}  // namespace detail

}  // namespace dynasoar
