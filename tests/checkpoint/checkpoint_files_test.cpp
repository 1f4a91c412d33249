// Files of checkpoints that are damaged, foreign or half written do no harm.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/checkpoint/format.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/platform/durable_file.h>

#include "../dsl/test_folder.h"
#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "checkpoint_forge.h"
#include "checkpoint_world.h"

namespace checkpoint_test {

class Speck;
using SpeckAllocator = dynasoar::SoaAllocator<Speck>;
class Speck : public dynasoar::SoaBase<SpeckAllocator> {
 public:
  DYNASOAR_FIELDS(Speck, (number_, std::uint8_t))
  __device__ explicit Speck(std::size_t number) : number_(static_cast<std::uint8_t>(number)) {}
};

HandleOptions specks() {
  return {.heap_bytes = 4 * SpeckAllocator::pages().bytes, .threads = 1};
}

/// A file of 130 specks and a number, and others that are written in its place.
struct SavedSpecks {
  SavedSpecks() {
    handle.parallel_new<Speck>(130);
    save("a");
    good = contents_of(folder / "a");
  }
  void save(const char* name) { handle.save(folder / name, dynasoar::value("step", step)); }
  void load(const char* name = "b") { handle.load(folder / name, dynasoar::value("step", step)); }
  auto fault_of_file(const std::string& bytes) {
    write_file(folder / "b", bytes);
    return fault_of([this] { load(); });
  }
  void age() {
    handle.parallel_do<Speck>([] __device__(Speck * speck) { speck->number_ += std::uint8_t{1}; });
  }

  TestFolder folder;
  AllocatorHandle<SpeckAllocator> handle{specks()};
  std::uint64_t step = 17;
  std::string good;
};

TEST_CASE_FIXTURE(SavedSpecks, "a flipped bit anywhere in a file is found, and nothing changes") {
  MESSAGE("a file of ", good.size(), " bytes");
  step = 18;
  age();
  const auto sum = handle.sum<&Speck::number_>();
  std::size_t loaded = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    write_file(folder / "b", bad);
    try {
      load();
      ++loaded;
    } catch (const CheckpointError& error) {
      const bool is_clear =
          error.fault() == CheckpointFault::damaged || (i < 8 && error.fault() == CheckpointFault::not_a_checkpoint);
      if (!is_clear) FAIL_CHECK("byte ", i, ": ", error.what());
    }
  }
  CHECK(loaded == 0);
  CHECK(step == 18);
  CHECK(handle.sum<&Speck::number_>() == sum);
  load("a");
  CHECK(step == 17);
  CHECK(handle.sum<&Speck::number_>() == sum - 130);
}

/// The file with one more in the shard number `word` of all that section `counters` has, and the right checksums.
std::string with_counter_off(const std::string& file, std::size_t word) {
  ForgedCheckpoint forged(file);
  ForgedChunk& counters = forged[dynasoar::detail::Section::counters];
  const std::size_t at = word * sizeof(std::uint64_t);
  counters.put(at, counters.get<std::uint64_t>(at) + 1);
  return forged.file();
}

TEST_CASE_FIXTURE(SavedSpecks, "a file is refused if its counters do not match its blocks and pages") {
  constexpr std::size_t kShards = dynasoar::PlatformAtomics::kShards;
  constexpr std::size_t kOfClass = 6 * kShards + dynasoar::kRefusals + 1;
  // created, deleted, opened, closed, emptied, reused; pages freed, pages taken
  for (const std::size_t word :
       {std::size_t{0}, kShards, 2 * kShards, 3 * kShards, 4 * kShards, 5 * kShards, kOfClass, kOfClass + kShards}) {
    CAPTURE(word / kShards);
    const std::string other = with_counter_off(good, word);
    if (word < 2 * kShards) {  // as after an object was destroyed twice
      write_file(folder / "b", other);
      CHECK_NOTHROW(load());
    } else {
      const auto [fault, what] = fault_of_file(other);
      CHECK(fault == CheckpointFault::damaged);
      CHECK(what.find("its parts do not fit together") != std::string::npos);
    }
  }
  load("a");
  CHECK(handle.count<Speck>() == 130);
}

TEST_CASE_FIXTURE(SavedSpecks, "a truncated file is found, wherever it ends, and nothing changes; so is a longer one") {
  step = 18;
  age();
  const auto sum = handle.sum<&Speck::number_>();
  std::size_t truncated = 0;
  for (std::size_t size = 0; size < good.size(); ++size) {
    if (fault_of_file(good.substr(0, size)).first == CheckpointFault::truncated) ++truncated;
  }
  CHECK(truncated == good.size());
  CHECK(fault_of_file(good + '\0').first == CheckpointFault::damaged);
  CHECK(step == 18);
  CHECK(handle.sum<&Speck::number_>() == sum);
}

