/// @file
/// Checkpoint files with right checksums and wrong contents: each check of what is read is seen to refuse a file.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/checkpoint/heap_snapshot.h>
#include <dynasoar/dynasoar.h>

#include "checkpoint_forgeries.h"

namespace checkpoint_test {

std::vector<SavedBlock> blocks_of(ForgedCheckpoint& file) {
  std::vector<SavedBlock> blocks(file[Section::blocks].size() / sizeof(SavedBlock));
  std::memcpy(static_cast<void*>(blocks.data()), file[Section::blocks].stored.data(), blocks.size() * sizeof blocks[0]);
  return blocks;
}
std::uint64_t sum(ForgedCheckpoint& file, std::size_t tally) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kShards; ++i) sum += file[Section::counters].get<std::uint64_t>((tally + i) * kWord);
  return sum;
}

/// The proof that the heap is full for Tiny.
void prove_full(ForgedCheckpoint& file, std::uint64_t more = 0) {
  set<std::uint64_t>(Section::counters, kOfType - 1, 1 + sum(file, kPagesFreed) + sum(file, kShards) + more)(file);
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
          {"do not match its blocks", [](auto& file) { count(file, 2 * kShards + 5, 1); }},
          {"do not match its blocks", [](auto& file) { count(file, kOfType + 3 * kShards, 1); }},
          {"do not match its empty blocks", [](auto& file) { count(file, 4 * kShards, 1); }},
          {"do not match its empty blocks", [](auto& file) { count(file, 3 * kOfType + 5 * kShards, 1); }},
          {"do not match its pages", [](auto& file) { count(file, kPagesFreed, 1); }},
          {"do not match its pages", [](auto& file) { count(file, kPagesFreed + kShards, 1); }},
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
          {"a block is owned, but is the current block of no warp",
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

}  // namespace checkpoint_test
