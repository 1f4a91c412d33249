#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/checkpoint.h>
#include <dynasoar/checkpoint/classes.h>
#include <dynasoar/checkpoint/format.h>
#include <dynasoar/checkpoint/heap_snapshot.h>
#include <dynasoar/checkpoint/reader.h>
#include <dynasoar/checkpoint/saved_objects.h>
#include <dynasoar/checkpoint/snapshot_checks.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

namespace {

/// The memory that a file may ask for, see LoadOptions.
class Allowance {
 public:
  Allowance(const CheckpointReader& reader, const LoadOptions& options)
      : reader_(reader),
        bytes_(std::max(options.memory_bytes, kTimesFile * std::min(reader.file_bytes(), kMost / kTimesFile))) {}

  std::uint64_t bytes() const { return bytes_; }

  /// Takes some for as long as the file is being loaded. @throws CheckpointError if there are not so many
  void take(std::uint64_t bytes) {
    if (bytes > bytes_ - taken_) fail("what it holds", bytes);
    taken_ += bytes;
  }

  [[noreturn]] void fail(const std::string& what, std::uint64_t bytes) const {
    reader_.fail(CheckpointFault::needs_memory,
                 "has " + std::to_string(reader_.file_bytes()) + " bytes, and " + what + " would take more than the " +
                     std::to_string(bytes_) +
                     " bytes of memory that it may: if you trust it, load it with LoadOptions" +
                     "{.memory_bytes = " + std::to_string(bytes > kMost - taken_ ? kMost : taken_ + bytes) + "}");
  }

 private:
  static constexpr std::uint64_t kTimesFile = 1000;
  static constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

  const CheckpointReader& reader_;
  std::uint64_t bytes_;
  std::uint64_t taken_ = 0;
};

/// A section as values of T.
template <class T>
std::vector<T> read_section(CheckpointReader& reader, Section section, Allowance& allowance) {
  const std::uint64_t bytes = reader.bytes(section);
  if (bytes % sizeof(T) != 0) reader.fail_damaged("a section has a part of a value");
  allowance.take(bytes);
  std::vector<T> values(static_cast<std::size_t>(bytes / sizeof(T)));
  reader.read(section, values.data());
  return values;
}

std::string read_text(CheckpointReader& reader, Section section, Allowance& allowance) {
  const std::vector<char> text = read_section<char>(reader, section, allowance);
  return {text.data(), text.size()};
}

/// @return the section `classes`. @throws CheckpointError if a section is missing that every checkpoint has
std::string read_classes(CheckpointReader& reader, Allowance& allowance) {
  for (const Section section : {Section::classes, Section::heap, Section::counters, Section::hints, Section::lists}) {
    if (reader.bytes(section) == 0) reader.fail_damaged("a section is missing");
  }
  const std::string classes = read_text(reader, Section::classes, allowance);
  if (checksum(classes.data(), classes.size()) != reader.classes_checksum()) {
    reader.fail_damaged("its header is of other classes");
  }
  return classes;
}

/// A line of the section `items`: "name: size * type".
struct Description {
  std::string name;
  char kind = 0;
  std::uint64_t element_bytes = 0;
  std::uint64_t size = 0;

  /// @return whether the line is one
  bool parse(const std::string& line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon == 0) return false;
    name = line.substr(0, colon);
    const char* const end = line.data() + line.size();
    const auto number = std::from_chars(std::min(line.data() + colon + 2, end), end, size);
    const std::string_view rest(number.ptr, static_cast<std::size_t>(end - number.ptr));
    if (number.ec != std::errc() || rest.size() < 5) return false;
    kind = rest[3];
    const auto element = std::from_chars(number.ptr + 4, end, element_bytes);
    return element.ec == std::errc() && element_bytes > 0 && is_kind(kind) && line == text();
  }

  /// As SavedItem::text.
  std::string text() const { return name + ": " + std::to_string(size) + " * " + kind + std::to_string(element_bytes); }

  static bool is_kind(char kind) { return std::string_view("pfiubx").find(kind) != std::string_view::npos; }
};

/// An item on its way from a file.
struct LoadedItem : CheckpointItem {
  std::vector<std::byte> elements;  // those of the host, until everything has been read
  bool is_found = false;

  bool may_have_any_size() const { return assign != nullptr; }

