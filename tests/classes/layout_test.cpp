// The layout of blocks and pages: alignment of arrays, offsets through base classes, and the rule for pages.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include <dynasoar/classes/layout.h>
#include <dynasoar/dynasoar.h>

#include "../heap/test_classes.h"
#include "../platform/test_support.h"

namespace layout_test {

using namespace dynasoar::detail;

class Base;
class Derived;
class Leaf;
class Bare;
using AllocatorT = dynasoar::SoaAllocator<Base, Derived, Leaf, Bare>;

class Base : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Base, (flag_, bool), (pair_, std::array<char, 3>), (number_, double))
};
class Derived : public Base {
 public:
  using BaseClass = Base;
  DYNASOAR_FIELDS(Derived)
};
class Leaf : public Derived {
 public:
  using BaseClass = Derived;
  DYNASOAR_FIELDS(Leaf, (id_, std::uint16_t), (last_, int))
};
class Bare : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Bare)
};

class Half : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Half, (number_, int), (flag_, bool))
};
class Filled : public Half {
 public:
  using BaseClass = Half;
  DYNASOAR_FIELDS(Filled, (more_, int), (sign_, signed char))
};
class Unfilled : public Half {
 public:
  using BaseClass = Half;
  DYNASOAR_FIELDS(Unfilled, (more_, float))
};

class Wide : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Numbers = std::array<double, 4>;
  DYNASOAR_FIELDS(Wide, (sign_, bool), (numbers_, Numbers), (flag_, bool), (last_, int))
};

struct Twelve {
  float x, y, z;
};

// 64 entries of each array.
static_assert(field_bytes_v<bool> == 64);
static_assert(field_bytes_v<short> == 128);
static_assert(field_bytes_v<int> == 256);
static_assert(field_bytes_v<double> == 512);
static_assert(field_bytes_v<Twelve> == 768);
static_assert(field_bytes_v<std::array<char, 3>> == 3 * 64, "each element of an array has an array of its own");
static_assert(field_bytes_v<std::array<int, 5>> == 5 * 256);

// Arrays that are not whole lines lie together, behind the others.
static_assert(field_offset_v<Base, 2> == 0);
static_assert(field_offset_v<Base, 0> == 512);
static_assert(field_offset_v<Base, 1> == 512 + 64);
static_assert(block_bytes_v<Base> == 512 + 64 + 192 && block_bytes_v<Derived> == block_bytes_v<Base>);

// Where that saves little, each field begins on a line of its own.
static_assert(field_offset_v<Wide, 0> == 0 && field_offset_v<Wide, 1> == 128 && field_offset_v<Wide, 2> == 128 + 2048);
static_assert(field_offset_v<Wide, 3> == 128 + 2048 + 128 && block_bytes_v<Wide> == 128 + 2048 + 128 + 256);

// Inherited fields come first, so a base class finds its fields in objects of every subclass.
static_assert(field_offset_v<Leaf, 0> == 768);
static_assert(field_offset_v<Leaf, 1> == 768 + 128);
static_assert(ClassLayout<Leaf>::field_count == 5);
static_assert(block_bytes_v<Leaf> == 768 + 128 + 256);
// Where inherited fields end in the middle of a line, a class's own arrays of that kind come first, to fill it.
static_assert(field_offset_v<Half, 0> == 0 && field_offset_v<Half, 1> == 256 && block_bytes_v<Half> == 384);
static_assert(field_offset_v<Filled, 1> == 256 + 64 && field_offset_v<Filled, 0> == 384);
static_assert(block_bytes_v<Filled> == 640);
static_assert(field_offset_v<Unfilled, 0> == 384 && block_bytes_v<Unfilled> == 640);
static_assert(block_bytes_v<Bare> == 128, "objects without fields still have blocks of their own");

/// The share of a page that the worst-fitting class leaves unused if a page holds at most `most` blocks.
template <std::size_t n>
double loss_of(const std::array<std::size_t, n>& blocks, std::size_t page, std::size_t most) {
  double loss = 0;
  for (const std::size_t bytes : blocks) {
    const std::size_t used = std::min(page / bytes, most) * bytes;
    loss = std::max(loss, 1 - static_cast<double>(used) / static_cast<double>(page));
  }
  return loss;
}

constexpr double kAccepted = 1.0 / 16 + 1e-12;

/// Whether a layout keeps the rules that the allocator relies on.
template <std::size_t n>
bool keeps_rules(const std::array<std::size_t, n>& blocks, const PageLayout<n>& pages) {
  bool good = pages.bytes % 128 == 0 && (pages.block_stride & (pages.block_stride - 1)) == 0 && pages.block_stride > 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t count = pages.blocks_per_page[i];
    good = good && count >= 1 && count == std::min<std::size_t>(pages.bytes / blocks[i], pages.block_stride);
  }
  const double loss = loss_of(blocks, pages.bytes, pages.block_stride);
  return good && loss <= kAccepted && std::abs(loss - pages.largest_loss) < 1e-12 &&
         (pages.block_stride == 1 || loss_of(blocks, pages.bytes, pages.block_stride / 2) > kAccepted);
}

