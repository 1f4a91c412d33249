/// @file
/// Sets of 64 places of a lattice: where classes are seen, at the places of a block and at their neighbours; creation
/// and destruction of many objects at once; and placed classes without fields.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "../loops/lattice_shadow.h"
#include "placing_allocator.h"
#include "test_folder.h"

namespace lattice_sets_test {

using namespace dynasoar;
using namespace dynasoar::test;

class Dot;
class Tree;
class Ghost;
using AllocatorT = dynasoar::test::PlacingAllocator<Dot, Tree, Ghost>;

/// Without fields.
class Dot final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Dot);

  __device__ void vanish() { dynasoar::destroy(this); }
};

/// Knows where it was created.
class Tree final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Tree, (slot_, std::uint64_t), (height_, std::uint16_t));

  __device__ explicit Tree(std::uint16_t height) : slot_(dynasoar::place_of(this).slot()), height_(height) {}
};

/// Counts how many of its kind were constructed, in the last of some sums, and destroyed, in the first.
class Ghost final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  using Sum = dynasoar::AtomicWord<std::uint32_t>;
  DYNASOAR_FIELDS(Ghost, (sums_, Sum*));
  static constexpr int kSums = 4;

  __device__ explicit Ghost(Sum* sums) : sums_(sums) { sums[kSums - 1].fetch_add(1, dynasoar::Order::relaxed); }
  __device__ ~Ghost() { sums_->fetch_add(1, dynasoar::Order::relaxed); }
};

using Handle = dynasoar::AllocatorHandle<AllocatorT>;

const std::vector<std::vector<std::size_t>> kSizes = {
    {1, 1},  {3, 5},   {63, 2},    {64, 3},  {65, 4},     {257, 129},  {1, 7},   {7, 1},     {1},
    {64},    {130},    {2, 2},     {1, 70},  {130, 1},    {5, 4, 3},   {60, 5},  {64, 3, 2}, {1, 1, 4},
    {33, 3}, {500, 3}, {2, 3, 70}, {128, 4}, {100, 2, 3}, {190, 2, 2}, {320, 5}, {3, 4100},  {3, 41, 100},
};

/// Whether something random is at a place.
__host__ __device__ bool is_chosen(std::uint64_t slot, std::uint32_t seed) {
  std::uint64_t bits = (slot + 1) * 0x9E3779B97F4A7C15 + seed * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9;
  return (bits ^ bits >> 27) % 5 < 2;
}

struct Choose {
  std::uint32_t seed;
  __device__ bool operator()(Place place) const { return is_chosen(place.slot(), seed); }
};

/// Bits of a block that are chosen, also where there is no place.
__host__ __device__ std::uint64_t chosen_of(PlaceBlock block, std::uint32_t seed) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 64; ++i)
    bits |= std::uint64_t{is_chosen(block.number() * 64 + static_cast<unsigned>(i), seed)} << i;
  return bits;
}

using Words = std::vector<std::uint64_t>;

/// The word of each block that a function of blocks returns in a loop.
template <class L, class F>
Words words_of(Handle& handle, L& lattice, const F& word_of) {
  dynasoar::DeviceArray<std::uint64_t> words(lattice.shape().words());
  words.fill_bytes(0x55);
  lattice.parallel_for_blocks(
      [word_of, words = words.data()] __device__(PlaceBlock block) { words[block.number()] = word_of(block); });
  handle.synchronize();
  return words.download();
}

struct WhereDots {
  __device__ std::uint64_t operator()(PlaceBlock block) const { return dynasoar::where<Dot>(block); }
};

struct WhereEither {
  LatticeVector distance;
  __device__ std::uint64_t operator()(PlaceBlock block) const {
    const std::uint64_t found = dynasoar::where<Dot, Tree>(block, distance);
    const PlaceBlock same = dynasoar::lattice_of<Dot>().block_of(block.place(0));
    return dynasoar::where<Dot, Tree>(same, distance) == found ? found : ~found;
  }
};
struct WhereNext {
  Direction direction;
  __device__ std::uint64_t operator()(PlaceBlock block) const { return dynasoar::where<Dot>(block, direction); }
};