  /// Puts what was loaded in its place.
  void take_over() const {
    if (may_have_any_size()) {
      assign(vector, elements.data(), size);
    } else if (!elements.empty()) {
      std::memcpy(const_cast<void*>(data), elements.data(), elements.size());
    }
  }
};

/// What happens to values of the file that the program does not ask for.
enum class Others { refused, skipped };

/// The program's own values in a file.
class LoadedValues {
 public:
  LoadedValues(CheckpointReader& reader, View<const CheckpointItem*> items) : reader_(reader) {
    for (const CheckpointItem* const item : items) items_.push_back({*item, {}, false});
  }

  /// Finds the program's item for each value of the file, and makes room. @throws CheckpointError if they do not fit
  void match(Others others, Allowance& allowance) {
    text_ = read_text(reader_, Section::items, allowance);
    std::set<std::string> names;
    std::uint64_t left = reader_.bytes(Section::values);
    for (std::size_t begin = 0; begin < text_.size();) {
      const std::size_t end = text_.find('\n', begin);
      Description value;
      if (end == std::string::npos || !value.parse(text_.substr(begin, end - begin))) {
        reader_.fail_damaged("a value has no description");
      }
      begin = end + 1;
      if (!names.insert(value.name).second) reader_.fail_damaged("a value is there twice");
      if (value.size > left / value.element_bytes) reader_.fail_damaged("values are missing");
      left -= value.size * value.element_bytes;
      targets_.push_back({item_for(value, others), value.size * value.element_bytes});
    }
    if (left != 0) reader_.fail_damaged("there are more values than it says");
    for (const LoadedItem& item : items_) {
      if (!item.is_found) fail("has no value '" + item.name + "'" + has());
    }
    make_room(allowance);
  }

  /// Reads the values. Arrays in device memory get theirs at once.
  void read() {
    auto target = targets_.begin();
    std::size_t done = 0;  // of the target
    CheckpointReader::Contents contents{};
    for (reader_.rewind(Section::values, Section::values); reader_.next(contents);) {
      while (contents.bytes > 0) {
        for (; target != targets_.end() && done == target->bytes; ++target) done = 0;
        if (target == targets_.end()) reader_.fail_damaged("there are more values than it says");
        const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(contents.bytes, target->bytes - done));
        if (target->item != nullptr) put(*target->item, done, contents.data, bytes);
        done += bytes;
        contents.data += bytes;
        contents.bytes -= bytes;
      }
    }
  }

  /// Puts the others in their places. @pre all values have been read
  void take_over() const {
    for (const LoadedItem& item : items_) item.take_over();
  }

 private:
  /// A value of the file, and what it is for: null if nobody asks for it.
  struct Target {
    LoadedItem* item;
    std::uint64_t bytes;
  };

  [[noreturn]] void fail(const std::string& text) const { reader_.fail(CheckpointFault::other_values, text); }

  std::string has() const {
    std::string lines = text_.substr(0, text_.empty() ? 0 : text_.size() - 1);
    for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; at += 2) lines.replace(at, 1, ", ");
    return lines.empty() ? "; it has none" : "; it has " + printable(lines);
  }

  LoadedItem* item_for(const Description& value, Others others) {
    const auto match =
        std::find_if(items_.begin(), items_.end(), [&](const LoadedItem& item) { return item.name == value.name; });
    if (match == items_.end()) {
      if (others == Others::skipped) return nullptr;
      fail("has a value '" + printable(value.text()) + "' that the program does not ask for");
    }
    if (match->may_have_any_size()) match->size = static_cast<std::size_t>(value.size);
    if (match->text() != value.text()) {
      fail("has a value '" + printable(value.text()) + "', and the program asks for '" + match->text() + "'");
    }
    match->is_found = true;
    return &*match;
  }

  void make_room(Allowance& allowance) {
    for (LoadedItem& item : items_) {
      if (item.may_have_any_size()) allowance.take(item.bytes());
      if (!item.is_in_device_memory) item.elements.resize(item.bytes());
    }
  }

  static void put(LoadedItem& item, std::size_t offset, const char* from, std::size_t bytes) {
    if (item.is_in_device_memory) {
      copy_to_device(static_cast<char*>(const_cast<void*>(item.data)) + offset, from, bytes);
    } else {
      std::memcpy(item.elements.data() + offset, from, bytes);
    }
  }

  CheckpointReader& reader_;
  std::vector<LoadedItem> items_;
  std::string text_;             // the section `items`
  std::vector<Target> targets_;  // in the order of the file
};

