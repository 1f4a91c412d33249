// Checkpoint files with right checksums and wrong contents: each check of what is read is seen to refuse a file.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/checkpoint/heap_snapshot.h>
#include <dynasoar/dynasoar.h>

#include "../dsl/test_folder.h"
#include "../heap/handle_check.h"
#include "../heap/test_classes.h"
#include "checkpoint_forge.h"
#include "checkpoint_world.h"

namespace checkpoint_test {

using dynasoar::LoadOptions;
using namespace dynasoar::detail;
using namespace dynasoar::test;

using FourHandle = AllocatorHandle<FourTypes>;

constexpr std::size_t kPages = 12;
constexpr std::size_t kTypes = FourTypes::kTypes;
constexpr std::size_t kShards = HeapSnapshot::kShards;
constexpr std::size_t kOfType = HeapSnapshot::kCountersOfType;
constexpr std::size_t kWord = sizeof(std::uint64_t);

HandleOptions four_types() {
  return {.heap_bytes = kPages * FourTypes::pages().bytes, .on_refusal = dynasoar::OnRefusal::record, .threads = 1};
}

void fill(FourHandle& handle, std::size_t of_each) {
  handle.parallel_for(kTypes * of_each, [] __device__(std::size_t i) {
    dynasoar::test::make_of_type(static_cast<std::uint32_t>(i % kTypes), static_cast<std::uint32_t>(i));
  });
  handle.parallel_do<Stamped>([] __device__(Stamped*) {});  // lists are up to date
}

using Forge = std::function<void(ForgedCheckpoint&)>;

/// A file that is changed, and what must be said of it.
struct Forgery {
  const char* says;
  Forge forge;
};

/// Files of a handle with some objects of four classes, a number and a vector.
class Forgeries {
 public:
  explicit Forgeries(std::size_t of_each = 70) : handle_(four_types()) {
    fill(handle_, of_each);
    handle_.save(path(), dynasoar::value("step", step_), dynasoar::array("numbers", numbers_));
    good_ = contents_of(path());
    count_ = handle_.count<Stamped>();
  }

  FourHandle& handle() { return handle_; }
  std::uint64_t count() const { return count_; }
  const std::string& good() const { return good_; }
  ForgedCheckpoint copy() const { return ForgedCheckpoint(good_); }
  std::string path() const { return folder_ / "a"; }

  void load() { handle_.load(path(), dynasoar::value("step", step_), dynasoar::array("numbers", numbers_)); }
  void load_values() const {
    std::uint32_t step = 0;
    std::vector<std::uint16_t> numbers;
    dynasoar::load_values(path(), dynasoar::value("step", step), dynasoar::array("numbers", numbers));
  }

  /// Makes objects and values differ from those of the file, so that it shows if a load that fails takes some over.
  void change_state() {
    step_ = 6;
    numbers_ = {8, 9};
    handle_.parallel_do<Stamped>([] __device__(Stamped * object) {
      if (object->stamp_ == 3) dynasoar::destroy(object);
    });
  }

  /// Both ways to load must, or only that of a handle.
  enum class Refuses { both, handle };

  void check_refused(const std::string& file, const std::string& says, Refuses refuses,
                     CheckpointFault expected = CheckpointFault::damaged) {
    CAPTURE(says);
    write_file(path(), file);
    change_state();
    const std::uint64_t before = handle_.count<Stamped>();
    const auto found = fault_of([&] { load(); });
    CHECK(found.first == expected);
    CHECK_MESSAGE(found.second.find(says) != std::string::npos, found.second);
    if (refuses == Refuses::both) CHECK(fault_of([&] { load_values(); }).second == found.second);
    CHECK(handle_.count<Stamped>() == before);
    CHECK(step_ == 6);
    CHECK(numbers_ == std::vector<std::uint16_t>{8, 9});
  }
  void check_refused(const std::vector<Forgery>& forgeries, Refuses refuses) {
    for (const Forgery& forgery : forgeries) {
      ForgedCheckpoint file = copy();
      forgery.forge(file);
      check_refused(file.file(), forgery.says, refuses);
    }
    check_usable();
  }

  /// After all that was refused, the handle creates, visits and loads.
  void check_usable() {
    CHECK(dynasoar::test::heap_errors(handle_) == "");
    handle_.parallel_do<Stamped>([] __device__(Stamped * object) { dynasoar::destroy(object); });
    fill(handle_, 5);
    CHECK(handle_.count<Stamped>() == 5 * kTypes);
    write_file(path(), good_);
    load();
    CHECK(handle_.count<Stamped>() == count_);
    CHECK(step_ == 5);
    CHECK(numbers_ == std::vector<std::uint16_t>(20, 7));
    CHECK(dynasoar::test::heap_errors(handle_) == "");
    load_values();
  }

