// Checkpoints: a heap and a program's values go to a file and come back; runs go on as if nothing had happened. What
// happens with other files is in checkpoint_files_test.cpp.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/checkpoint/format.h>
#include <dynasoar/dynasoar.h>

#include "../dsl/test_folder.h"
#include "../heap/handle_check.h"
#include "../platform/test_support.h"
#include "checkpoint_world.h"

namespace checkpoint_test {

TEST_CASE("a restored heap has the objects, the pointers and the program's values of the saved one") {
  const TestFolder folder;
  const auto expected = save_run(on_threads(4), 10, folder / "a");
  CHECK(expected[2] == 0);  // pointers in the array are those in the fields
  World world(on_threads(4));
  world.load(folder / "a");
  world.check(expected);
  CHECK(folder.files() == 1);
}

TEST_CASE("a run that is saved and restored goes on bit for bit like one that was not") {
  const TestFolder folder;
  std::vector<std::uint64_t> expected;
  {
    RunningWorld world(7);  // one for both files: in checked builds, another one's tags are others
    world.save(folder / "early");
    world.run(13);
    world.save(folder / "late");
    expected = world.digest();
  }
  World world;
  world.load(folder / "early");
  world.run(13);
  world.save(folder / "late again");
  CHECK(world.digest() == expected);
  // One thread allocates in one order, so even where objects lie, and where warps look next, is the same.
  if (!dynasoar::kCudaBackend) CHECK(contents_of(folder / "late") == contents_of(folder / "late again"));
}

TEST_CASE("saving changes nothing, and equal states make equal files") {
  const TestFolder folder;
  RunningWorld world(5);
  world.save(folder / "a");
  world.save(folder / "b");
  CHECK(contents_of(folder / "a") == contents_of(folder / "b"));
  world.load(folder / "a");
  world.save(folder / "c");
  CHECK(contents_of(folder / "a") == contents_of(folder / "c"));
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

TEST_CASE("loading replaces what was in the heap") {
  const TestFolder folder;
  RunningWorld world(0);
  world.save(folder / "start");
  const auto expected = world.digest();
  world.run(20);
  CHECK(world.digest() != expected);
  world.load(folder / "start");
  world.check(expected);
}

TEST_CASE("saving waits for loops that run") {
  const TestFolder folder;
  RunningWorld world(0, on_threads(4));
  for (int i = 0; i < 20; ++i) world.run(1);  // on a GPU, none of them need be done
  world.save(folder / "a");
  const auto expected = world.digest();
  world.load(folder / "a");
  CHECK(world.digest() == expected);
}

TEST_CASE("an empty heap and a full one can be saved and loaded") {
  const TestFolder folder;
  World world({.heap_bytes = 40 * kPage, .on_refusal = dynasoar::OnRefusal::record, .threads = 4});
  world.save(folder / "empty");
  world.start();
  Reef** const all = world.reefs.data();
  world.handle.parallel_for(200'000, [all] __device__(std::size_t i) {
    dynasoar::make_new<Fish>(std::uint64_t{i}, static_cast<Reef*>(all[i % kReefs]));
  });
  world.handle.synchronize();
  const auto fish = world.handle.count<Fish>();
  CHECK(world.handle.statistics().free_pages == 0);
  world.save(folder / "full");
  world.load(folder / "empty");
  CHECK(world.handle.statistics().objects() == 0);
  CHECK(world.handle.statistics().free_pages == 40);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  world.load(folder / "full");
  CHECK(world.handle.count<Fish>() == fish);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  // It is still full, and what it refused before is not reported again.
  const auto refused = world.handle.statistics().refused();
  world.handle.synchronize();
  world.handle.parallel_for(1000, [all] __device__(std::size_t i) {
    dynasoar::make_new<Fish>(std::uint64_t{i}, static_cast<Reef*>(all[0]));
  });
  world.handle.synchronize();
  CHECK(world.handle.count<Fish>() == fish);
  CHECK(world.handle.statistics().refused() == refused + 1000);
  world.run(1);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
}

TEST_CASE("what was refused before a checkpoint is not reported after it is loaded") {
  const TestFolder folder;
  std::uint64_t refused = 0;
  {
    World world({.heap_bytes = 40 * kPage, .on_refusal = dynasoar::OnRefusal::record, .threads = 4});
    world.handle.parallel_new<Reef>(200'000);
    world.save(folder / "full");
    refused = world.handle.statistics().refused();
    CHECK(refused > 0);
  }
  World world({.heap_bytes = 40 * kPage, .threads = 4});
  world.load(folder / "full");
  CHECK_NOTHROW(world.handle.synchronize());
  CHECK(world.handle.statistics().refused() == refused);
}

TEST_CASE("a checkpoint is loaded into a larger heap, by another number of threads, and the heap is whole") {
  const TestFolder folder;
  const auto expected = save_run(on_threads(4), 10, folder / "a");
  const auto later = save_run(on_threads(4), 20, folder / "b");
  World world({.heap_bytes = 777 * kPage, .threads = 2});
  world.load(folder / "a");
  CHECK(world.handle.statistics().pages == 777);
  world.check(expected);
  world.run(10);
  world.check(later);
}

TEST_CASE("a smaller heap takes a checkpoint if the used blocks fit, and says how large it must be if not") {
  const TestFolder folder;
  const auto expected = save_run(on_threads(1), 0, folder / "a");
  std::size_t needed = 0;
  {
    World world({.heap_bytes = 4 * kPage, .threads = 1});
    world.handle.parallel_new<Reef>(5);
    const auto [fault, text] = fault_of([&] { world.load(folder / "a"); });
    CHECK(fault == CheckpointFault::heap_too_small);
    const std::size_t at = text.find("needs a heap of ");
    REQUIRE(at != std::string::npos);
    needed = std::stoull(text.substr(at + 16));
    CHECK(world.handle.count<Reef>() == 5);
    CHECK(world.step == 0);
  }
  CHECK(needed % kPage == 0);
  CHECK(needed > 4 * kPage);
  World world({.heap_bytes = needed, .threads = 1});
  world.load(folder / "a");
  world.check(expected);
  world.save(folder / "b");  // what is known of the heap that was larger is not passed on
  world.load(folder / "b");
  CHECK(world.digest() == expected);
}

TEST_CASE("a growing heap grows to the size of the saved one, and goes on bit for bit") {
  const TestFolder folder;
  const HandleOptions grows{.heap_bytes = 16 * kPage, .heap_limit_bytes = 4000 * kPage, .threads = 1};
  std::uint64_t pages = 0;
  std::vector<std::uint64_t> expected;
  {
    RunningWorld world(0, grows);
    world.handle.reserve<Fish>(10'000);  // grows it, which these few animals may not
    world.run(30);
    world.save(folder / "a");
    pages = world.handle.statistics().pages;
    CHECK(pages > 16);
    world.run(40);
    world.save(folder / "b");
    expected = world.digest();
  }
  World world(grows);
  world.load(folder / "a");
  CHECK(world.handle.statistics().pages == pages);
  CHECK(dynasoar::test::heap_errors(world.handle) == "");
  world.run(40);
  world.save(folder / "b again");
  CHECK(world.digest() == expected);
  if (!dynasoar::kCudaBackend) CHECK(contents_of(folder / "b") == contents_of(folder / "b again"));
}

TEST_CASE("compacted objects are saved where they are") {
  const TestFolder folder;
  RunningWorld world(15, on_threads(4));
  world.handle.compact<Fish>();
  const auto expected = world.digest();
  world.save(folder / "a");
  world.handle.compact<Animal>();
  world.run(3);
  world.load(folder / "a");
  world.check(expected);
  world.handle.compact<Animal>();
  world.check(expected);
}

TEST_CASE("a recorded step runs on what was loaded, also if the heap has grown for it") {
  const TestFolder folder;
  save_run({.heap_bytes = 300 * kPage, .threads = 4}, 0, folder / "a");
  World world({.heap_bytes = 8 * kPage, .heap_limit_bytes = 4000 * kPage, .threads = 4});
  world.handle.parallel_new<Reef>(3);
  auto step = world.handle.record([&world] { world.handle.parallel_do<Shark, &Shark::live>(std::uint64_t{1}); });
  step();
  world.load(folder / "a");
  const double before = world.handle.sum<&Shark::energy_>();
  step();
  step();
  CHECK(world.handle.sum<&Shark::energy_>() > before);
  CHECK(world.handle.count<Reef>() == kReefs);
}

TEST_CASE("lists may be kept while a checkpoint is saved, but not while one is loaded") {
  const TestFolder folder;
  RunningWorld world(0);
  world.handle.synchronize();
  {
    const auto kept = world.handle.keep_lists();
    world.save(folder / "a");
    world.handle.parallel_do<&Shark::live>(std::uint64_t{1});
    CHECK_THROWS_WITH_AS(world.load(folder / "a"), doctest::Contains("while lists are kept"), Error);
  }
  world.load(folder / "a");
  CHECK(world.handle.count<Shark>() == 100);
}

TEST_CASE("neither saving nor loading is a part of a recorded step") {
  const TestFolder folder;
  World world;
  world.save(folder / "a");
  CHECK_THROWS_AS(
      {
        auto step = world.handle.record([&] { world.save(folder / "b"); });
        step();
      },
      Error);
  CHECK_THROWS_AS(
      {
        auto step = world.handle.record([&] { world.load(folder / "a"); });
        step();
      },
      Error);
}

// Values of the program.

TEST_CASE("values are found by name, and checked by size and type") {
  const TestFolder folder;
  World world;
  std::uint32_t a = 1;
  double b = 2.5;
  std::array<int, 3> c{1, 2, 3};
  DeviceArray<float> d(10);
  d.upload(std::vector<float>(10, 0.5f));
  world.handle.save(folder / "a", dynasoar::value("a", a), dynasoar::value("b", b), dynasoar::value("c", c),
                    dynasoar::array("d", d.data(), 10));
  const auto check_load = [&](const auto&... items) {
    a = 0, b = 0, c = {};
    d.fill_bytes(0);
    world.handle.load(folder / "a", items...);
    CHECK(a == 1);
    CHECK(b == 2.5);
    CHECK(c == std::array<int, 3>{1, 2, 3});
    CHECK(d.download() == std::vector<float>(10, 0.5f));
  };
  check_load(dynasoar::array("d", d), dynasoar::value("c", c), dynasoar::value("b", b), dynasoar::value("a", a));

  dynasoar::CheckpointItems items;
  items.add(dynasoar::value("b", b)).add(dynasoar::array("d", d)).add(dynasoar::value("c", c));
  items.add(dynasoar::value("a", a));
  {
    std::vector<int> growing{1, 2, 3};
    dynasoar::CheckpointItems more;
    more.add(dynasoar::array("growing", growing));
    world.handle.save(folder / "b", more);
    growing.assign(10000, 4);
    world.handle.load(folder / "b", more);
    CHECK(growing == std::vector<int>{1, 2, 3});
    growing.assign(10000, 5);
    world.handle.save(folder / "b", more);  // as it is now
    growing.clear();
    world.handle.load(folder / "b", more);
    CHECK(growing == std::vector<int>(10000, 5));
    std::filesystem::remove(folder / "b");
  }
  check_load(items);
  a = 7;
  world.handle.save(folder / "a", items);
  a = 8;
  world.handle.load(folder / "a", items);
  CHECK(a == 7);
  a = 1;
  CHECK_THROWS_WITH_AS(world.handle.save(folder / "b", items.add(dynasoar::value("a", b))),
                       doctest::Contains("the name 'a'"), Error);

  const auto check_refused = [&](const std::string& says, const auto&... items) {
    const auto refused = fault_of([&] { world.handle.load(folder / "a", items...); });
    CHECK(refused.first == CheckpointFault::other_values);
    CHECK_MESSAGE(refused.second.find(says) != std::string::npos, refused.second);
  };
  using dynasoar::array;
  using dynasoar::value;
  float other = 0;
  DeviceArray<float> shorter(9);
  check_refused("'d: 10 * f4' that the program does not ask for", value("a", a), value("b", b), value("c", c));
  check_refused("no value 'e'", value("a", a), value("b", b), value("c", c), array("d", d), value("e", other));
  check_refused("'a: 1 * u4', and the program asks for 'a: 1 * f4'", value("a", other), value("b", b), value("c", c),
                array("d", d));
  check_refused("'d: 10 * f4', and the program asks for 'd: 9 * f4'", value("a", a), value("b", b), value("c", c),
                array("d", shorter));
  CHECK(a == 1);
  CHECK_THROWS_WITH_AS(world.handle.save(folder / "b", value("a", a), value("a", b)), doctest::Contains("the name 'a'"),
                       Error);
  CHECK_THROWS_WITH_AS(world.handle.save(folder / "b", value("a:b", a)), doctest::Contains("is no name"), Error);
  CHECK(folder.files() == 1);
}

TEST_CASE("values are read without a handle, and without the objects") {
  using dynasoar::array;
  using dynasoar::load_values;
  using dynasoar::value;
  const TestFolder folder;
  save_run(on_threads(1), 5, folder / "a");
  World().handle.save(folder / "none");
  std::uint64_t step = 0;
  std::vector<std::uint64_t> history;
  load_values(folder / "a", array("history", history), value("step", step));
  CHECK(step == 5);
  CHECK(history == std::vector<std::uint64_t>{0, 1, 4, 9, 16});
  step = 0;
  load_values(folder / "a", value("step", step));
  CHECK(step == 5);
  load_values(folder / "none");

  std::uint32_t other = 0;
  const auto check_refused = [&](const std::string& says, const std::string& file, const auto& item) {
    const auto refused = fault_of([&] { load_values(folder / file, item); });
    CHECK(refused.first == CheckpointFault::other_values);
    CHECK_MESSAGE(refused.second.find(says) != std::string::npos, refused.second);
  };
  check_refused("has no value 'steps'", "a", value("steps", other));
  check_refused("has no value 'step'", "none", value("step", step));
  check_refused("'step: 1 * u8', and the program asks for 'step: 1 * u4'", "a", value("step", other));
  DeviceArray<Reef*> reefs(kReefs);
  CHECK_THROWS_WITH_AS(load_values(folder / "a", array("reefs", reefs)), doctest::Contains("with a handle"), Error);
  std::string bytes = contents_of(folder / "a");
  bytes[bytes.size() / 2] ^= 1;
  write_file(folder / "a", bytes);
  CHECK(fault_of([&] { load_values(folder / "a", value("step", step)); }).first == CheckpointFault::damaged);
}

TEST_CASE("arrays of many chunks and empty ones come back") {
  const TestFolder folder;
  World world;
  DeviceArray<std::uint64_t> large(9'000'000);
  std::vector<std::uint64_t> numbers(large.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i * i;
  large.upload(numbers);
  DeviceArray<int> none;
  std::vector<std::uint64_t> copy = numbers;
  std::vector<int> empty;
  const auto a = dynasoar::array("large", large);
  const auto b = dynasoar::array("none", none);
  world.handle.save(folder / "a", b, a, dynasoar::array("copy", copy), dynasoar::array("empty", empty));
  large.fill_bytes(0);
  copy.clear();
  empty.resize(7);
  world.handle.load(folder / "a", a, b, dynasoar::array("copy", copy), dynasoar::array("empty", empty));
  CHECK(large.download() == numbers);
  CHECK(copy == numbers);
  CHECK(empty.empty());
}

// Compression.

TEST_CASE("a compressed checkpoint is smaller and gives the same heap; without zstd it is refused clearly") {
  const TestFolder folder;
  RunningWorld world(5);
  world.save(folder / "plain");
  if (dynasoar::detail::kHasZstd) world.save(folder / "small", dynasoar::SaveOptions{.compression_level = 3});
  const auto expected = world.digest();
  if (!dynasoar::detail::kHasZstd) {
    CHECK_THROWS_WITH_AS(world.save(folder / "a", dynasoar::SaveOptions{.compression_level = 3}),
                         doctest::Contains("link it to dynasoar::zstd"), Error);
    // What a file looks like to such a program: a chunk that says that it is compressed.
    std::string file = contents_of(folder / "plain");
    dynasoar::detail::ChunkHeader chunk{};
    std::memcpy(&chunk, file.data() + 64, sizeof chunk);
    chunk.method = dynasoar::detail::Storing::zstd;
    chunk.checksum = chunk.expected_checksum();
    std::memcpy(file.data() + 64, &chunk, sizeof chunk);
    write_file(folder / "a", file);
    const auto [fault, text] = fault_of([&] { world.load(folder / "a"); });
    CHECK(fault == CheckpointFault::needs_compression);
    CHECK(text.find("link it to dynasoar::zstd") != std::string::npos);
    CHECK(world.digest() == expected);
    return;
  }
  CHECK(contents_of(folder / "small").size() < contents_of(folder / "plain").size() / 2);
  world.run(5);
  world.load(folder / "small");
  world.save(folder / "again");
  CHECK(world.digest() == expected);
  CHECK(contents_of(folder / "again") == contents_of(folder / "plain"));
}

TEST_CASE("compression levels that do not exist are refused") {
  const TestFolder folder;
  World world;
  CHECK_THROWS_WITH_AS(world.save(folder / "a", dynasoar::SaveOptions{.compression_level = 20}),
                       doctest::Contains("0, or 1 to 19"), Error);
  CHECK_THROWS_AS(world.save(folder / "a", dynasoar::SaveOptions{.compression_level = -1}), Error);
  CHECK(folder.files() == 0);
}

#if DYNASOAR_CHECKED

TEST_CASE("in checked builds, what was found before is found after a checkpoint was loaded") {
  const TestFolder folder;
  DeviceArray<Fish*> stale(1);
  {
    RunningWorld world(0);
    Fish** const to = stale.data();
    world.handle.parallel_do<Fish>([to] __device__(Fish * fish) {
      if (fish->number_ == 5) {
        *to = fish;
        dynasoar::destroy(fish);
      }
    });
    // On a GPU, and with one thread here, its slot is used again.
    world.handle.parallel_new<Shark>(10, world.reefs.data());
    world.handle.save(folder / "a", dynasoar::array("stale", stale));
  }
  World world;
  world.handle.load(folder / "a", dynasoar::array("stale", stale));
  CHECK_NOTHROW(world.handle.synchronize());
  CHECK(world.handle.count<Fish>() == 1999);
  Fish** const from = stale.data();
  world.handle.parallel_for(1, [from] __device__(std::size_t) { (*from)->eggs_ = std::uint16_t{1}; });
  CHECK_THROWS_WITH_AS(world.handle.synchronize(), doctest::Contains("Fish"), dynasoar::MisuseError);
  world.handle.parallel_for(1, [from] __device__(std::size_t) { dynasoar::destroy(*from); });
  CHECK_THROWS_AS(world.handle.synchronize(), dynasoar::MisuseError);
  world.run(5);
  CHECK_NOTHROW(world.handle.synchronize());
}

TEST_CASE("calls that are to fail are counted on after a checkpoint was loaded") {
  const TestFolder folder;
  const HandleOptions options{.heap_bytes = 400 * kPage,
                              .on_refusal = dynasoar::OnRefusal::record,
                              .threads = 1,
                              .failing_allocations = {.first = 15}};
  {
    World world(options);
    world.handle.parallel_new<Reef>(10);
    world.save(folder / "a");
  }
  World world(options);
  world.load(folder / "a");
  world.handle.parallel_new<Reef>(10);
  CHECK(world.handle.count<Reef>() == 19);
}

#endif

class Mote;
using Dust = dynasoar::SoaAllocator<Mote>;
class Mote : public dynasoar::SoaBase<Dust> {
 public:
  DYNASOAR_FIELDS(Mote, (number_, std::uint8_t), (weight_, double))
  __device__ explicit Mote(std::size_t number)
      : number_(static_cast<std::uint8_t>(number)), weight_(static_cast<double>(number)) {}
};

TEST_CASE("a heap of more blocks and more bytes than are saved at once is saved and loaded") {
  if (dynasoar::test::kRunsUnderTsan) return;
  constexpr std::size_t kBlocks = (std::size_t{1} << 16) + 1000;
  const TestFolder folder;
  const HandleOptions options{.heap_bytes = Dust::heap_bytes_for<Mote>(64 * kBlocks), .threads = 2};
  dynasoar::Columns saved;
  {
    AllocatorHandle<Dust> handle(options);
    handle.parallel_new<Mote>(64 * kBlocks);
    handle.parallel_do<Mote>([] __device__(Mote * mote) {
      const dynasoar::detail::Handle place(reinterpret_cast<std::uint64_t>(mote));
      if (place.slot() != 7) dynasoar::destroy(mote);
    });
    handle.save(folder / "dust");
    saved = handle.columns<Mote>();
  }
  AllocatorHandle<Dust> handle(options);
  handle.load(folder / "dust");
  CHECK(handle.statistics().types[0].blocks >= kBlocks);
  const dynasoar::Columns loaded = handle.columns<Mote>();
  CHECK(loaded["id"].data == saved["id"].data);
  CHECK(loaded["number_"].data == saved["number_"].data);
  CHECK(loaded["weight_"].data == saved["weight_"].data);
  CHECK(dynasoar::test::heap_errors(handle) == "");
}

}  // namespace checkpoint_test