/// A file of which everything is checked but whether it fits a program's heap: what load and load_values share.
class CheckedFile {
 public:
  /// Reads what the file says about itself and its classes.
  CheckedFile(const std::string& path, const LoadOptions& options, View<const CheckpointItem*> items,
              const Compression& compression)
      : reader_(path, compression),
        allowance_(reader_, options),
        values_(reader_, items),
        classes_(read_classes(reader_, allowance_)) {}

  CheckpointReader& reader() { return reader_; }
  Allowance& allowance() { return allowance_; }
  LoadedValues& values() { return values_; }
  const HeapSnapshot& snapshot() const { return snapshot_; }
  const std::string& classes() const { return classes_; }

  /// Checks all the rest. @param classes   those of the file
  void check(const ClassTable& classes, Others others) {
    reader_.check_objects(classes.largest_block_bytes());
    take_snapshot(classes);
    values_.match(others, allowance_);
    check_objects(classes);
  }

 private:
  template <class T>
  std::vector<T> take(Section section) {
    return read_section<T>(reader_, section, allowance_);
  }

  void take_snapshot(const ClassTable& classes) {
    const auto numbers = take<HeapNumbers>(Section::heap);
    if (numbers.size() != 1) reader_.fail_damaged("the heap's numbers are missing");
    snapshot_.numbers = numbers.front();
    snapshot_.blocks = take<SavedBlock>(Section::blocks);
    snapshot_.counters = take<std::uint64_t>(Section::counters);
    snapshot_.hints = take<std::uint32_t>(Section::hints);
    snapshot_.lists = take<std::uint64_t>(Section::lists);
    snapshot_.tags = take<SavedTags>(Section::tags);
    if (const char* const what = contradiction_in(snapshot_, classes); what != nullptr) {
      reader_.fail_damaged("its parts do not fit together: " + std::string(what));
    }
  }

  /// Whether the objects of all blocks are there, and end where SavedObjects needs it.
  void check_objects(const ClassTable& classes) {
    auto block = snapshot_.blocks.begin();
    CheckpointReader::Contents contents{};
    for (reader_.rewind(Section::objects, Section::objects); reader_.next(contents);) {
      std::size_t bytes = 0;
      for (; block != snapshot_.blocks.end() && bytes < contents.bytes; ++block) {
        bytes += classes[block->type].block_bytes;
      }
      if (bytes != contents.bytes) reader_.fail_damaged("a block has no end");
    }
    if (block != snapshot_.blocks.end()) reader_.fail_damaged("objects are missing");
  }

  CheckpointReader reader_;
  Allowance allowance_;
  LoadedValues values_;
  std::string classes_;  // the section
  HeapSnapshot snapshot_;
};

/// A checkpoint that is being loaded: first everything is read and checked, then objects and values are read again and
/// put in their places.
class CheckpointLoader {
 public:
  /// Reads and checks. Changes nothing. @throws CheckpointError if the file does not fit, also into the largest heap
  /// that this one may become
  CheckpointLoader(const std::string& path, const LoadOptions& options, View<const CheckpointItem*> items,
                   const HeapMemory& memory, const Compression& compression)
      : file_(path, options, items, compression) {
    check_classes(memory);
    file_.check(memory.classes(), Others::refused);
    check_build(memory);
    check_pages(memory);
    check_values();
  }

  const HeapNumbers& numbers() const { return file_.snapshot().numbers; }

  /// What the heap is to have.
  std::uint64_t pages() const { return pages_; }

  /// Puts everything in its place. @pre the device is idle; the heap has the pages that are used
  /// @return whether the heap has lists of objects; else they have to be made
  /// @throws CheckpointError if the file cannot be read any more; then the heap is empty
  bool load(Executor& executor, HeapMemory& memory) {
    try {
      const bool has_lists = file_.snapshot().restore(executor, memory);
      read_objects(executor, memory);
      file_.values().read();
      file_.values().take_over();
      return has_lists;
    } catch (const std::exception& error) {
      executor.wait();
      HeapSnapshot::empty(memory).restore(executor, memory);
      file_.reader().fail(
          CheckpointFault::lost_while_reading,
          "changed while it was being read, so the heap is empty now, and arrays in device memory that were "
          "to be loaded hold anything (" +
              std::string(error.what()) + ")");
    }
  }

