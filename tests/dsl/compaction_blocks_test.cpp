// Compaction: which blocks it empties, and that other classes get them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../heap/handle_check.h"
#include "../platform/test_support.h"

namespace compaction_blocks_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Speck;
using Dust = dynasoar::SoaAllocator<Speck>;

class Speck : public dynasoar::SoaBase<Dust> {
 public:
  DYNASOAR_FIELDS(Speck, (number_, std::uint32_t), (block_, std::uint32_t))
  __device__ explicit Speck(std::size_t number) : number_(static_cast<std::uint32_t>(number)), block_(0u) {}
  __device__ std::uint32_t block() const {
    return Dust::block_of(dynasoar::detail::Handle(reinterpret_cast<std::uint64_t>(this)));
  }
};

/// Blocks of specks: `full` full ones with the lowest numbers, and `others` of which only slots 0 to `left` - 1 are
/// taken.
/// @return number of the first of those
std::uint32_t pour(AllocatorHandle<Dust>& handle, std::size_t full, std::size_t others, std::uint32_t left) {
  handle.parallel_new<Speck>(64 * (full + others));
  handle.compact<Speck>();
  handle.parallel_do<Speck>([] __device__(Speck * speck) { speck->block_ = speck->block(); });
  std::vector<std::uint32_t> blocks = handle.columns<Speck>()["block_"].as<std::uint32_t>();
  std::sort(blocks.begin(), blocks.end());
  const std::uint32_t first = blocks[64 * full];
  handle.parallel_do<Speck>([first, left] __device__(Speck * speck) {
    const dynasoar::detail::Handle place(reinterpret_cast<std::uint64_t>(speck));
    if (speck->block_ >= first && place.slot() >= left) dynasoar::destroy(speck);
  });
  CHECK(handle.statistics().types[0].blocks == full + others);
  return first;
}

constexpr std::uint32_t kNoBlock = std::numeric_limits<std::uint32_t>::max();

/// Whether a speck that was in a block from `begin` to before `end` is in another one now.
struct HasMoved {
  std::uint32_t begin, end;
  __device__ bool operator()(Speck* speck) const {
    return speck->block_ >= begin && speck->block_ < end && speck->block() != speck->block_;
  }
};

TEST_CASE("a block goes as soon as the others have room for its objects, and not before") {
  for (const std::uint32_t left : {32u, 33u}) {
    CAPTURE(left);
    AllocatorHandle<Dust> handle({.heap_bytes = std::size_t{1} << 20, .threads = 1});
    pour(handle, 0, 2, left);
    handle.compact<Speck>();
    CHECK(handle.statistics().types[0].blocks == (left == 32 ? 1 : 2));
    CHECK(handle.count<Speck>() == 2 * left);
  }
}

TEST_CASE("a threshold is what may be free: exactly as much does not start a compaction") {
  AllocatorHandle<Dust> handle({.heap_bytes = std::size_t{1} << 20, .threads = 1});
  pour(handle, 0, 4, 32);
  handle.compact<Speck>({.above = 0.5});
  CHECK(handle.statistics().types[0].blocks == 4);
  handle.compact<Speck>({.above = 1});
  CHECK(handle.statistics().types[0].blocks == 4);
  handle.compact<Speck>({.above = 0.499});
  CHECK(handle.statistics().types[0].blocks == 2);
}

TEST_CASE("objects of full blocks stay where they are; the emptiest blocks go") {
  AllocatorHandle<Dust> handle({.heap_bytes = std::size_t{1} << 20, .threads = 1});
  const std::uint32_t first = pour(handle, 6, 4, 32);
  handle.compact<Speck>();
  CHECK(handle.statistics().types[0].blocks == 8);
  CHECK(handle.count_if<Speck>(HasMoved{0, first}) == 0);
  CHECK(handle.count_if<Speck>(HasMoved{first, kNoBlock}) == 64);
  CHECK(handle.count<Speck>() == 6 * 64 + 4 * 32);
}

class Grain;
class Pebble;
using SandAllocator = dynasoar::SoaAllocator<Grain, Pebble>;

class Grain : public dynasoar::SoaBase<SandAllocator> {
 public:
  DYNASOAR_FIELDS(Grain, (value_, std::uint8_t))
  __device__ explicit Grain(std::size_t index) : value_(static_cast<std::uint8_t>(index % 251)) {}
  __device__ void vanish_unless(std::uint8_t divisor) {
    if (value_ % divisor != 0) dynasoar::destroy(this);
  }
  __device__ void count(Counter* counts) { counts[value_].fetch_add(1, dynasoar::Order::relaxed); }
};

class Pebble : public dynasoar::SoaBase<SandAllocator> {
 public:
  DYNASOAR_FIELDS(Pebble, (size_, std::array<double, 4>))
  __device__ explicit Pebble(std::size_t) { size_.fill(1.0); }
};

TEST_CASE("the blocks that become free serve other classes, and a full heap is found to be full") {
  constexpr std::size_t kPages = 24;
  AllocatorHandle<SandAllocator> handle(
      {.heap_bytes = kPages * SandAllocator::pages().bytes, .on_refusal = dynasoar::OnRefusal::record, .threads = 4});
  constexpr std::size_t kSlots = kPages * 64 * SandAllocator::pages().blocks_per_page[0];
  handle.parallel_new<Grain>(2 * kSlots);
  CHECK(handle.count<Grain>() == kSlots);
  const auto counts = [&] {
    Counters of_value(256);
    handle.parallel_do<&Grain::count>(of_value.data());
    handle.synchronize();
    return of_value.values();
  };
  handle.parallel_do<&Grain::vanish_unless>(std::uint8_t{4});
  const auto before = counts();
  const Statistics fragmented = handle.statistics();
  handle.compact<Grain>();
  CHECK(heap_errors(handle) == "");
  CHECK(counts() == before);
  const Statistics compacted = handle.statistics();
  CHECK(compacted.types[0].objects == fragmented.types[0].objects);
  CHECK(compacted.free_pages >= kPages / 2);
  CHECK(compacted.free_pages > fragmented.free_pages);
  constexpr std::size_t kPebbles = kPages / 2 * 64 * SandAllocator::pages().blocks_per_page[1];
  handle.parallel_new<Pebble>(kPebbles);
  CHECK(handle.count<Pebble>() == kPebbles);
  handle.parallel_new<Grain>(2 * kSlots);
  CHECK(counts()[0] > before[0]);
  const Statistics full = handle.statistics();
  CHECK(full.types[0].objects == full.types[0].slots);
  CHECK(full.free_pages == 0);
  CHECK(heap_errors(handle) == "");
  handle.compact<Grain>();
  CHECK(handle.statistics().types[0].objects == full.types[0].objects);
}

}  // namespace compaction_blocks_test
