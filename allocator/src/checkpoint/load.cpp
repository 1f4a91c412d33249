#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <dynasoar/checkpoint/descriptions.h>
#include <dynasoar/checkpoint/format.h>
#include <dynasoar/checkpoint/heap_snapshot.h>
#include <dynasoar/checkpoint/loaded_values.h>
#include <dynasoar/checkpoint/reader.h>
#include <dynasoar/checkpoint/save_and_load.h>
#include <dynasoar/checkpoint/saved_objects.h>
#include <dynasoar/checkpoint/snapshot_checks.h>
#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

/// The common part of load and load_values: checks everything in a file, except whether it fits a program's heap.
struct CheckedFile {
  CheckpointReader reader;
  LoadedValues values;
  std::string classes;  // the section
  HeapSnapshot snapshot;

  /// Reads the header and the description of the classes.
  CheckedFile(const std::string& path, const LoadOptions& options, View<const CheckpointItem*> items,
              const Compression& compression)
      : reader(path, options.memory_bytes, compression), values(reader, items) {
    for (const Section section : {Section::classes, Section::heap, Section::counters, Section::hints, Section::lists}) {
      if (reader.bytes(section) == 0) reader.fail_damaged("a section is missing");
    }
    reader.read(Section::classes, classes);
    if (checksum(classes.data(), classes.size()) != reader.classes_checksum()) {
      reader.fail_damaged("its header is of other classes");
    }
  }

  /// Reads and checks the state of the heap. @param table   the classes of the file
  void read_snapshot(const ClassTable& table) {
    reader.check_objects(table.largest_block_bytes());
    std::vector<HeapNumbers> numbers;
    reader.read(Section::heap, numbers);
    if (numbers.size() != 1) reader.fail_damaged("the heap's numbers are missing");
    snapshot.numbers = numbers.front();
    reader.read(Section::blocks, snapshot.blocks);
    reader.read(Section::counters, snapshot.counters);
    reader.read(Section::hints, snapshot.hints);
    reader.read(Section::lists, snapshot.lists);
    reader.read(Section::tags, snapshot.tags);
    if (const char* const what = contradiction_in(snapshot, table); what != nullptr) {
      reader.fail_damaged("its parts do not fit together: " + std::string(what));
    }
  }

  /// Checks everything else, except the contents of values. @pre read_snapshot has been called
  void check(const ClassTable& table, Others others) {
    values.match(others);
    check_objects(table);
  }

 private:
  /// Checks that the objects of all blocks are there, and end where SavedObjects needs it.
  void check_objects(const ClassTable& table) {
    auto block = snapshot.blocks.begin();
    reader.for_each(Section::objects, [&](const CheckpointReader::Contents& contents) {
      std::size_t bytes = 0;
      for (; block != snapshot.blocks.end() && bytes < contents.bytes; ++block) {
        bytes += table[block->type].block_bytes;
      }
      if (bytes != contents.bytes) reader.fail_damaged("a block has no end");
    });
    if (block != snapshot.blocks.end()) reader.fail_damaged("objects are missing");
  }
};