TEST_CASE("random damage to a larger file is found") {
  const TestFolder folder;
  RunningWorld world(5);
  const auto expected = world.digest();
  world.save(folder / "a");
  const std::string good = contents_of(folder / "a");
  world.run(1);
  const auto now = world.digest();
  std::mt19937 random(test_seed());
  const auto below = [&random](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
  };
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    const std::size_t begin = below(bad.size());
    const std::size_t length = 1 + below(std::min<std::size_t>(bad.size() - begin, 5000));
    switch (i % 3) {
      case 0:
        for (std::size_t k = 0; k < length; ++k) bad[begin + k] = static_cast<char>(random());
        break;
      case 1: bad.erase(begin, length), bad += std::string(length, '\0'); break;
      default: std::swap(bad[begin], bad[below(bad.size())]); break;
    }
    if (bad == good) continue;
    write_file(folder / "b", bad);
    const auto [fault, text] = fault_of([&] { world.load(folder / "b"); });
    CHECK((fault == CheckpointFault::damaged || fault == CheckpointFault::not_a_checkpoint));
  }
  CHECK(world.digest() == now);
  world.load(folder / "a");
  CHECK(world.digest() == expected);
}

TEST_CASE_FIXTURE(SavedSpecks, "parts of another checkpoint of the same program are found") {
  age();
  save("a");
  age();
  save("b");
  const std::string a = contents_of(folder / "a");
  const std::string b = contents_of(folder / "b");
  REQUIRE(a.size() == b.size());
  // Each half is what was written, so all of its chunks have the right checksums: the second one begins with the
  // objects.
  const std::size_t half = a.size() - 2 * sizeof(dynasoar::detail::ChunkHeader) - 3 * 128 - sizeof step;
  dynasoar::detail::ChunkHeader second{};
  std::memcpy(&second, b.data() + half, sizeof second);
  REQUIRE(second.section == dynasoar::detail::Section::objects);
  REQUIRE(second.checksum == second.expected_checksum());
  const std::string both = a.substr(0, half) + b.substr(half);
  REQUIRE(both != a);
  REQUIRE(both != b);
  CHECK(fault_of_file(both).first == CheckpointFault::damaged);
}

TEST_CASE_FIXTURE(SavedSpecks, "foreign, older and newer files are told apart") {
  const auto foreign = fault_of_file("Not a checkpoint at all, but a text of more than sixty-four characters.");
  CHECK(foreign.first == CheckpointFault::not_a_checkpoint);
  const auto of_version = [&](std::uint32_t version) {
    return fault_of_file(ForgedCheckpoint(good).file([&](auto& header) { header.version = version; }));
  };
  const auto older = of_version(1);
  CHECK(older.first == CheckpointFault::older_format);
  CHECK(older.second.find("is in format 1, and this program reads formats 2 to 2") != std::string::npos);
  const auto newer = of_version(3);
  CHECK(newer.first == CheckpointFault::newer_format);
  CHECK(newer.second.find("newer version of the library") != std::string::npos);
  CHECK_THROWS_WITH_AS(load("none"), doctest::Contains("No such file"), Error);
  CHECK_THROWS_WITH_AS(load("."), doctest::Contains("it is not a file"), Error);
  CHECK(handle.count<Speck>() == 130);
}

namespace other {
class Speck;
using Allocator = dynasoar::SoaAllocator<Speck>;
class Speck : public dynasoar::SoaBase<Allocator> {
 public:
  DYNASOAR_FIELDS(Speck, (number_, std::int8_t))
  __device__ explicit Speck(std::size_t number) : number_(static_cast<std::int8_t>(number)) {}
};
}  // namespace other

TEST_CASE_FIXTURE(
    SavedSpecks,
    "a file of other classes is refused, and the message shows the first difference; two handles have two files") {
  AllocatorHandle<other::Allocator> another({.heap_bytes = 4 * other::Allocator::pages().bytes, .threads = 1});
  another.parallel_new<other::Speck>(7);
  another.save(folder / "b");
  const auto [fault, text] = fault_of([&] { another.load(folder / "a"); });
  CHECK(fault == CheckpointFault::other_classes);
  CHECK(text.find("the file has 'Speck: 128 bytes") != std::string::npos);
  CHECK(text.find("u1 at 0', the program 'Speck: 128 bytes") != std::string::npos);
  World world;
  CHECK(fault_of([&] { world.handle.load(folder / "a"); }).first == CheckpointFault::other_classes);
  another.load(folder / "b");
  load("a");
  CHECK(handle.count<Speck>() == 130);
  CHECK(another.count<other::Speck>() == 7);
}