 private:
  TestFolder folder_;
  FourHandle handle_;
  std::uint32_t step_ = 5;
  std::vector<std::uint16_t> numbers_ = std::vector<std::uint16_t>(20, 7);
  std::string good_;
  std::uint64_t count_ = 0;
};

constexpr auto kBoth = Forgeries::Refuses::both;
constexpr auto kHandle = Forgeries::Refuses::handle;

/// A chunk of which one value of type T is changed.
template <class T, class Change>
Forge with(Section section, std::size_t index, const Change& change) {
  return [=](ForgedCheckpoint& file) {
    ForgedChunk& chunk = file[section];
    T value = chunk.get<T>(index * sizeof(T));
    change(value);
    chunk.put(index * sizeof(T), value);
  };
}
template <class Change>
Forge with_numbers(const Change& change) {
  return with<HeapNumbers>(Section::heap, 0, change);
}
template <class T>
Forge set(Section section, std::size_t index, T to) {
  return with<T>(section, index, [to](T& value) { value = to; });
}

std::vector<SavedBlock> blocks_of(ForgedCheckpoint& file) {
  std::vector<SavedBlock> blocks(file[Section::blocks].size() / sizeof(SavedBlock));
  std::memcpy(static_cast<void*>(blocks.data()), file[Section::blocks].stored.data(), blocks.size() * sizeof blocks[0]);
  return blocks;
}
std::size_t last_block(ForgedCheckpoint& file) {
  return file[Section::blocks].size() / sizeof(SavedBlock) - 1;
}

/// Adds to a tally.
void count(ForgedCheckpoint& file, std::size_t tally, std::uint64_t more) {
  with<std::uint64_t>(Section::counters, tally, [more](std::uint64_t& word) { word += more; })(file);
}
constexpr std::size_t kPagesFreed = kTypes * kOfType;

std::uint64_t sum(ForgedCheckpoint& file, std::size_t tally) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kShards; ++i) sum += file[Section::counters].get<std::uint64_t>((tally + i) * kWord);
  return sum;
}

/// The proof that the heap is full for Tiny.
void prove_full(ForgedCheckpoint& file, std::uint64_t more = 0) {
  set<std::uint64_t>(Section::counters, kOfType - 1, 1 + sum(file, kPagesFreed) + sum(file, kShards) + more)(file);
}

/// Gives the last block another number, wherever it is named.
void move_last_block(ForgedCheckpoint& file, std::uint32_t number) {
  std::uint32_t before = 0;
  with<SavedBlock>(Section::blocks, last_block(file),
                   [&](auto& block) { before = std::exchange(block.number, number); })(file);
  REQUIRE(before >= 64);  // so that it is nothing else in a list of few objects
  for (std::size_t i = file[Section::heap].get<HeapNumbers>(0).current_count; i < file[Section::hints].size() / 4;
       ++i) {
    with<std::uint32_t>(Section::hints, i, [=](auto& hint) {
      if ((hint & 0x7fffffff) == before) hint = number | (hint & 0x80000000);
    })(file);
  }
  for (std::size_t i = 0; i < file[Section::lists].size() / kWord; ++i) {
    with<std::uint64_t>(Section::lists, i, [=](auto& word) {
      if (word == before) word = number;
    })(file);
  }
  if (dynasoar::kChecked) {
    with<SavedTags>(Section::tags, file[Section::tags].size() / sizeof(SavedTags) - 1,
                    [=](auto& tags) { tags.block = number; })(file);
  }
}