/// The words that say of which places `f(place)` is true.
template <class F>
Words expected_words(const LatticeShape& shape, const F& f) {
  Words words(shape.words());
  for (std::uint64_t number = 0; number < shape.size(); ++number) {
    const Place place = shape.place_of_number(number);
    if (f(place)) words[place.slot() / 64] |= std::uint64_t{1} << place.slot() % 64;
  }
  return words;
}

TEST_CASE("a block says where classes are seen, and where among the neighbours of its places") {
  Handle handle(kSmall);
  lattice_test::for_each_lattice(kSizes, [&](const auto& sizes, const auto& periodic) {
    Lattice<Dot, Tree> lattice(handle, sizes, {.periodic = periodic});
    const LatticeShape& shape = lattice.shape();
    lattice.template parallel_new<Dot>(Choose{1});
    lattice.template parallel_new<Tree>(Choose{2}, std::uint16_t{3});
    CHECK(words_of(handle, lattice, WhereDots{}) ==
          expected_words(shape, [](Place place) { return is_chosen(place.slot(), 1); }));
    const auto seen = [](Place place) {
      return place.exists() && (is_chosen(place.slot(), 1) || is_chosen(place.slot(), 2));
    };
    std::vector<LatticeVector> distances;
    for (std::int32_t z = -1; z <= 1; ++z) {
      for (std::int32_t y = -1; y <= 1; ++y) {
        for (std::int32_t x = -1; x <= 1; ++x) distances.push_back({x, y, z});
      }
    }
    for (const LatticeVector far : {LatticeVector{2, 0, 0}, LatticeVector{-5, 2, 0}, LatticeVector{63, -1, 1},
                                    LatticeVector{-64, 0, 0}, LatticeVector{65, 3, -2}, LatticeVector{-129, 0, 0},
                                    LatticeVector{-1000, 999, -500}, LatticeVector{(1 << 30) - 1, 0, 0}}) {
      distances.push_back(far);
    }
    for (const LatticeVector distance : distances) {
      CAPTURE(distance.x);
      CAPTURE(distance.y);
      CAPTURE(distance.z);
      CHECK(words_of(handle, lattice, WhereEither{distance}) ==
            expected_words(shape, [&](Place place) { return seen(shape.neighbour(place, distance)); }));
    }
    for (const Direction direction :
         {Direction::left, Direction::up, Direction::right, Direction::down, Direction::front, Direction::back}) {
      CHECK(words_of(handle, lattice, WhereNext{direction}) == expected_words(shape, [&](Place place) {
              const Place next = shape.neighbour(place, direction);
              return next.exists() && is_chosen(next.slot(), 1);
            }));
    }
  });
}

/// Creates trees or destroys them at chosen places, and says where.
struct Plant {
  std::uint32_t seed;
  __device__ std::uint64_t operator()(PlaceBlock block) const {
    return dynasoar::create_where<Tree>(block, chosen_of(block, seed), std::uint16_t{9});
  }
};

struct Fell {
  std::uint32_t seed;
  __device__ std::uint64_t operator()(PlaceBlock block) const {
    return dynasoar::destroy_where<Tree>(block, chosen_of(block, seed));
  }
};
struct IsAtHome {
  __device__ bool operator()(Tree* tree) const {
    return tree->slot_ == dynasoar::place_of(tree).slot() && tree->height_ == 9;
  }
};
struct WhereTrees {
  __device__ std::uint64_t operator()(PlaceBlock block) const { return dynasoar::where<Tree>(block); }
};

