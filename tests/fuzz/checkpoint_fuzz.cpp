// Fuzz target: checkpoint files with right checksums and wrong contents. Each input says how a good file is changed.
// What loads must be a heap that is in order; whatever does not must be refused with a CheckpointError, change nothing,
// and leave the handle usable.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <dynasoar/checkpoint/snapshot_checks.h>
#include <dynasoar/dynasoar.h>

#include "../checkpoint/checkpoint_forge.h"
#include "../heap/handle_check.h"
#include "../heap/test_classes.h"
#include "fuzz.h"
#include "placed_world.h"

namespace {

using namespace dynasoar;
using namespace dynasoar::detail;
using namespace dynasoar::test;

using Handle = AllocatorHandle<FourTypes>;

constexpr std::size_t kTypes = FourTypes::kTypes;
constexpr std::size_t kPage = FourTypes::pages().bytes;
constexpr std::size_t kShards = HeapSnapshot::kShards;
constexpr std::size_t kOfType = HeapSnapshot::kCountersOfType;

/// A file in memory.
class MemoryFile {
 public:
  explicit MemoryFile(const std::string& bytes) : number_(memfd_create("checkpoint", MFD_CLOEXEC)) {
    require(number_ >= 0, "there is no file");
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t written = ::write(number_, bytes.data() + done, bytes.size() - done);
      require(written > 0, "a file cannot be written");
      done += static_cast<std::size_t>(written);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(number_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(number_); }

 private:
  int number_;
};

/// What a program saves beside its objects.
struct Values {
  int step = 5;
  std::vector<std::uint32_t> numbers = std::vector<std::uint32_t>(20, 7);
  dynasoar::DeviceArray<std::uint16_t> array{30};

  template <class F>
  void for_all(const F& function) {
    function(dynasoar::value("step", step), dynasoar::array("numbers", numbers), dynasoar::array("array", array));
  }
};

void load(Handle& handle, const std::string& path, Values& values) {
  values.for_all([&](const auto&... items) { handle.load(path, items...); });
}

HandleOptions options_of(std::size_t pages, std::optional<std::size_t> limit = {}) {
  HandleOptions options{.heap_bytes = pages * kPage, .on_refusal = dynasoar::OnRefusal::record, .threads = 1};
  if (limit) options.heap_limit_bytes = *limit * kPage;
  return options;
}

/// The files to start from, and the handles to load into.
class Bench {
 public:
  static constexpr std::size_t kFiles = 5;
  static constexpr std::size_t kHandles = 4;

  Bench() {
    char folder[] = "/tmp/dynasoar-fuzz-XXXXXX";
    require(mkdtemp(folder) != nullptr, "there is no folder");
    const std::string path = folder + std::string("/a");
    for (std::size_t i = 0; i < kFiles; ++i) files_.push_back(make(i, path));
    ::unlink(path.c_str());
    ::rmdir(folder);
  }

  const std::string& file(std::size_t number) const { return files_[number]; }

  Handle& handle(std::size_t number) {
    if (handle_ != nullptr && number == number_) return *handle_;
    handle_.reset();
    const HandleOptions options[kHandles] = {options_of(8), options_of(16), options_of(4, 20), options_of(4)};
    handle_ = std::make_unique<Handle>(options[number]);
    number_ = number;
    return *handle_;
  }

 private:
  /// Few objects; none; as many as there is room for; lists that are out of date; compressed.
  static std::string make(std::size_t number, const std::string& path) {
    Handle handle(options_of(8));
    const std::size_t count = number == 1 ? 0 : number == 2 ? 100'000 : 600;
    bool is_full[kTypes]{};
    handle.parallel_for(count, [&](std::size_t i) {
      const auto type = static_cast<std::uint32_t>(i % kTypes);
      if (!is_full[type]) is_full[type] = dynasoar::test::make_of_type(type, static_cast<std::uint32_t>(i)) == nullptr;
    });
    handle.parallel_do<Stamped>([](Stamped*) {});
    const auto delete_some = [](Stamped* object) {
      if (object->stamp_ % 3 == 0) dynasoar::destroy(object);
    };
    if (number == 3) handle.parallel_do<Stamped>(delete_some);
    Values values;
    values.array.fill_bytes(1);
    const int level = number == 4 && dynasoar::detail::kHasZstd ? 1 : 0;
    values.for_all(
        [&](const auto&... items) { handle.save(path, dynasoar::SaveOptions{.compression_level = level}, items...); });
    return dynasoar::test::contents_of(path);
  }