TEST_CASE("pages of one class are its blocks") {
  constexpr auto kPages = choose_pages<1>({2304});
  CHECK(kPages.bytes == 2304);
  CHECK(kPages.block_stride == 1);
  CHECK(kPages.blocks_per_page[0] == 1);
  CHECK(kPages.largest_loss == 0.0);
}

TEST_CASE("classes whose blocks divide the largest share its pages without loss") {
  constexpr auto kPages = choose_pages<3>({256, 512, 1024});
  CHECK(kPages.bytes == 1024);
  CHECK(kPages.block_stride == 4);
  CHECK(kPages.blocks_per_page == std::array<std::uint32_t, 3>{4, 2, 1});
}

TEST_CASE("pages grow until no class leaves more than a sixteenth unused") {
  // 16-byte objects beside 28-byte ones: one of each per page would lose 43 percent.
  constexpr std::array<std::size_t, 2> kBlocks{1024, 1792};
  constexpr auto kPages = choose_pages<2>(kBlocks);
  CHECK(keeps_rules(kBlocks, kPages));
  CHECK(kPages.largest_loss <= 1.0 / 16);
  CHECK(kPages.bytes <= 8 * 1792);
}

TEST_CASE("a page may hold many blocks of a small class beside a large one") {
  // 4-byte objects beside 400-byte ones.
  constexpr std::array<std::size_t, 2> kBlocks{256, 64 * 400};
  constexpr auto kPages = choose_pages<2>(kBlocks);
  CHECK(keeps_rules(kBlocks, kPages));
  CHECK(kPages.bytes == 64 * 400);
  CHECK(kPages.blocks_per_page == std::array<std::uint32_t, 2>{100, 1});
  CHECK(kPages.block_stride == 128);
  CHECK(kPages.largest_loss == 0.0);
}

TEST_CASE("layouts for random classes keep the rules, and no smaller page does") {
  const std::uint64_t seed = dynasoar::test::test_seed();
  dynasoar::test::Random random{seed};
  for (int round = 0; round < 300; ++round) {
    std::array<std::size_t, 4> blocks{};
    std::size_t largest = 0;
    for (std::size_t& bytes : blocks) {
      bytes = 128 * (1 + random.below(random.below(2) == 0 ? 8 : 60));
      largest = std::max(largest, bytes);
    }
    const auto pages = choose_pages<4>(blocks);
    CAPTURE(round);
    CHECK(keeps_rules(blocks, pages));
    CHECK(pages.bytes >= largest);
    CHECK(pages.bytes <= 16 * largest);
    std::size_t first = largest;
    while (loss_of(blocks, first, first) > kAccepted) first += 128;
    CHECK(pages.bytes == first);
  }
}

TEST_CASE("a class that would need more block numbers in a page than others gets fewer blocks, if little is lost") {
  constexpr auto kPages = choose_pages<2>({384, 12800});  // 33 fit
  CHECK(kPages.blocks_per_page == std::array<std::uint32_t, 2>{32, 1});
  CHECK(kPages.block_stride == 32);
}

template <class T>
struct Range {
  static void check(std::uint32_t pages) {
    using dynasoar::test::FourTypes;
    constexpr auto kPages = FourTypes::pages();
    const std::uint32_t per_page = kPages.blocks_per_page[static_cast<std::size_t>(FourTypes::index_of<T>)];
    std::uint64_t end_of_last = 0;
    for (std::uint32_t page = 0; page < pages; ++page) {
      for (std::uint32_t i = 0; i < per_page; ++i) {
        const auto handle = FourTypes::handle_of<T>(page * kPages.block_stride + i, 63, 255);
        CHECK(handle.slot() == 63);
        CHECK(handle.generation() == 255);
        CHECK(handle.type_index() == FourTypes::index_of<T>);
        CHECK(handle.block_offset() % 128 == 0);
        CHECK(handle.block_offset() >= end_of_last);  // blocks do not overlap
        end_of_last = handle.block_offset() + block_bytes_v<T>;
        CHECK(end_of_last <= (page + 1) * kPages.bytes);  // and stay in their page
        CHECK(handle.block_offset() >= page * kPages.bytes);
      }
    }
  }
};

TEST_CASE("blocks of all classes lie in their pages without overlap") {
  Range<dynasoar::test::Tiny>::check(3);
  Range<dynasoar::test::Small>::check(3);
  Range<dynasoar::test::Medium>::check(3);
  Range<dynasoar::test::Large>::check(3);
}

}  // namespace layout_test
