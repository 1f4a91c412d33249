#include <dynasoar/checkpoint.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <dynasoar/allocator/checkpoint_classes.h>
#include <dynasoar/allocator/checkpoint_format.h>
#include <dynasoar/allocator/checkpoint_reader.h>
#include <dynasoar/allocator/checkpoint_writer.h>
#include <dynasoar/allocator/heap_snapshot.h>
#include <dynasoar/allocator/saved_objects.h>
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

/// An item on its way from a file.
struct LoadedItem : CheckpointItem {
  std::vector<std::byte> elements;  // if it may have any size

  bool may_have_any_size() const { return assign != nullptr; }

  /// Makes room for `size` elements. @return where they are to be put
  char* place() {
    if (!may_have_any_size()) return static_cast<char*>(const_cast<void*>(data));
    elements.resize(size * element_bytes);
    return reinterpret_cast<char*>(elements.data());
  }

  /// Puts what was loaded in its place.
  void take_over() const {
    if (may_have_any_size()) assign(vector, elements.data(), size);
  }
};

std::vector<LoadedItem> to_be_loaded(View<const CheckpointItem*> items) {
  std::vector<LoadedItem> loaded;
  for (const CheckpointItem* const item : items) loaded.push_back({*item, {}});
  return loaded;
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

namespace {

/// A checkpoint that is being loaded: first everything is read and checked, then it is read again and put in its place.
class CheckpointLoader {
 public:
  /// Reads and checks. Changes nothing. @throws CheckpointError if the file does not fit, also into the largest heap
  /// that this one may become
  CheckpointLoader(const std::string& path, View<const CheckpointItem*> items, const HeapMemory& memory,
                   const Compression& compression)
      : reader_(path, compression), items_(to_be_loaded(items)) {
    read_all();
    check_classes(memory);
    take_snapshot(memory);
    check_items();
    check_sizes(memory);
    check_fits(memory);
  }

  const HeapNumbers& numbers() const { return snapshot_.numbers; }

  /// Puts everything in its place. @pre the device is idle; the heap has the pages that are used
  /// @return whether the heap has lists of objects; else they have to be made
  /// @throws CheckpointError if the file cannot be read any more; then the heap is empty
  bool load(Executor& executor, HeapMemory& memory) {
    const bool has_lists = snapshot_.restore(executor, memory);
    try {
      read_contents(executor, memory);
    } catch (const std::exception& error) {
      executor.wait();
      HeapSnapshot::empty(memory).restore(executor, memory);
      reader_.fail(
          CheckpointFault::lost_while_reading,
          "changed while it was being read, so the heap is empty now, and the program's values are anything (" +
              std::string(error.what()) + ")");
    }
    for (const LoadedItem& item : items_) item.take_over();
    return has_lists;
  }

 private:
  struct Target {
    const LoadedItem* item;
    char* data;
    std::size_t bytes;
  };

  void check_fits(const HeapMemory& memory) const {
    const std::uint64_t limit = memory.limit_pages();
    if (numbers().used_pages <= limit) return;
    reader_.fail(CheckpointFault::heap_too_small,
                 "needs a heap of " + std::to_string(numbers().used_pages * memory.page_bytes()) +
                     " bytes, and this one has " + std::to_string(limit * memory.page_bytes()) +
                     " at most: make the handle with more heap_bytes or a higher heap_limit_bytes (or compact before "
                     "saving, if much of the heap was free)");
  }

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

  void check_classes(const HeapMemory& memory) {
    const std::string program = classes_text(memory.classes());
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

  void take_snapshot(const HeapMemory& memory) {
    const auto numbers = take<HeapNumbers>(Section::heap);
    if (numbers.size() != 1) reader_.fail_damaged("the heap's numbers are missing");
    snapshot_.numbers = numbers.front();
    snapshot_.blocks = take<SavedBlock>(Section::blocks);
    snapshot_.counters = take<std::uint64_t>(Section::counters);
    snapshot_.hints = take<std::uint32_t>(Section::hints);
    snapshot_.lists = take<std::uint64_t>(Section::lists);
    snapshot_.tags = take<SavedTags>(Section::tags);
    if (!snapshot_.is_consistent(memory.classes())) reader_.fail_damaged("its parts do not fit together");
    if (!memory.is_checked() && numbers.front().is_checked != 0) {
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
      const auto number = static_cast<std::size_t>(match - items_.begin());
      if (found[number]) reader_.fail_damaged("a value is there twice");
      found[number] = true;
      targets_.push_back(target_of(*match, line));
      begin = end + 1;
    }
    const auto missing = std::find(found.begin(), found.end(), false);
    if (missing == found.end()) return;
    const CheckpointItem& item = items_[static_cast<std::size_t>(missing - found.begin())];
    reader_.fail(CheckpointFault::other_values, "has no value '" + item.name + "'");
  }

  Target target_of(LoadedItem& item, const std::string& line) {
    if (item.may_have_any_size()) {
      item.size = std::strtoull(line.c_str() + item.name.size() + 2, nullptr, 10);
      check_size(item);
    }
    if (item.text() != line) {
      reader_.fail(CheckpointFault::other_values,
                   "has a value '" + line + "', and the program asks for '" + item.text() + "'");
    }
    return {&item, item.place(), item.bytes()};
  }

  /// Of a vector, whose size is the file's: no more than the file has.
  void check_size(const LoadedItem& item) const {
    const std::uint64_t there = bytes_[static_cast<std::size_t>(Section::values)];
    if (item.size > there / item.element_bytes) reader_.fail_damaged("a value is missing");
  }

  /// Whether as much is there as the sections before say.
  void check_sizes(const HeapMemory& memory) const {
    std::uint64_t objects = 0;
    for (const SavedBlock& block : snapshot_.blocks) objects += memory.classes()[block.type].block_bytes;
    std::uint64_t values = 0;
    for (const Target& target : targets_) values += target.bytes;
    if (objects != bytes_[static_cast<std::size_t>(Section::objects)]) reader_.fail_damaged("objects are missing");
    if (values != bytes_[static_cast<std::size_t>(Section::values)]) reader_.fail_damaged("values are missing");
  }

  /// Reads the file again.
  void read_contents(Executor& executor, const HeapMemory& memory) {
    SavedObjects objects(executor, memory, snapshot_.blocks);
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
  std::vector<LoadedItem> items_;
  std::vector<Target> targets_;  // in the order of the file
  std::array<std::vector<char>, kSections + 1> held_;
  std::array<std::uint64_t, kSections + 1> bytes_{};
  HeapSnapshot snapshot_;
};

}  // namespace

LoadedCheckpoint load_checkpoint(Executor& executor, HeapMemory& memory, HeapGrowth& growth, const std::string& path,
                                 View<const CheckpointItem*> items, const Compression& compression) {
  CheckpointLoader loader(path, items, memory, compression);
  memory.grow_to(executor, static_cast<std::uint32_t>(std::min(loader.numbers().pages, memory.limit_pages())));
  executor.wait();
  const bool has_lists = loader.load(executor, memory);
  growth.restore(loader.numbers().growth);
  return {loader.numbers().loops, has_lists};
}

namespace {

/// Reads values of the host's, and nothing else, from any checkpoint.
class ValueLoader {
 public:
  ValueLoader(const std::string& path, View<const CheckpointItem*> items, const Compression& compression)
      : reader_(path, compression), items_(to_be_loaded(items)) {}

  void load() {
    CheckpointReader::Contents contents{};
    for (reader_.rewind(); reader_.next(contents);) {
      if (contents.section == Section::items) text_.append(contents.data, contents.bytes);
      if (contents.section != Section::values) continue;
      if (parts_.empty()) find_parts();
      take(contents);
    }
    if (parts_.empty()) find_parts();
    for (const LoadedItem& item : items_) item.take_over();
  }

 private:
  /// A value of the file, and where to: null if nobody asks for it.
  struct Part {
    char* to;
    std::uint64_t bytes;
  };

  void find_parts() {
    std::vector<std::string> found;
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::string line = text_.substr(begin, text_.find('\n', begin) - begin);
      begin += line.size() + 1;
      const std::size_t colon = line.find(':'), kind = line.rfind(' ') + 1;
      if (colon == std::string::npos || kind < colon + 3) reader_.fail_damaged("a value has no description");
      const std::uint64_t size = std::strtoull(line.c_str() + colon + 2, nullptr, 10);
      const std::uint64_t element = std::strtoull(line.c_str() + kind + 1, nullptr, 10);
      if (element == 0 || size > std::numeric_limits<std::uint64_t>::max() / element) {
        reader_.fail_damaged("a value has no size");
      }
      Part part{nullptr, size * element};
      const auto item = std::find_if(items_.begin(), items_.end(),
                                     [&](const CheckpointItem& i) { return i.name == line.substr(0, colon); });
      if (item != items_.end()) {
        if (item->may_have_any_size()) item->size = size;
        if (item->text() != line) {
          reader_.fail(CheckpointFault::other_values,
                       "has a value '" + line + "', and the program asks for '" + item->text() + "'");
        }
        if (std::find(found.begin(), found.end(), item->name) != found.end()) {
          reader_.fail_damaged("a value is there twice");
        }
        part.to = item->place();
        found.push_back(item->name);
      }
      parts_.push_back(part);
    }
    for (const CheckpointItem& item : items_) {
      if (std::find(found.begin(), found.end(), item.name) != found.end()) continue;
      reader_.fail(CheckpointFault::other_values, "has no value '" + item.name + "'");
    }
  }

  void take(CheckpointReader::Contents contents) {
    for (; contents.bytes > 0 && part_ < parts_.size();) {
      Part& part = parts_[part_];
      const std::size_t bytes = std::min<std::size_t>(contents.bytes, part.bytes - done_);
      if (part.to != nullptr && bytes > 0) std::memcpy(part.to + done_, contents.data, bytes);
      contents.data += bytes;
      contents.bytes -= bytes;
      done_ += bytes;
      if (done_ == part.bytes) ++part_, done_ = 0;
    }
  }

  CheckpointReader reader_;
  std::vector<LoadedItem> items_;
  std::string text_;
  std::vector<Part> parts_;
  std::size_t part_ = 0;
  std::uint64_t done_ = 0;  // of the part
};

}  // namespace

void load_values(const std::string& path, View<const CheckpointItem*> items, const Compression& compression) {
  for (const CheckpointItem* const item : items) {
    if (!item->is_in_device_memory) continue;
    throw Error(
        "dynasoar: load_values reads values and vectors of the host's; load arrays in device memory with a handle");
  }
  ValueLoader(path, items, compression).load();
}

}  // namespace detail

}  // namespace dynasoar
