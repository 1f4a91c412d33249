/// @file
/// Checkpoint files that ask for more memory than they may get, and one that changes while it is read.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "checkpoint_forgeries.h"

namespace checkpoint_test {

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