TEST_CASE("chunks that no checkpoint has are refused, with a handle and without") {
  Forgeries files;
  const auto replace = [](Section section, const std::string& contents) {
    return [=](ForgedCheckpoint& file) { file[section].set(contents); };
  };
  files.check_refused(
      {
          {"belongs to nothing", [](auto& file) { file.chunks.back().section = static_cast<Section>(11); }},
          {"belongs to nothing", [](auto& file) { file.chunks.front().section = static_cast<Section>(0); }},
          {"in another order", [](auto& file) { std::swap(file.chunks[1], file.chunks[2]); }},
          {"in another order", [](auto& file) { file.chunks.push_back(file.chunks[0]); }},
          {"a chunk is empty", replace(Section::blocks, "")},
          {"a chunk is too large", replace(Section::values, std::string(dynasoar::detail::kChunkBytes + 1, 'a'))},
          {"has two sizes", [](auto& file) { file[Section::values].bytes += 1; }},
          {"has two sizes", [](auto& file) { file[Section::values].bytes -= 1; }},
          {"a way that does not exist", [](auto& file) { file[Section::values].method = static_cast<Storing>(2); }},
          {"a section is missing", [](auto& file) { file.remove(Section::classes); }},
          {"a section is missing", [](auto& file) { file.remove(Section::heap); }},
          {"a section is missing", [](auto& file) { file.remove(Section::counters); }},
          {"a section is missing", [](auto& file) { file.remove(Section::hints); }},
          {"a section is missing", [](auto& file) { file.remove(Section::lists); }},
      },
      kBoth);
  files.check_refused(
      {
          {"the heap's numbers are missing",
           [](auto& file) {
             file[Section::heap].stored += file[Section::heap].stored;
             file[Section::heap].bytes *= 2;
           }},
          {"part of a value", [](auto& file) { file[Section::heap].append('a'); }},
          {"part of a value", [](auto& file) { file[Section::blocks].append('a'); }},
          {"part of a value", [](auto& file) { file[Section::counters].append('a'); }},
          {"part of a value", [](auto& file) { file[Section::hints].append('a'); }},
          {"part of a value", [](auto& file) { file[Section::lists].append('a'); }},
          {"part of a value", [](auto& file) { file[Section::tags].append('a'); }},
      },
      kBoth);
}

TEST_CASE("headers that do not go with the chunks are refused, with a handle and without") {
  Forgeries files;
  const ForgedCheckpoint good = files.copy();
  const auto refused = [&](const char* says, const auto& change) {
    files.check_refused(good.file(change), says, kBoth);
  };
  refused("more than was written", [](CheckpointHeader& header) { header.reserved = 1; });
  refused("more than was written", [](CheckpointHeader& header) { header.reserved_too = 1; });
  refused("not those that were written", [](CheckpointHeader& header) { header.chunks += 1; });
  refused("not those that were written", [](CheckpointHeader& header) { header.body += 1; });
  refused("of other classes", [](CheckpointHeader& header) { header.classes += 1; });
  // A file that ends in a chunk, and in the header of one.
  const auto shorter = [&](std::size_t bytes) {
    return good.file([bytes](CheckpointHeader& header) { header.file_bytes -= bytes; });
  };
  const std::size_t last = good.chunks.back().size();
  files.check_refused(shorter(1).substr(0, files.good().size() - 1), "a chunk has no end", kBoth);
  files.check_refused(shorter(last + 1).substr(0, files.good().size() - last - 1), "a chunk is missing", kBoth);
  files.check_usable();
}