// Failures of the disk and of programs.

TEST_CASE("if a checkpoint cannot be written, the old one stays, and the heap as well") {
  const TestFolder folder;
  RunningWorld world(0);
  world.save(folder / "a");
  const std::string before = contents_of(folder / "a");
  const auto expected = world.digest();
  CHECK_THROWS_WITH_AS(world.save(folder / "no/such/folder"), doctest::Contains("No such file"), Error);
  world.run(1);
  {
    const dynasoar::test::FullDisk disk(10'000);
    CHECK_THROWS_WITH_AS(world.save(folder / "a"), doctest::Contains("File too large"), Error);
  }
  CHECK(folder.files() == 1);
  CHECK(contents_of(folder / "a") == before);
  world.load(folder / "a");
  CHECK(world.digest() == expected);
}

TEST_CASE("two saves to one path at once: the second one is refused") {
  const TestFolder folder;
  World world;
  dynasoar::detail::DurableFile first(folder / "a");
  CHECK_THROWS_WITH_AS(world.save(folder / "a"), doctest::Contains("being written by another save"), Error);
  first.commit();
  world.save(folder / "a");
  CHECK(folder.files() == 1);
}

TEST_CASE("a save that refused objects interrupt saves nothing, and the next one does") {
  const TestFolder folder;
  World world({.heap_bytes = 8 * kPage, .threads = 1});
  world.handle.parallel_new<Reef>(200'000);
  CHECK_THROWS_AS(world.save(folder / "a"), dynasoar::AllocationError);
  CHECK(folder.files() == 0);
  world.save(folder / "a");
  world.load(folder / "a");
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

constexpr const char* kVictim = "victim: saves until it is killed";

/// Every object has the number of the step, so a file that is half old and half new can be told.
TEST_CASE("victim: saves until it is killed" * doctest::skip()) {
  const char* const path = std::getenv("DYNASOAR_CHECKPOINT");
  REQUIRE(path != nullptr);
  World world(on_threads(2));
  DeviceArray<std::uint32_t> steps(300'000);
  std::uint32_t step = 0;
  const auto a = dynasoar::value("step", step);
  const auto b = dynasoar::array("steps", steps);
  world.handle.load(path, a, b);
  for (;;) {
    ++step;
    steps.upload(std::vector<std::uint32_t>(steps.size(), step));
    world.handle.parallel_do<Shark>([] __device__(Shark * shark) { shark->number_ += 1; });
    world.handle.save(path, a, b);
  }
}

TEST_CASE("a program that is killed while it saves leaves the old file or the new one") {
  const TestFolder folder;
  const std::string path = folder / "a";
  DeviceArray<std::uint32_t> steps(300'000);
  std::uint32_t step = 0;
  const auto a = dynasoar::value("step", step);
  const auto b = dynasoar::array("steps", steps);
  World world(on_threads(2));
  steps.fill_bytes(0);
  world.start();
  world.handle.parallel_do<Shark>([] __device__(Shark * shark) { shark->number_ = 0; });
  world.handle.save(path, a, b);

  std::mt19937 random(test_seed());
  const std::string filter = std::string("--test-case=") + kVictim;
  const std::string variable = "DYNASOAR_CHECKPOINT=" + path;
  std::uint32_t last = 0;
  for (int round = 0; round < 15; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      putenv(const_cast<char*>(variable.c_str()));
      execl("/proc/self/exe", "victim", filter.c_str(), "--no-skip", static_cast<char*>(nullptr));
      _exit(1);
    }
    REQUIRE(child > 0);
    // It has begun when the file changes; on a GPU that takes seconds.
    const auto written = std::filesystem::last_write_time(path);
    for (int i = 0; i < 3000 && std::filesystem::last_write_time(path) == written; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));  // else it failed by itself
    world.handle.load(path, a, b);
    CHECK(step > last);
    last = step;
    const std::vector<std::uint32_t> found = steps.download();
    CHECK(std::count(found.begin(), found.end(), step) == static_cast<std::ptrdiff_t>(found.size()));
    CHECK(world.handle.sum<&Animal::number_>() > 0);
    CHECK(world.handle.minimum<&Animal::number_>().has_value());
    const std::uint64_t now = step;
    CHECK(world.handle.count_if<Shark>([now] __device__(Shark * shark) { return shark->number_ == now; }) == 100);
    CHECK(dynasoar::test::heap_errors(world.handle) == "");
  }
  world.handle.save(path, a, b);
  CHECK(folder.files() == 1);  // what was left behind has been overwritten
}

}  // namespace checkpoint_test