TEST_CASE("objects are created and destroyed at the places of a set, for the next loop") {
  Handle handle(kSmall);
  lattice_test::for_each_lattice(kSizes, [&](const auto& sizes, const auto& periodic) {
    Lattice<Tree> lattice(handle, sizes, {.periodic = periodic});
    const LatticeShape& shape = lattice.shape();
    const auto words = [&](const auto& f) {
      return expected_words(shape, [&](Place place) { return f(place.slot()); });
    };
    CHECK(words_of(handle, lattice, Plant{1}) == words([](auto slot) { return is_chosen(slot, 1); }));
    // Where there are trees, none is created.
    CHECK(words_of(handle, lattice, Plant{2}) ==
          words([](auto slot) { return is_chosen(slot, 2) && !is_chosen(slot, 1); }));
    const auto either = [](auto slot) { return is_chosen(slot, 1) || is_chosen(slot, 2); };
    CHECK(words_of(handle, lattice, WhereTrees{}) == words(either));
    CHECK(words_of(handle, lattice, Fell{3}) == words([&](auto slot) { return either(slot) && is_chosen(slot, 3); }));
    const Words left = words([&](auto slot) { return either(slot) && !is_chosen(slot, 3); });
    CHECK(words_of(handle, lattice, WhereTrees{}) == left);
    std::uint64_t count = 0;
    for (const std::uint64_t word : left) count += static_cast<std::uint64_t>(std::popcount(word));
    CHECK(handle.template count<Tree>() == count);
    // Each was constructed at its place.
    CHECK(handle.template count_if<Tree>(IsAtHome{}) == count);
  });
}

template <class T>
__device__ PlaceBlock first_block() {
  const LatticeShape& shape = dynasoar::lattice_of<T>();
  return shape.block_of(shape.place({0, 0}));
}

TEST_CASE("within a loop, sets follow the rules of single places") {
  Handle handle(kSmall);
  Lattice<Dot> lattice(handle, {70, 3});
  dynasoar::DeviceArray<std::uint64_t> results(6);
  const auto in_one_thread = [&](const auto& f) {
    handle.parallel_for(1, f);
    handle.synchronize();
    return results.download();
  };
  const Place third = lattice.shape().place({3, 0});
  const Words first = in_one_thread([third, out = results.data()] __device__(std::size_t) {
    const PlaceBlock block = first_block<Dot>();
    dynasoar::make_new_at<Dot>(third);
    out[0] = dynasoar::create_where<Dot>(block, 0x0F);  // place 3 is taken
    out[1] = dynasoar::create_where<Dot>(block, 0x1F);  // only place 4 is left
    out[2] = dynasoar::where<Dot>(block);               // none was there at the beginning
    out[3] = dynasoar::destroy_where<Dot>(block, 0x1F);
    out[4] = reinterpret_cast<std::uint64_t>(dynasoar::make_new_at<Dot>(block.place(2)));
  });
  CHECK(first[0] == 0x07);
  CHECK(first[1] == 0x10);
  CHECK(first[2] == 0);
  CHECK(first[3] == 0);
  CHECK(first[4] == 0);
  const Words second = in_one_thread([out = results.data()] __device__(std::size_t) {
    const PlaceBlock block = first_block<Dot>();
    dynasoar::destroy(dynasoar::at<Dot>(block.place(1)));
    dynasoar::move_to(dynasoar::at<Dot>(block.place(2)), block.place(9));
    out[0] = dynasoar::destroy_where<Dot>(block, 0x2F);  // 1 and 2 have departed, and 5 was never there
    out[1] = dynasoar::create_where<Dot>(block, 0x3F0);  // 4 is seen, 9 was taken by the move
    out[2] = dynasoar::where<Dot>(block);
    out[3] = dynasoar::destroy(dynasoar::at<Dot>(block.place(3)));
  });
  CHECK(second[0] == 0x09);
  CHECK(second[1] == 0x1E0);
  CHECK(second[2] == 0x1F);
  CHECK(second[3] == 0);
  CHECK(words_of(handle, lattice, WhereDots{})[0] == 0x3F0);
}