 private:
  void check_classes(const HeapMemory& memory) {
    const std::string program = classes_text(memory.classes());
    if (file_.classes() == program) return;
    file_.reader().fail(CheckpointFault::other_classes,
                        difference_in_classes(file_.classes(), program) + "; load it with the program that wrote it");
  }

  void check_build(const HeapMemory& memory) {
    if (memory.is_checked() || numbers().is_checked == 0) return;
    file_.reader().fail(CheckpointFault::checked_build,
                        "was written by a checked build, whose pointers have generations, and this program is none: "
                        "load it with one built with DYNASOAR_CHECKED=1");
  }

  /// Whether the heap has, or may get, the pages that are used.
  void check_pages(const HeapMemory& memory) {
    const std::uint64_t used = numbers().used_pages;
    const std::uint64_t page_bytes = memory.page_bytes();
    if (used > memory.limit_pages()) {
      file_.reader().fail(
          CheckpointFault::heap_too_small,
          "needs a heap of " + std::to_string(used * page_bytes) + " bytes, and this one has " +
              std::to_string(memory.limit_bytes()) +
              " at most: make the handle with more heap_bytes or a higher heap_limit_bytes (or compact before "
              "saving, if much of the heap was free)");
    }
    pages_ = std::min(numbers().pages, memory.limit_pages());
    if (memory.has_chosen_limit()) return;
    const std::uint64_t allowed = memory.pages() + file_.allowance().bytes() / page_bytes;
    if (used > allowed) file_.allowance().fail("its heap", (used - memory.pages()) * page_bytes);
    pages_ = std::min(pages_, allowed);
  }

  void check_values() {
    CheckpointReader::Contents contents{};
    for (file_.reader().rewind(Section::values, Section::values); file_.reader().next(contents);) {
    }
  }

  void read_objects(Executor& executor, const HeapMemory& memory) {
    SavedObjects objects(executor, memory, file_.snapshot().blocks);
    CheckpointReader::Contents contents{};
    for (file_.reader().rewind(Section::objects, Section::objects); file_.reader().next(contents);) {
      if (!objects.read(contents)) file_.reader().fail_damaged("a block has no end");
    }
    executor.wait();
    if (!objects.is_complete()) file_.reader().fail_damaged("objects are missing");
  }

  CheckedFile file_;
  std::uint64_t pages_ = 0;
};

/// Calls a function that allocates what a file needs. @throws Error if there is no memory
template <class F>
auto with_memory(const std::string& path, const F& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    throw Error("dynasoar: there is no memory left to load the checkpoint '" + path + "'");
  }
}

}  // namespace

LoadedCheckpoint load_checkpoint(Executor& executor, HeapMemory& memory, HeapGrowth& growth, const std::string& path,
                                 const LoadOptions& options, View<const CheckpointItem*> items,
                                 const Compression& compression) {
  return with_memory(path, [&]() -> LoadedCheckpoint {
    CheckpointLoader loader(path, options, items, memory, compression);
    memory.grow_to(executor, static_cast<std::uint32_t>(loader.pages()));
    executor.wait();
    const bool has_lists = loader.load(executor, memory);
    growth.restore(loader.numbers().growth);
    return {loader.numbers().loops, has_lists};
  });
}

void load_values(const std::string& path, const LoadOptions& options, View<const CheckpointItem*> items,
                 const Compression& compression) {
  for (const CheckpointItem* const item : items) {
    if (!item->is_in_device_memory) continue;
    throw Error(
        "dynasoar: load_values reads values and vectors of the host's; load arrays in device memory with a handle");
  }
  with_memory(path, [&] {
    CheckedFile file(path, options, items, compression);
    DescribedClasses classes;
    if (!classes.parse(file.classes())) file.reader().fail_damaged("its classes have no description");
    // A program's blocks are its own business, but these are what the file says. See CheckpointReader for the buffers.
    const std::uint64_t largest = classes.table().largest_block_bytes();
    if (largest > kChunkBytes) file.allowance().take(3 * kChunksAtOnce * largest);
    file.check(classes.table(), Others::skipped);
    file.values().read();
    file.values().take_over();
  });
}

}  // namespace dynasoar::detail