TEST_CASE("descriptions of heaps that contradict themselves are refused") {
  Forgeries files;
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kStride = FourTypes::pages().block_stride;
  const auto block = [](std::size_t index, const auto& change) {
    return with<SavedBlock>(Section::blocks, index, change);
  };
  const auto last = [](const auto& change) -> Forge {
    return [=](ForgedCheckpoint& file) { with<SavedBlock>(Section::blocks, last_block(file), change)(file); };
  };
  files.check_refused(
      {
          {"a size that no heap has", with_numbers([](auto& n) { n.pages = 0; })},
          {"a size that no heap has", with_numbers([](auto& n) { n.pages = kTypes - 1; })},
          {"a size that no heap has", with_numbers([](auto& n) { n.pages = (std::uint64_t{1} << 31) / kStride; })},
          {"a size that no heap has", with_numbers([](auto& n) { n.pages = kMost / kStride + 2; })},
          {"more used pages than pages", with_numbers([](auto& n) { n.used_pages = n.pages + 1; })},
          {"last used page has no block", with_numbers([](auto& n) { n.used_pages -= 1; })},
          {"of no kind of build", with_numbers([](auto& n) { n.is_checked = 2; })},
          {"of no kind of build", with_numbers([](auto& n) { n.is_checked = 0, n.attempts = 1; })},
          {"of no kind of build", with_numbers([](auto& n) { n.is_checked = 0, n.first_generation = 1; })},
          {"of no kind of build", with_numbers([](auto& n) { n.is_checked = 1, n.first_generation = kMost; })},
          {"cannot have grown like that", with_numbers([](auto& n) { n.growth.pages = n.pages + 1; })},
          {"cannot have grown like that", with_numbers([](auto& n) { n.growth.free = n.growth.pages + 1; })},
          {"cannot have grown like that", with_numbers([](auto& n) { n.growth.answered = n.growth.refused + 1; })},
          {"a block is of no class", block(0, [](auto& b) { b.type = kTypes; })},
          {"a number that no block has", block(0, [](auto& b) { b.number = 0xffffffff; })},
          {"a number that no block has",
           block(0, [](auto& b) { b.number = b.number / kStride * kStride + kStride - 1; })},
          {"blocks are in another order",
           [](auto& file) { set(Section::blocks, 1, file[Section::blocks].template get<SavedBlock>(0))(file); }},
          {"a block has no objects", last([](auto& b) { b.slots = 0; })},
          {"an owner that it cannot have", last([](auto& b) { b.owned = 2; })},
          {"an owner that it cannot have", last([](auto& b) { b.slots = kMost, b.owned = 1; })},
          {"another number of counters", [](auto& file) { file[Section::counters].append(std::uint64_t{0}); }},
          {"do not count its blocks", [](auto& file) { count(file, 2 * kShards + 5, 1); }},
          {"do not count its blocks", [](auto& file) { count(file, kOfType + 3 * kShards, 1); }},
          {"do not count its empty blocks", [](auto& file) { count(file, 4 * kShards, 1); }},
          {"do not count its empty blocks", [](auto& file) { count(file, 3 * kOfType + 5 * kShards, 1); }},
          {"do not count its pages", [](auto& file) { count(file, kPagesFreed, 1); }},
          {"do not count its pages", [](auto& file) { count(file, kPagesFreed + kShards, 1); }},
          {"a heap is full that is not", [](auto& file) { prove_full(file); }},
          {"a heap is full that is not", [](auto& file) { prove_full(file, 1); }},
          {"another number of hints", with_numbers([](auto& n) { n.current_count = 0; })},
          {"another number of hints", with_numbers([](auto& n) { n.current_count += 1; })},
          {"another number of hints", with_numbers([](auto& n) { n.current_count += (kMost / (1 + kTypes)) + 1; })},
          {"another number of hints", [](auto& file) { file[Section::hints].append(std::uint32_t{0}); }},
          {"a hint names a page", set<std::uint32_t>(Section::hints, 0, kPages)},
          {"a hint names a block",
           [](auto& file) {
             const auto count = file[Section::heap].template get<HeapNumbers>(0).current_count;
             set<std::uint32_t>(Section::hints, count, kPages * kStride)(file);
           }},
          {"a hint names a block",
           [](auto& file) {  // of Large, which has one in a page
             const auto count = file[Section::heap].template get<HeapNumbers>(0).current_count;
             set<std::uint32_t>(Section::hints, 4 * count, 1)(file);
           }},
          {"a block is owned by nobody",
           [](auto& file) {
             const std::size_t i = last_block(file);
             with<SavedBlock>(Section::blocks, i, [](auto& b) { b.owned = 1, b.slots = 1; })(file);
             for (std::size_t k = 1; k < file[Section::hints].size() / 4; ++k) {
               if (k >= file[Section::heap].template get<HeapNumbers>(0).current_count) {
                 set<std::uint32_t>(Section::hints, k, 0xffffffff)(file);
               }
             }
           }},
      },
      kBoth);
  if (dynasoar::kCudaBackend) return;  // whose warps may use all pages, and one block of a page only
  const Forge two_classes = [](ForgedCheckpoint& file) {
    for (std::size_t i = 0; const SavedBlock& b : blocks_of(file)) {  // Tiny has two blocks in a page
      if (b.type == 0 && b.number % kStride == 1) set<std::uint16_t>(Section::blocks, 8 * i + 6, 1)(file);
      ++i;
    }
  };
  files.check_refused({{"a page has blocks of two classes", two_classes},
                       {"last used page has no block", with_numbers([](auto& n) { n.used_pages = ++n.pages; })}},
                      kBoth);
}

std::size_t first_of_tiny(ForgedCheckpoint& file) {
  const std::vector<SavedBlock> blocks = blocks_of(file);
  const auto first =
      std::find_if(blocks.begin(), blocks.end(), [](const SavedBlock& block) { return block.type == 0; });
  return static_cast<std::size_t>(first - blocks.begin());
}