TEST_CASE("of several threads that want the same places, each place goes to one") {
  Handle handle(kSmall);
  Lattice<Ghost> lattice(handle, {300, 200});
  const std::size_t blocks = lattice.shape().words();
  constexpr std::size_t kThreads = 8;  // for each block
  dynasoar::DeviceArray<Ghost::Sum> sums(Ghost::kSums);
  sums.fill_bytes(0);
  const auto count = [&](std::size_t i) { return sums.download()[i].load(dynasoar::Order::relaxed); };
  handle.parallel_for(kThreads * blocks, [=, sum = sums.data()] __device__(std::size_t i) {
    const PlaceBlock block = dynasoar::lattice_of<Ghost>().block_of(Place(i % blocks * 64));
    const std::uint64_t won = dynasoar::create_where<Ghost>(block, chosen_of(block, 1) | chosen_of(block, 2), sum);
    sum[1].fetch_add(static_cast<std::uint32_t>(dynasoar::detail::popcount(won)), dynasoar::Order::relaxed);
  });
  const std::uint64_t created = handle.count<Ghost>();
  CHECK(created > 300 * 200 / 2);
  CHECK(count(1) == created);
  CHECK(count(Ghost::kSums - 1) == created);  // each was constructed once
  handle.parallel_for(kThreads * blocks, [=, sum = sums.data()] __device__(std::size_t i) {
    const PlaceBlock block = dynasoar::lattice_of<Ghost>().block_of(Place(i % blocks * 64));
    const std::uint64_t won = dynasoar::destroy_where<Ghost>(block, ~chosen_of(block, 2));
    sum[2].fetch_add(static_cast<std::uint32_t>(dynasoar::detail::popcount(won)), dynasoar::Order::relaxed);
  });
  const std::uint64_t left = handle.count<Ghost>();
  CHECK(left > 0);
  CHECK(left < created);
  CHECK(count(2) == created - left);
  CHECK(count(0) == created - left);  // and each destructor was called once
}

#if !defined(DYNASOAR_TEST_MALLOC)

TEST_CASE("a placed class without fields has objects like others, and takes three bits for each") {
  const dynasoar::test::TestFolder folder;
  const std::string path = folder / "run.checkpoint";
  Handle handle(kSmall);
  Words expected;
  {
    Lattice<Dot> lattice(handle, {128, 5}, {.periodic = {false, false, false}});
    constexpr std::size_t kTags =
        dynasoar::kChecked ? 64 * sizeof(std::uint32_t) : 0;  // checked builds detect stale pointers
    CHECK(lattice.bytes() == 10 * (3 * sizeof(std::uint64_t) + kTags));
    lattice.parallel_for([shape = lattice.shape()] __device__(Place place) {
      if (shape.coordinates(place).y % 2 == 0) dynasoar::make_new_at<Dot>(place);
    });
    CHECK(handle.count<Dot>() == 3 * 128);
    handle.parallel_do<Dot>([shape = lattice.shape()] __device__(Dot * dot) {
      const Place here = dynasoar::place_of(dot);
      if (dynasoar::at<Dot>(here) != dot) return;
      if (shape.coordinates(here).x < 10) dynasoar::destroy(dot);
      if (shape.coordinates(here).x == 20) dynasoar::move_to(dot, shape.down(here));  // from the last row to nowhere
    });
    CHECK(handle.count<Dot>() == 3 * 118);
    CHECK(handle.columns<Dot>()["id"].as<std::int64_t>().front() == 10);
    expected = words_of(handle, lattice, WhereDots{});
    CHECK(expected[0] == (~std::uint64_t{0} << 10 & ~(std::uint64_t{1} << 20)));
    CHECK(expected[2] == std::uint64_t{1} << 20);
    CHECK(expected[8] == ~std::uint64_t{0} << 10);
    handle.save(path);
    handle.parallel_do<&Dot::vanish>();
    CHECK(handle.count<Dot>() == 0);
  }
  Lattice<Dot> lattice(handle, {128, 5});
  handle.load(path);
  CHECK(words_of(handle, lattice, WhereDots{}) == expected);
}

#endif

}  // namespace lattice_sets_test