namespace {

/// @throws CheckpointError if the file is of other classes than the heap
void check_classes(const CheckedFile& file, const HeapMemory& memory) {
  const std::string program = describe_classes(memory.classes());
  if (file.classes == program) return;
  file.reader.fail(CheckpointFault::other_classes,
                   difference_in_classes(file.classes, program) + "; load it with the program that wrote it");
}

/// @throws CheckpointError if the objects of the file have generations, and the heap has none
void check_build(const CheckedFile& file, const HeapMemory& memory) {
  if (memory.is_checked() || file.snapshot.numbers.is_checked == 0) return;
  file.reader.fail(CheckpointFault::checked_build,
                   "was written by a checked build, whose pointers have generations, and this program is none: "
                   "load it with one built with DYNASOAR_CHECKED=1");
}

/// The number of pages for the heap. @throws CheckpointError if its limit is less than the number of used pages
std::uint64_t pages_for(const CheckedFile& file, const HeapMemory& memory) {
  const HeapNumbers& numbers = file.snapshot.numbers;
  const std::uint64_t page_bytes = memory.page_bytes();
  if (numbers.used_pages > memory.limit_pages()) {
    file.reader.fail(
        CheckpointFault::heap_too_small,
        "needs a heap of " + std::to_string(numbers.used_pages * page_bytes) + " bytes, and this one has " +
            std::to_string(memory.limit_bytes()) +
            " at most: make the handle with more heap_bytes or a higher heap_limit_bytes (or compact before "
            "saving, if much of the heap was free)");
  }
  const std::uint64_t pages = std::min(numbers.pages, memory.limit_pages());
  if (memory.has_chosen_limit()) return pages;
  const std::uint64_t allowed = memory.pages() + file.reader.allowed_memory() / page_bytes;
  if (numbers.used_pages > allowed) {
    file.reader.fail_memory("its heap", (numbers.used_pages - memory.pages()) * page_bytes);
  }
  return std::min(pages, allowed);
}

void read_objects(CheckedFile& file, Executor& executor, const HeapMemory& memory) {
  SavedObjects objects(executor, memory, file.snapshot.blocks);
  file.reader.for_each(Section::objects, [&](const CheckpointReader::Contents& contents) {
    if (!objects.read(contents)) file.reader.fail_damaged("a block has no end");
  });
  executor.wait();
  if (!objects.is_complete()) file.reader.fail_damaged("objects are missing");
}

/// Reads objects and values again and stores everything. @pre the device is idle; the heap has the used pages
/// @return whether the heap has lists of objects; if not, they have to be made
/// @throws CheckpointError if the file cannot be read a second time; the heap is empty then
bool put_in_place(CheckedFile& file, Executor& executor, HeapMemory& memory) {
  try {
    const bool has_lists = file.snapshot.restore(executor, memory);
    read_objects(file, executor, memory);
    file.values.read();
    file.values.take_over();
    return has_lists;
  } catch (const std::exception& error) {
    executor.wait();
    HeapSnapshot::empty(memory).restore(executor, memory);
    file.reader.fail(CheckpointFault::lost_while_reading,
                     "changed while it was being read, so the heap is empty now, and arrays in device memory that were "
                     "to be loaded hold anything (" +
                         std::string(error.what()) + ")");
  }
}

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
    CheckedFile file(path, options, items, compression);
    check_classes(file, memory);
    file.read_snapshot(memory.classes());
    check_build(file, memory);  // before the values: those of a checked build include generations of placed objects
    file.check(memory.classes(), Others::refused);
    const std::uint64_t pages = pages_for(file, memory);
    file.reader.for_each(Section::values, [](const CheckpointReader::Contents&) {});  // reading checks the chunks
    memory.grow_to(executor, static_cast<std::uint32_t>(pages));
    executor.wait();
    const bool has_lists = put_in_place(file, executor, memory);
    growth.restore(file.snapshot.numbers.growth);
    return {file.snapshot.numbers.loops, has_lists};
  });
}

ReadValues::ReadValues(const HeapMemory& memory, const std::string& path, const LoadOptions& options,
                       View<const CheckpointItem*> items, Others others, const Compression& compression) {
  with_memory(path, [&] {
    file_ = std::make_unique<CheckedFile>(path, options, items, compression);
    check_classes(*file_, memory);
    file_->read_snapshot(memory.classes());
    file_->check(memory.classes(), others);
    if (!file_->snapshot.blocks.empty()) {
      const ClassInfo& info = memory.classes()[file_->snapshot.blocks.front().type];
      file_->reader.fail(CheckpointFault::other_values,
                         "has objects of " + std::string(plain_name(info.name)) +
                             " that are at no place of a lattice, and which of several ranks would have them is not "
                             "known: load it in a program of one rank");
    }
    file_->values.read();
  });
}
ReadValues::ReadValues(ReadValues&& other) noexcept = default;
ReadValues::~ReadValues() = default;

void ReadValues::take_over(std::size_t first, std::size_t end) const {
  file_->values.take_over(first, end);
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
    if (!classes.parse(file.classes)) file.reader.fail_damaged("its classes have no description");
    // Here, the file determines the size of blocks, so the buffers of CheckpointReader count as its memory.
    const std::uint64_t largest = classes.table().largest_block_bytes();
    if (largest > kChunkBytes) file.reader.take_memory(3 * kChunksAtOnce * largest);
    file.read_snapshot(classes.table());
    file.check(classes.table(), Others::skipped);
    file.values.read();
    file.values.take_over();
  });
}

}  // namespace dynasoar::detail