TEST_CASE("a heap that is full may say so, and one that is not quite may not") {
  if (dynasoar::kCudaBackend) return;  // a slot may be left where warps compete
  Forgeries files(20'000);
  REQUIRE(files.handle().statistics().free_pages == 0);
  ForgedCheckpoint file = files.copy();
  prove_full(file);
  write_file(files.path(), file.file());
  files.load();
  files.check_refused(
      {
          {"a heap is full that is not",
           [](auto& file) {
             with<SavedBlock>(Section::blocks, first_of_tiny(file), [](auto& b) { b.slots = 1; })(file);
             prove_full(file);
           }},
          {"a heap is full that is not",
           [](auto& file) {
             std::string& blocks = file[Section::blocks].stored;
             file[Section::blocks].set(blocks.erase(sizeof(SavedBlock) * first_of_tiny(file), sizeof(SavedBlock)));
             count(file, 3 * kShards, 1);  // closed
             count(file, 4 * kShards, 1);  // emptied
             prove_full(file);
           }},
          {"a heap is full that is not",
           [](auto& file) {
             with_numbers([](auto& n) { n.pages += 1; })(file);
             count(file, kPagesFreed, 1);
             prove_full(file);
           }},
      },
      kBoth);
}

TEST_CASE("lists of objects that do not exist are refused") {
  Forgeries files;
  constexpr std::size_t kLength = HeapSnapshot::kSeen;  // of the list of Tiny, which is the first
  const auto out_of_date = [](const Forge& forge) -> Forge {
    return [=](ForgedCheckpoint& file) {
      set<std::uint64_t>(Section::lists, 0, 0)(file);
      set<std::uint64_t>(Section::lists, 1, 12345)(file);
      forge(file);
    };
  };
  const Forge twice = [](ForgedCheckpoint& file) {
    set(Section::lists, kLength + 2, file[Section::lists].get<std::uint64_t>((kLength + 4) * kWord))(file);
  };
  const Forge beyond = set<std::uint64_t>(Section::lists, kLength + 2, kPages * FourTypes::pages().block_stride);
  files.check_refused(
      {
          {"a list is missing",
           [](auto& file) { file[Section::lists].set(file[Section::lists].stored.substr(0, 800)); }},
          {"longer than the file", set<std::uint64_t>(Section::lists, kLength, 1 << 20)},
          {"longer than the file", set<std::uint64_t>(Section::lists, kLength, std::uint64_t{1} << 63)},
          {"more lists than classes", [](auto& file) { file[Section::lists].append(std::uint64_t{0}); }},
          {"a list has another length", with<std::uint64_t>(Section::lists, kLength, [](auto& n) { n -= 1; })},
          {"a block that does not exist", beyond},
          {"a block that does not exist", out_of_date(beyond)},
          {"a block that does not exist",
           set<std::uint64_t>(Section::lists, kLength + 2, (std::uint64_t{1} << 32) + 1)},
          {"a block that does not exist", set<std::uint64_t>(Section::lists, kLength + 1, 0)},
          {"objects that are not", with<std::uint64_t>(Section::lists, kLength + 1, [](auto& slots) { slots ^= 1; })},
          {"objects that are not", set<std::uint64_t>(Section::lists, kLength + 2, 50)},
          {"a block twice", out_of_date(twice)},
      },
      kBoth);
}

TEST_CASE("tags of objects that do not exist are refused") {
  Forgeries files;
  if (!dynasoar::kChecked) {
    SavedTags tags{};
    files.check_refused({{"is of no checked build", [=](auto& file) { file[Section::tags].append(tags); }}}, kBoth);
    return;
  }
  const auto block_of = [](std::uint32_t block) {
    return with<SavedTags>(Section::tags, 0, [block](auto& tags) { tags.block = block; });
  };
  files.check_refused(
      {
          {"is of no checked build", with_numbers([](auto& n) { n.is_checked = n.first_generation = n.attempts = 0; })},
          {"a block that does not exist", block_of(kPages * FourTypes::pages().block_stride)},
          {"in another order", [](auto& file) { file[Section::tags].append(SavedTags{}); }},
          {"in another order",
           [](auto& file) {
             const SavedTags last{kPages * FourTypes::pages().block_stride - 1, {}};
             for (int i = 0; i < 2; ++i) file[Section::tags].append(last);
           }},
          {"tags are of other objects", with<SavedTags>(Section::tags, 0, [](auto& tags) { tags.tags[5] ^= 1; })},
          {"tags are of other objects",
           [](auto& file) {
             SavedTags tags{kPages * FourTypes::pages().block_stride - 1, {}};
             tags.tags[63] = 1025;
             file[Section::tags].append(tags);
           }},
          {"tags are of no objects", with<SavedTags>(Section::tags, 0, [](auto& tags) { tags.tags[5] |= 2; })},
          {"tags are of no objects", with<SavedTags>(Section::tags, 0, [](auto& tags) { tags.tags[5] = 1; })},
          {"objects have no tags",
           [](auto& file) {
             std::string& stored = file[Section::tags].stored;
             file[Section::tags].set(stored.substr(0, stored.size() - sizeof(SavedTags)));
           }},
      },
      kBoth);
}

TEST_CASE("objects and values that are not those that were described are refused") {
  Forgeries files;
  const auto without_end = [](Section section, std::size_t bytes) {
    return [=](ForgedCheckpoint& file) {
      file[section].set(file[section].stored.substr(0, file[section].size() - bytes));
    };
  };
  const Forge nine_chunks = [](ForgedCheckpoint& file) {  // eight are read at once, and end in a block
    const std::string objects = file[Section::objects].stored;
    file.remove(Section::objects);
    const auto values = [&file] {
      return std::find_if(file.chunks.begin(), file.chunks.end(),
                          [](const ForgedChunk& chunk) { return chunk.section == Section::values; });
    };
    for (std::size_t i = 0; i <= dynasoar::detail::kChunksAtOnce; ++i) {
      ForgedChunk chunk{Section::objects, Storing::plain, 0, {}};
      chunk.set(objects.substr(i, i == dynasoar::detail::kChunksAtOnce ? std::string::npos : 1));
      file.chunks.insert(values(), chunk);
    }
  };
  files.check_refused(
      {
          {"a block has no end", without_end(Section::objects, 1)},
          {"a block has no end", [](auto& file) { file[Section::objects].append('a'); }},
          {"a block has no end", nine_chunks},
          {"objects are missing", [](auto& file) { file.remove(Section::objects); }},
          {"objects are missing",
           [](auto& file) {
             const auto& classes = dynasoar::detail::class_table_v<FourTypes>;
             const std::size_t size = classes[blocks_of(file).back().type].block_bytes;
             file[Section::objects].set(file[Section::objects].stored.substr(0, file[Section::objects].size() - size));
           }},
      },
      kBoth);

  const auto items = [](const std::string& text) {
    return [=](ForgedCheckpoint& file) { file[Section::items].set(text); };
  };
  REQUIRE(files.copy()[Section::items].stored == "step: 1 * u4\nnumbers: 20 * u2\n");
  files.check_refused(
      {
          {"values are missing", without_end(Section::values, 1)},
          {"values are missing", [](auto& file) { file.remove(Section::values); }},
          {"values are missing", items("step: 1 * u4\nnumbers: 21 * u2\n")},
          {"values are missing", items("step: 1 * u4\nnumbers: 2000000000 * u2\n")},
          {"values are missing", items("step: 1 * u4\nnumbers: 9223372036854775828 * u2\n")},
          {"values are missing", items("step: 1 * u4\nnumbers: 18446744073709551615 * u2\n")},
          {"more values than it says", items("step: 1 * u4\nnumbers: 19 * u2\n")},
          {"more values than it says", [](auto& file) { file[Section::values].append('a'); }},
          {"no description", items("step: 1 * u4\nnumbers: 20 * u2")},
          {"no description", items("step: 1 * u4\nnumbers: 020 * u2\n")},
          {"no description", items("step: 1 * u4\nnumbers: -20 * u2\n")},
          {"no description", items("step: 1 * u4\nnumbers: 99999999999999999999 * u2\n")},
          {"no description", items("step: 1 * u4\nnumbers: 20 * u0\n")},
          {"no description", items("step: 1 * u4\nnumbers: 20 * z2\n")},
          {"no description", items("step: 1 * u4\nnumbers: 20 * u2 \n")},
          {"no description", items("step: 1 * u4\n: 20 * u2\n")},
          {"no description", items("step: 1 * u4\nnumbers:")},
          {"no description", items("step: 1 * u4\nnumbers:\n")},
          {"no description", items("step: 1 * u4\n\n")},
          {"there twice", items("step: 1 * u4\nnumbers: 10 * u2\nnumbers: 10 * u2\n")},
      },
      kBoth);
  ForgedCheckpoint file = files.copy();
  items("step: 1 * u4\nx: 1 * u4\nx: 1 * u4\nnumbers: 16 * u2\n")(file);
  write_file(files.path(), file.file());
  CHECK(fault_of([&] { files.load_values(); }).second.find("there twice") != std::string::npos);
}

TEST_CASE("a message says what the file holds and what was expected, without control characters") {
  Forgeries files;
  const auto refused = [&](const std::string& says, const Forge& forge, CheckpointFault fault) {
    ForgedCheckpoint file = files.copy();
    forge(file);
    files.check_refused(file.file(), says, kHandle, fault);
  };
  const auto text = [](Section section, const std::string& contents) {
    return [=](ForgedCheckpoint& file) { file[section].set(contents); };
  };
  refused("it holds objects of the classes Oak, Elm, and this program has Tiny, Small, Medium, Large; load it with",
          text(Section::classes, "pages of 8\nOak: 8 bytes\nElm: 9 bytes\n"), CheckpointFault::other_classes);
  refused("classes \\x1b[31mOak, and", text(Section::classes, "pages of 8\n\x1b[31mOak: 8 bytes\n"),
          CheckpointFault::other_classes);
  refused(
      "has no value 'numbers'; it has step: 1 * u4",
      [](ForgedCheckpoint& file) {
        file[Section::items].set("step: 1 * u4\n");
        file.chunks.pop_back();  // each value begins a chunk
      },
      CheckpointFault::other_values);
  refused("has a value 'numbers\\x07: 20 * u2' that", text(Section::items, "step: 1 * u4\nnumbers\a: 20 * u2\n"),
          CheckpointFault::other_values);
  refused("has a value 'step: 2 * u2', and the program asks for 'step: 1 * u4'",
          text(Section::items, "step: 2 * u2\nnumbers: 20 * u2\n"), CheckpointFault::other_values);
  // What another program's file says of its classes is checked, too.
  for (const std::string classes :
       {"pages of 8 bytes", "pages of 99 bytes, 64 block numbers; 128 shards\nOak: 8 bytes, 1 per page:",
        "pages of 99 bytes, 64 block numbers; 128 shards\n",
        "pages of 99 bytes, 64 block numbers; 127 shards\nOak: 8 bytes, 1 per page:\n",
        "pages of 99 bytes, 63 block numbers; 128 shards\nOak: 8 bytes, 1 per page:\n",
        "pages of 99 bytes, 64 block numbers; 128 shards\nOak: 50 bytes, 2 per page:\n",
        "pages of 999 bytes, 64 block numbers; 128 shards\nOak: 8 bytes, 65 per page:\n",
        "pages of 99 bytes, 64 block numbers; 128 shards\nOak: 8 bytes, 0 per page:\n",
        "pages of 99 bytes, 64 block numbers; 128 shards\nOak: 0 bytes, 1 per page:\n",
        "pages of 299999999999999 bytes, 64 block numbers; 128 shards\nOak: 8 bytes, 1 per page:\n"}) {
    ForgedCheckpoint file = files.copy();
    file[Section::classes].set(classes);
    write_file(files.path(), file.file());
    CHECK(fault_of([&] { files.load_values(); }).second.find("its classes have no description") != std::string::npos);
  }
  std::uint32_t year = 0;
  write_file(files.path(), files.good());
  CHECK(fault_of([&] {
          dynasoar::load_values(files.path(), dynasoar::value("year", year));
        }).second.find("has no value 'year'; it has step: 1 * u4, numbers: 20 * u2") != std::string::npos);
}

TEST_CASE("a file gets no more memory than 1000 times its size, unless the caller allows more") {
  if (!dynasoar::detail::kHasZstd) return;
  const TestFolder folder;
  FourHandle handle(four_types());
  std::vector<std::uint64_t> zeros(8'000'000);
  handle.save(folder / "a", {.compression_level = 1}, dynasoar::array("zeros", zeros));
  REQUIRE(contents_of(folder / "a").size() < 60'000);
  zeros = {1};
  const auto item = dynasoar::array("zeros", zeros);
  const auto [fault, text] = fault_of([&] { handle.load(folder / "a", item); });
  CHECK(fault == CheckpointFault::needs_memory);
  const std::size_t at = text.find("LoadOptions{.memory_bytes = ");
  REQUIRE(at != std::string::npos);
  const std::uint64_t needed = std::stoull(text.substr(at + 28));
  CHECK(needed >= 64'000'000);
  CHECK(fault_of([&] { dynasoar::load_values(folder / "a", item); }).first == CheckpointFault::needs_memory);
  CHECK(fault_of([&] { handle.load(folder / "a", LoadOptions{.memory_bytes = needed - 1}, item); }).first ==
        CheckpointFault::needs_memory);
  CHECK(zeros.size() == 1);
  handle.load(folder / "a", LoadOptions{.memory_bytes = needed}, item);
  CHECK(zeros.size() == 8'000'000);
  zeros.clear();
  dynasoar::load_values(folder / "a", LoadOptions{.memory_bytes = needed}, item);
  CHECK(zeros.size() == 8'000'000);
}

TEST_CASE("compressed chunks that lie about their sizes are refused") {
  if (!dynasoar::detail::kHasZstd) return;
  Forgeries files;
  const auto pack = [](ForgedCheckpoint& file, Section section, const std::string& contents, std::uint64_t says) {
    std::string packed(contents.size() + 1000, '\0');
    packed.resize(dynasoar::detail::kCompression.compress(packed.data(), contents.data(), contents.size(), 1));
    ForgedChunk chunk{section, Storing::zstd, says, packed};
    file[Section::items];
    const auto at = std::find_if(file.chunks.begin(), file.chunks.end(),
                                 [section](const ForgedChunk& other) { return other.section > section; });
    file.chunks.insert(at, chunk);
  };
  const std::string many(100'000, 'A');
  files.check_refused(
      {
          {"a chunk is too large",
           [&](auto& file) {  // their sizes add up to 8192
             pack(file, Section::tags, many, std::uint64_t{0} - 4096);
             pack(file, Section::tags, many, 4096 + 8192);
           }},
          {"has two sizes", [&](auto& file) { pack(file, Section::tags, many, 1); }},
          {"a chunk is too large", [&](auto& file) { pack(file, Section::values, many, (4 << 20) + 1); }},
      },
      kBoth);
  files.check_refused(
      {
          {"cannot be decompressed", [&](auto& file) { pack(file, Section::tags, many, 260 * 380); }},
          {"cannot be decompressed", [&](auto& file) { pack(file, Section::tags, many, 260 * 400); }},
          {"cannot be decompressed", [](auto& file) { file[Section::objects].method = Storing::zstd; }},
      },
      kBoth);
  // 160 MB of tags in 100 kB.
  ForgedCheckpoint file = files.copy();
  for (int i = 0; i < 40; ++i) pack(file, Section::tags, std::string(260 * 15'000, '\0'), 260 * 15'000);
  files.check_refused(file.file(), "LoadOptions{.memory_bytes = ", kBoth, CheckpointFault::needs_memory);
  files.check_usable();
}

TEST_CASE("a heap without a limit of its own does not grow to any size that a file says") {
  constexpr std::uint64_t kMore = 30'000;  // pages
  std::string far, used;
  {
    const Forgeries files(5);
    ForgedCheckpoint file = files.copy();
    with_numbers([](auto& n) { n.pages += kMore; })(file);
    count(file, kPagesFreed, kMore);
    far = file.file();
    move_last_block(file, static_cast<std::uint32_t>((kPages + kMore - 1) * FourTypes::pages().block_stride));
    with_numbers([](auto& n) { n.used_pages = n.pages; })(file);
    used = file.file();
  }
  const TestFolder folder;
  write_file(folder / "far", far);
  write_file(folder / "used", used);
  FourHandle handle({.threads = 1});
  const std::size_t before = handle.statistics().heap_bytes;
  const std::size_t allowed = std::max<std::size_t>(std::size_t{16} << 20, 1000 * far.size());
  REQUIRE(before + allowed < kMore * FourTypes::pages().bytes);
  std::uint32_t step = 0;
  std::vector<std::uint16_t> numbers;
  const auto load = [&](const char* name, const LoadOptions& options) {
    handle.load(folder / name, options, dynasoar::value("step", step), dynasoar::array("numbers", numbers));
  };
  load("far", {});
  CHECK(handle.count<Stamped>() == 5 * kTypes);
  CHECK(handle.statistics().heap_bytes <= before + allowed);
  CHECK(fault_of([&] { load("used", {}); }).first == CheckpointFault::needs_memory);
  CHECK(handle.count<Stamped>() == 5 * kTypes);
  CHECK(handle.statistics().heap_bytes <= before + allowed);
  load("used", {.memory_bytes = std::uint64_t{1} << 30});
  CHECK(handle.statistics().pages == kPages + kMore);
  CHECK(handle.count<Stamped>() == 5 * kTypes);
}

TEST_CASE("a file that changes between the two times it is read empties the heap, which is whole") {
  const TestFolder folder;
  FourHandle handle(four_types());
  fill(handle, 70);
  auto many = zeroed<std::uint64_t>(4'000'000);
  const auto item = dynasoar::array("many", many);
  std::uint32_t step = 3;
  handle.save(folder / "a", dynasoar::value("step", step), item);
  const std::string good = contents_of(folder / "a");
  const auto put_last = [&](char byte) {
    std::fstream file(folder / "a", std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(good.size() - 1));
    file.put(byte);
  };
  step = 4;
  double delay = 5'000;  // microseconds
  bool is_lost = false;
  for (int i = 0; i < 500 && !is_lost; ++i) {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int>(delay)));
      put_last(static_cast<char>(good.back() ^ 1));
    });
    try {
      handle.load(folder / "a", dynasoar::value("step", step), item);
      other.join();
      step = 4;
      delay *= 0.7;
    } catch (const CheckpointError& error) {
      other.join();
      is_lost = error.fault() == CheckpointFault::lost_while_reading;
      if (!is_lost) CHECK(handle.count<Stamped>() == 70 * kTypes);
      delay *= 1.3;
    }
    put_last(good.back());
  }
  REQUIRE(is_lost);
  CHECK(step == 4);
  CHECK(handle.count<Stamped>() == 0);
  CHECK(handle.statistics().free_pages == kPages);
  CHECK(dynasoar::test::heap_errors(handle) == "");
  fill(handle, 5);
  CHECK(handle.count<Stamped>() == 5 * kTypes);
  handle.load(folder / "a", dynasoar::value("step", step), item);
  CHECK(handle.count<Stamped>() == 70 * kTypes);
  CHECK(step == 3);
}

}  // namespace checkpoint_test