  std::vector<std::string> files_;
  std::unique_ptr<Handle> handle_;
  std::size_t number_ = 0;
};

/// Changes a file as an input says.
class Forger {
 public:
  Forger(FuzzInput& input, const std::string& good) : input_(input), file_(good) {}

  /// @param may_repair   whether it is a file of the classes of FourTypes, of which only the heap is known here
  std::string run(bool may_repair) {
    const std::uint8_t repairs = may_repair ? input_.byte() : std::uint8_t{0};
    for (int i = 1 + static_cast<int>(input_.below(8)); i > 0; --i) change();
    if ((repairs & 1) != 0) repair_numbers();
    if ((repairs & 2) != 0) repair_counters();
    if ((repairs & 4) != 0) repair_objects();
    if ((repairs & 8) != 0) repair_lists((repairs & 16) != 0);
    if ((repairs & 32) != 0) repair_tags();
    const std::uint8_t header = input_.byte();
    const std::uint64_t number = header < 8 ? this->number() : 0;
    std::string bytes = file_.file([&](auto& of_file) {
      std::uint64_t* const members[] = {&of_file.file_bytes, &of_file.chunks,       &of_file.classes,
                                        &of_file.body,       &of_file.reserved_too, &of_file.checksum};
      if (header < 6) *members[header] = number;
      if (header == 6) of_file.version = static_cast<std::uint32_t>(number);
      if (header == 7) of_file.reserved = static_cast<std::uint32_t>(number);
    });
    if (header == 8) bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), input_.below(65536)));
    if (header == 9) bytes[input_.below(std::min<std::size_t>(bytes.size(), 65536))] ^= 4;
    return bytes;
  }

 private:
  std::uint64_t bits(int bytes) {
    std::uint64_t value = 0;
    for (; bytes > 0; --bytes) value = value << 8 | input_.byte();
    return value;
  }

  /// One that may be a boundary of something.
  std::uint64_t number() {
    constexpr std::uint64_t kOne = 1;
    switch (const std::uint32_t which = input_.below(16); which) {
      case 0: return 0;
      case 1: return 1;
      case 2: return ~std::uint64_t{0};
      case 3: return ~std::uint64_t{0} - input_.byte();
      case 4: return kOne << 31;
      case 5: return (kOne << 31) - 1 - input_.byte();
      case 6: return (kOne << 32) - 1;
      case 7: return kOne << 32;
      case 8: return kOne << 63;
      case 9: return kOne << input_.below(64);
      case 10: return bits(8);
      case 11: return bits(2);
      default: return input_.byte();
    }
  }

  /// A word of a chunk becomes another, or is counted up or down.
  template <class T>
  void change_word(ForgedChunk& chunk, std::size_t offset) {
    if (offset + sizeof(T) > chunk.size()) return;
    const T value = chunk.get<T>(offset);
    switch (input_.below(4)) {
      case 0: return chunk.put(offset, static_cast<T>(value + 1));
      case 1: return chunk.put(offset, static_cast<T>(value - 1));
      case 2: return chunk.put(offset, static_cast<T>(value ^ T{1} << input_.below(8 * sizeof(T))));
      default: return chunk.put(offset, static_cast<T>(number()));
    }
  }

  static std::size_t unit_of(Section section) {
    switch (section) {
      case Section::classes:
      case Section::items: return 1;
      case Section::blocks: return sizeof(SavedBlock);
      case Section::hints: return 4;
      case Section::tags: return sizeof(SavedTags);
      default: return 8;
    }
  }

  void change() {
    if (file_.chunks.empty()) return;
    const std::size_t at = input_.below(file_.chunks.size());
    ForgedChunk& chunk = file_.chunks[at];
    const std::size_t unit = unit_of(chunk.section);
    const std::size_t units = chunk.size() / unit;
    const std::size_t which = units == 0 ? 0 : input_.below(std::min<std::size_t>(units, 65536));
    switch (input_.below(16)) {
      case 0:
      case 1:
      case 2: return change_word<std::uint64_t>(chunk, which * unit + input_.below(unit) / 8 * 8);
      case 3:
      case 4: return change_word<std::uint32_t>(chunk, which * unit + input_.below(unit) / 4 * 4);
      case 5: return change_word<std::uint16_t>(chunk, which * unit + input_.below(unit) / 2 * 2);
      case 6: return change_word<std::uint8_t>(chunk, which * unit + input_.below(unit));
      case 7: return chunk.set(chunk.stored.substr(0, which * unit));
      case 8: return chunk.set(chunk.stored + chunk.stored.substr(which * unit));
      case 9: return chunk.set(chunk.stored.erase(std::min(chunk.size(), which * unit), unit));
      case 10: return swap(chunk, unit, which, units);
      case 11: file_.chunks.erase(file_.chunks.begin() + static_cast<std::ptrdiff_t>(at)); return;
      case 12: return repeat(at, which * unit);
      case 13: return lie(chunk);
      case 14: return change_text();
      default: return compress(chunk);
    }
  }

  void swap(ForgedChunk& chunk, std::size_t unit, std::size_t which, std::size_t units) {
    if (units == 0) return;
    const std::size_t other = input_.below(std::min<std::size_t>(units, 65536));
    std::swap_ranges(chunk.stored.begin() + static_cast<std::ptrdiff_t>(which * unit),
                     chunk.stored.begin() + static_cast<std::ptrdiff_t>((which + 1) * unit),
                     chunk.stored.begin() + static_cast<std::ptrdiff_t>(other * unit));
  }

  /// Cuts a chunk in two, or has it twice.
  void repeat(std::size_t at, std::size_t begin) {
    ForgedChunk second = file_.chunks[at];
    if (input_.below(4) != 0) {
      second.set(second.stored.substr(begin));
      file_.chunks[at].set(file_.chunks[at].stored.substr(0, begin));
    }
    file_.chunks.insert(file_.chunks.begin() + static_cast<std::ptrdiff_t>(at) + 1, second);
  }

  /// The header of a chunk says something else.
  void lie(ForgedChunk& chunk) {
    switch (input_.below(3)) {
      case 0: chunk.bytes = number(); return;
      case 1: chunk.section = static_cast<Section>(number()); return;
      default: chunk.method = static_cast<Storing>(input_.below(3));
    }
  }

  void change_text() {
    ForgedChunk& items = file_[Section::items];
    std::string text = items.stored;
    const std::size_t star = text.find(" *", input_.below(text.size() + 1));
    const std::size_t space = star == std::string::npos ? star : text.rfind(' ', star - 1);
    if (space == std::string::npos) return;
    items.set(text.replace(space + 1, star - space - 1, std::to_string(number())));
  }

  void compress(ForgedChunk& chunk) {
    if constexpr (dynasoar::detail::kHasZstd) {
      std::string contents = chunk.stored;
      if (input_.below(2) == 0) contents.append(number() % (std::size_t{8} << 20), '\0');
      std::string packed(contents.size() + 4096, '\0');
      packed.resize(dynasoar::detail::kCompression.compress(packed.data(), contents.data(), contents.size(), 1));
      chunk.method = Storing::zstd;
      chunk.bytes = contents.size();
      chunk.stored = packed;
    }
  }

  // What makes the rest fit to the blocks again.

  template <class T>
  std::vector<T> all(Section section) {
    const ForgedChunk& chunk = file_[section];
    std::vector<T> values(chunk.size() / sizeof(T));
    if (!values.empty()) std::memcpy(static_cast<void*>(values.data()), chunk.stored.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  void set_all(Section section, const std::vector<T>& values) {
    file_[section].set({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
  }

  void repair_numbers() {
    const auto blocks = all<SavedBlock>(Section::blocks);
    auto numbers = all<HeapNumbers>(Section::heap);
    if (numbers.empty()) return;
    numbers[0].used_pages = blocks.empty() ? 0 : blocks.back().number / FourTypes::pages().block_stride + 1;
    set_all(Section::heap, numbers);
  }

  void repair_counters() {
    const auto blocks = all<SavedBlock>(Section::blocks);
    const auto numbers = all<HeapNumbers>(Section::heap);
    auto counters = all<std::uint64_t>(Section::counters);
    if (counters.size() < HeapSnapshot::counters_for(kTypes) || numbers.empty()) return;
    std::uint64_t open[kTypes]{}, pages[kTypes]{}, used = 0;
    std::uint64_t last = ~std::uint64_t{0};
    for (const SavedBlock& block : blocks) {
      const std::uint64_t page = block.number / FourTypes::pages().block_stride;
      ++open[block.type % kTypes];
      if (page != last) ++pages[block.type % kTypes], ++used;
      last = page;
    }
    const auto settle = [&counters](std::size_t at, std::uint64_t difference) {
      for (std::size_t i = 0; i < kShards; ++i) difference -= counters[at + i] - counters[at + kShards + i];
      counters[at] += difference;
    };
    for (std::size_t type = 0; type < kTypes; ++type) {
      const std::uint64_t per_page = FourTypes::pages().blocks_per_page[type];
      settle(type * kOfType + 2 * kShards, open[type]);
      settle(type * kOfType + 4 * kShards, per_page > 1 ? pages[type] * per_page - open[type] : 0);
    }
    settle(kTypes * kOfType, numbers[0].pages - used);
    set_all(Section::counters, counters);
  }

  void repair_objects() {
    std::size_t bytes = 0;
    const auto& classes = dynasoar::detail::class_table_v<FourTypes>;
    for (const SavedBlock& block : all<SavedBlock>(Section::blocks)) bytes += classes[block.type % kTypes].block_bytes;
    std::string objects = file_[Section::objects].stored;
    objects.resize(std::min<std::size_t>(bytes, std::size_t{1} << 20), '\1');
    file_.remove(Section::objects);
    if (!objects.empty()) file_[Section::objects].set(objects);
  }

  /// @param out_of_date   whether they are out of date
  void repair_lists(bool out_of_date) {
    const auto counters = all<std::uint64_t>(Section::counters);
    if (counters.size() < HeapSnapshot::counters_for(kTypes)) return;
    const auto blocks = all<SavedBlock>(Section::blocks);
    std::vector<std::uint64_t> lists;
    for (std::size_t type = 0; type < kTypes; ++type) {
      for (std::size_t i = 0; i < kShards; ++i) {
        lists.push_back(counters[type * kOfType + i] - out_of_date);
        lists.push_back(counters[type * kOfType + kShards + i]);
      }
      const auto is_of_type = [type](const SavedBlock& block) { return block.type == type; };
      lists.push_back(static_cast<std::uint64_t>(std::count_if(blocks.begin(), blocks.end(), is_of_type)));
      for (const SavedBlock& block : blocks) {
        if (is_of_type(block)) lists.push_back(block.slots), lists.push_back(block.number);
      }
    }
    set_all(Section::lists, lists);
  }

  void repair_tags() {
    if (!dynasoar::kChecked) return;
    std::vector<SavedTags> tags;
    for (const SavedBlock& block : all<SavedBlock>(Section::blocks)) {
      SavedTags& of_block = tags.emplace_back();
      of_block.block = block.number;
      for (std::size_t i = 0; i < 64; ++i) of_block.tags[i] = (block.slots >> i & 1) != 0 ? 1025u : 0u;
    }
    set_all(Section::tags, tags);
  }

  FuzzInput& input_;
  ForgedCheckpoint file_;
};

/// What is wrong with the heap. Programs may have counted objects wrongly; see snapshot_checks.h.
void check_heap(Handle& handle) {
  dynasoar::test::HeapCopy heap = dynasoar::test::copy_heap(handle);
  for (std::size_t type = 0; type < kTypes; ++type) {
    heap.types[type].objects = dynasoar::test::count_objects(heap, type);
  }
  if (const std::string errors = dynasoar::test::heap_errors(heap); !errors.empty()) fail(errors);
}

/// Visits all objects, creates some and deletes all.
void use(Handle& handle) {
  const std::uint64_t count = handle.count<Stamped>();
  std::vector<Stamped*> visited;
  handle.parallel_do<Stamped>([&visited](Stamped* object) {
    object->stamp_ = 3;
    visited.push_back(object);
  });
  require(visited.size() == count, "a loop does not visit all objects");
  std::sort(visited.begin(), visited.end());
  require(std::adjacent_find(visited.begin(), visited.end()) == visited.end(), "a loop visits an object twice");
  std::uint64_t created = 0;
  for (std::uint32_t type = 0; type < kTypes; ++type) {
    bool is_full = false;  // each refusal of a full heap takes a while
    handle.parallel_for(100, [&](std::size_t i) {
      if (is_full) return;
      is_full = dynasoar::test::make_of_type(type, static_cast<std::uint32_t>(i)) == nullptr;
      created += !is_full;
    });
  }
  handle.synchronize();
  require(handle.count<Stamped>() == count + created, "objects are lost");
  check_heap(handle);
  handle.parallel_do<Stamped>([](Stamped* object) { dynasoar::destroy(object); });
  require(handle.count<Stamped>() == 0, "objects are left");
  const auto statistics = handle.statistics();
  require(statistics.free_pages == statistics.pages, "a page is not free although there is no object");
}

/// Loads a file. @return whether it could be
bool try_to_load(Handle& handle, const std::string& path) {
  const std::uint64_t before = handle.count<Stamped>();
  Values values;
  values.step = -1;
  values.numbers = {1, 2};
  try {
    load(handle, path, values);
    return true;
  } catch (const CheckpointError& error) {
    require(error.fault() != CheckpointFault::lost_while_reading, "the heap is emptied by a file that does not change");
    require(handle.count<Stamped>() == before, "objects are lost although nothing was loaded");
    require(values.step == -1 && values.numbers.size() == 2, "values have changed although nothing was loaded");
    return false;
  }
}

void try_to_load_values(const std::string& path) {
  int step = -1;
  std::vector<std::uint32_t> numbers{1, 2};
  try {
    dynasoar::load_values(path, dynasoar::value("step", step), dynasoar::array("numbers", numbers));
  } catch (const CheckpointError&) {
    require(step == -1 && numbers.size() == 2, "values have changed although nothing was loaded");
  }
}

/// A file with placed objects. @return whether it is one
bool run_placed(FuzzInput& input) {
  if (!input.next_is_at_least(250)) return false;
  static PlacedWorld world;
  input.byte();
  const MemoryFile file(Forger(input, world.file()).run(false));
  world.load_and_use(file.path());
  world.load_good_one();
  return true;
}

void run(FuzzInput& input) {
  if (run_placed(input)) return;
  static Bench bench;
  const std::string& good = bench.file(input.below(Bench::kFiles));
  Handle& handle = bench.handle(input.below(Bench::kHandles));
  const bool is_empty = input.below(2) == 0;
  if (is_empty) handle.parallel_do<Stamped>([](Stamped* object) { dynasoar::destroy(object); });
  const std::string bytes = Forger(input, good).run(true);
  const MemoryFile file(bytes);
  try_to_load_values(file.path());
  if (try_to_load(handle, file.path())) check_heap(handle);
  use(handle);
  // A file that is in order loads afterwards, if it fits.
  Values values;
  const MemoryFile after(good);
  try {
    load(handle, after.path(), values);
    require(values.step == 5 && values.numbers.size() == 20, "a good file has other values");
    if (const std::string errors = dynasoar::test::heap_errors(handle); !errors.empty()) fail(errors);
  } catch (const CheckpointError& error) {
    require(error.fault() == CheckpointFault::heap_too_small, error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  try {
    run(input);
  } catch (const std::exception& error) {
    fail(std::string("an exception: ") + error.what());
  }
  return 0;
}
