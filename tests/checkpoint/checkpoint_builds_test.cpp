// Checkpoints with placed objects, and of the other kind of build: with checks or without.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../dsl/test_folder.h"
#include "../platform/test_support.h"
#include "checkpoint_world.h"

namespace checkpoint_test {

class Moss;
using Wood = dynasoar::SoaAllocator<Moss>;

class Moss : public dynasoar::SoaBase<Wood> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Moss, (height_, int))
  __device__ Moss() : height_(static_cast<int>(dynasoar::place_of(this).slot() % 100)) {}
};

/// A lattice with Moss at every third place.
struct Clearing {
  AllocatorHandle<Wood> handle{HandleOptions{.heap_bytes = 1 << 20, .threads = 2}};
  dynasoar::Lattice<Moss> lattice;
  explicit Clearing(std::size_t width) : lattice(handle, {width, 10}) {}
  void grow() {
    lattice.parallel_new<Moss>([] __device__(dynasoar::Place place) { return place.slot() % 3 == 0; });
  }
};

TEST_CASE("a lattice of other sizes, and a program without the lattice, are refused with what each has") {
  const TestFolder folder;
  int year = 7;
  {
    Clearing clearing(11);
    clearing.grow();
    clearing.handle.save(folder / "clearing");
    clearing.handle.save(folder / "dated", dynasoar::value("year", year));
    // Names what is too much, and not what the file has.
    const std::string text = fault_of([&] { clearing.handle.load(folder / "dated"); }).second;
    CHECK_MESSAGE(text.find("'year: 1 * i4' that the program does not ask for; name its values") != std::string::npos,
                  text);
  }
  {
    Clearing wider(12);
    const auto refused = fault_of([&] { wider.handle.load(folder / "clearing"); });
    const std::string& text = refused.second;
    CHECK(refused.first == CheckpointFault::other_values);
    CHECK_MESSAGE(text.find("on 11 x 10 places") != std::string::npos, text);
    CHECK_MESSAGE(text.find("the program asks for '") < text.find("on 12 x 10 places"), text);
    CHECK(wider.handle.count<Moss>() == 0);
  }
  AllocatorHandle<Wood> alone(HandleOptions{.heap_bytes = 1 << 20});
  const auto refused = fault_of([&] { alone.load(folder / "clearing"); });
  CHECK(refused.first == CheckpointFault::other_values);
  CHECK_MESSAGE(refused.second.find("create its lattices") != std::string::npos, refused.second);
}

// Between kinds of build: each program has these two, and CMakeLists.txt has one load what the other one saves.

const char* path_of_other_build() {
  const char* const path = std::getenv("DYNASOAR_CHECKPOINT");
  REQUIRE(path != nullptr);
  return path;
}

TEST_CASE("other build: saves" * doctest::skip()) {
  save_run(on_threads(2), 3, path_of_other_build());
  Clearing clearing(11);
  clearing.grow();
  clearing.handle.save(std::string(path_of_other_build()) + ".lattice");
}

TEST_CASE("other build: loads" * doctest::skip()) {
  const TestFolder folder;
  const auto expected = save_run(on_threads(2), 3, folder / "same");
  World world(on_threads(2));
  if (!dynasoar::kChecked) {
    const auto [fault, text] = fault_of([&] { world.load(path_of_other_build()); });
    CHECK(fault == CheckpointFault::checked_build);
    CHECK(text.find("DYNASOAR_CHECKED=1") != std::string::npos);
    Clearing clearing(11);
    CHECK(fault_of([&] { clearing.handle.load(std::string(path_of_other_build()) + ".lattice"); }).first ==
          CheckpointFault::checked_build);
    return;
  }
  {
    Clearing clearing(11);
    clearing.grow();
    const auto heights = clearing.handle.columns<Moss>()["height_"].data;
    CHECK(!heights.empty());
    clearing.handle.parallel_do<Moss>([] __device__(Moss * moss) { moss->height_ = -1; });
    clearing.handle.load(std::string(path_of_other_build()) + ".lattice");
    CHECK(clearing.handle.columns<Moss>()["height_"].data == heights);
  }
  world.load(path_of_other_build());
  world.check(expected);
  // Pointers of objects that were alive are good, and others are found.
  Counters bits(1);
  Counter* const to = bits.data();
  world.handle.parallel_do<Fish>([to] __device__(Fish * fish) {
    to->store(reinterpret_cast<std::uint64_t>(fish), dynasoar::Order::relaxed);
    dynasoar::destroy(fish);
  });
  world.handle.synchronize();
  const std::uint64_t stale = bits[0];  // one of them
  REQUIRE(stale != 0);
  world.handle.parallel_for(1, [stale] __device__(std::size_t) {
    reinterpret_cast<Fish*>(stale)->eggs_ = std::uint16_t{1};
    Reef* const reef = dynasoar::make_new<Reef>(std::size_t{1});
    reef->kind_ = std::uint8_t{3};
  });
  CHECK_THROWS_WITH_AS(world.handle.synchronize(), doctest::Contains("Fish"), dynasoar::MisuseError);
}

}  // namespace checkpoint_test
