// print: device code shows objects to people.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

#include "../platform/captured.h"
#include "../platform/foreign_locale.h"
#include "../platform/test_support.h"

namespace print_test {

using dynasoar::AllocatorHandle;

class Cell;
class Agent;
class Shark;
class Marker;
class Paper;
using AllocatorT = dynasoar::SoaAllocator<Cell, Agent, Shark, Marker, Paper>;

struct Pair {
  int a, b;
};
/// A struct in a struct, arrays of both kinds, and what has no names.
struct Nested {
  Pair pair;
  std::uint16_t numbers[2];
  std::array<bool, 1> flags;
  union Either {
    int number;
    float real;
  } either[1];
};
struct Route {
  Pair from;
  Pair stops[2];
  const Pair* to;
  std::array<std::int8_t, 2> days;
};
enum class Mood : std::uint8_t { calm, hungry = 200 };

class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (number_, std::uint64_t))
  __device__ explicit Cell(std::uint64_t number) : number_(number) {}
};
class Agent : public dynasoar::SoaBase<AllocatorT> {
 public:
  using Numbers = std::array<std::int8_t, 3>;
  DYNASOAR_FIELDS(Agent, (place_, Cell*), (short_place_, CompressedPointer<Cell>), (lowest_, std::int64_t),
                  (highest_, std::uint64_t), (few_, Numbers), (is_new_, bool), (mood_, Mood))
  __device__ explicit Agent(Cell* cell)
      : place_(cell),
        short_place_(cell),
        lowest_(std::numeric_limits<std::int64_t>::min()),
        highest_(std::numeric_limits<std::uint64_t>::max()),
        few_(Numbers{-128, 0, 127}),
        is_new_(true),
        mood_(Mood::hungry) {}
};
class Shark : public Agent {
 public:
  using BaseClass = Agent;
  DYNASOAR_FIELDS(Shark, (speed_, float), (mass_, double), (pair_, Pair), (nested_, Nested), (route_, Route),
                  (pairs_, std::array<Pair, 2>), (next_, Shark*), (short_next_, CompressedPointer<Shark>))
  __device__ explicit Shark(Cell* cell)
      : Agent(cell), speed_(1.0f / 3), mass_(-1e300), pair_(Pair{1, 2}), next_(nullptr), short_next_(nullptr) {
    nested_ = Nested{{1, 2}, {3, 4}, {true}, {{5}}};
    route_ = Route{{3, 4}, {{5, 6}, {7, 8}}, nullptr, {9, 10}};
    pairs_ = std::array<Pair, 2>{Pair{11, 12}, Pair{13, 14}};
  }
};
class Marker : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Marker)
};
class Paper : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<short, float>;
  dynasoar::SoaField<Paper, 0> a_;
  dynasoar::SoaField<Paper, 1> b_;
  __device__ Paper() : a_(short{-7}), b_(2.5f) {}
};

/// The text that one thread of a loop prints.
template <class Handle, class F>
std::string printed(Handle& handle, F function) {
  dynasoar::test::Captured output(stdout);
  handle.parallel_for(1, function);
  handle.executor().synchronize();
  return output.text();
}

/// A text without the generations, which differ from run to run.
std::string without_generations(std::string text) {
  for (std::size_t at; (at = text.find(", generation ")) != std::string::npos;) text.erase(at, text.find(')', at) - at);
  return text;
}

TEST_CASE("an object is printed with the fields of its own class, and those it inherits") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  const std::string text = printed(handle, [] __device__(std::size_t) {
    for (std::uint64_t i = 0; i < 3; ++i) dynasoar::make_new<Cell>(i);
    const Agent* const agent = dynasoar::make_new<Shark>(dynasoar::make_new<Cell>(std::uint64_t{3}));
    dynasoar::print(agent);
  });
  CHECK((text.find(", generation ") != std::string::npos) == dynasoar::kChecked);
  std::string expected;
  // The first blocks and slots of a new heap are the same in each run, but which block is not part of the test.
  const std::string all = without_generations(text);
  const std::string who = all.substr(0, all.find(": "));
  CHECK(who.starts_with("print_test::Shark (block "));
  CHECK(who.ends_with(", slot 0)"));
  const std::string cell = all.substr(all.find(" = ") + 3, all.find('\n') - all.find(" = ") - 3);
  CHECK(cell.starts_with("print_test::Cell (block "));
  CHECK(cell.ends_with(", slot 3)"));
  for (const std::string& line : {"place_ = " + cell,
                                  "short_place_ = " + cell,
                                  std::string("lowest_ = -9223372036854775808"),
                                  std::string("highest_ = 18446744073709551615"),
                                  std::string("few_[0] = -128"),
                                  std::string("few_[1] = 0"),
                                  std::string("few_[2] = 127"),
                                  std::string("is_new_ = true"),
                                  std::string("mood_ = 200"),
                                  std::string("speed_ = 0.3333333"),
                                  std::string("mass_ = -1e+300"),
                                  std::string("pair_.a = 1"),
                                  std::string("pair_.b = 2"),
                                  std::string("nested_ = 20 bytes"),
                                  std::string("route_.from.a = 3"),
                                  std::string("route_.from.b = 4"),
                                  std::string("route_.stops[0].a = 5"),
                                  std::string("route_.stops[0].b = 6"),
                                  std::string("route_.stops[1].a = 7"),
                                  std::string("route_.stops[1].b = 8"),
                                  std::string("route_.to = 0x0"),
                                  std::string("route_.days[0] = 9"),
                                  std::string("route_.days[1] = 10"),
                                  std::string("pairs_[0].a = 11"),
                                  std::string("pairs_[0].b = 12"),
                                  std::string("pairs_[1].a = 13"),
                                  std::string("pairs_[1].b = 14"),
                                  std::string("next_ = a null pointer"),
                                  std::string("short_next_ = a null pointer")}) {
    expected += who + ": " + line + "\n";
  }
  CHECK(all == expected);
}

struct PrintOthers {
  __device__ void operator()(std::size_t) const {
    dynasoar::print(dynasoar::make_new<Marker>());
    dynasoar::print(dynasoar::make_new<Paper>());
    dynasoar::print(static_cast<const Agent*>(nullptr));
    dynasoar::print(reinterpret_cast<Agent*>(std::uint64_t{0x9abcdef}));
  }
};
TEST_CASE("classes without fields or names are printed, and pointers that are none") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  const std::string text = without_generations(printed(handle, PrintOthers{}));
  CAPTURE(text);
  CHECK(text.find("print_test::Marker (block ") == 0);
  CHECK(text.find(", slot 0): no fields\nprint_test::Paper (block ") != std::string::npos);
  CHECK(text.find(", slot 0): field0 = -7\nprint_test::Paper (block ") != std::string::npos);
  CHECK(text.ends_with(", slot 0): field1 = 2.5\na null pointer\n0x9abcdef, which is no pointer of this allocator\n"));
}

/// Converts from everything, so that the struct around it cannot be taken apart.
struct Any {
  Any() = default;
  template <class U>
  __host__ __device__ Any(U) {}
  int value;
};
struct Target {
  int id;
  std::optional<float> range;
};
struct Reading {
  int id;
  Any value;
};
class Turret;
using TurretAllocator = dynasoar::SoaAllocator<Turret>;
class Turret : public dynasoar::SoaBase<TurretAllocator> {
 public:
  DYNASOAR_FIELDS(Turret, (target_, Target), (reading_, Reading))
  __device__ explicit Turret(std::size_t) : target_(Target{7, 1.5f}), reading_(Reading{}) {}
  __device__ void show() { dynasoar::print(this); }
};

TEST_CASE("structs with members of the standard library are shown by member, or as bytes") {
  AllocatorHandle<TurretAllocator> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  handle.parallel_new<Turret>(1);
  dynasoar::test::Captured output(stdout);
  handle.parallel_do<&Turret::show>();
  handle.executor().synchronize();
  const std::string text = without_generations(output.text());
  CAPTURE(text);
  CHECK(text.find(": target_.id = 7\n") != std::string::npos);
  CHECK(text.find(": target_.range = 8 bytes\n") != std::string::npos);
  CHECK(text.find(": reading_ = 8 bytes\n") != std::string::npos);
  const dynasoar::Columns columns = handle.columns<Turret>();
  CHECK(columns.names() == "id, target_.id, target_.range, reading_");
  CHECK(columns["target_.id"].as<int>() == std::vector<int>{7});
  CHECK(columns["target_.range"].components == 8);
  CHECK(columns["reading_"].components == 8);
}

class Moss;
using PlacedAllocator = dynasoar::SoaAllocator<Moss>;
class Moss : public dynasoar::SoaBase<PlacedAllocator> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Moss, (age_, int))
  __device__ explicit Moss(int age) : age_(age) {}
};

TEST_CASE("an object that is placed on a lattice is printed with the block and slot of its place") {
  AllocatorHandle<PlacedAllocator> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  const dynasoar::Lattice<Moss> lattice(handle, {64, 2});
  const std::string text = printed(handle, [] __device__(std::size_t) {
    const dynasoar::LatticeShape& shape = dynasoar::lattice_of<Moss>();
    dynasoar::print(dynasoar::make_new_at<Moss>(shape.place({3, 1}), 7));
    const std::uint64_t beyond = std::uint64_t{1} << 56 | std::uint64_t{1} << 40;
    dynasoar::print(reinterpret_cast<Moss*>(beyond));
  });
  CHECK(without_generations(text) ==
        "print_test::Moss (block 1, slot 3): age_ = 7\n"
        "0x100010000000000, which is no pointer of this allocator\n");
}

/// As a T of allocator A.
template <class T, class A>
struct PrintOfNoClass {
  static constexpr std::uint64_t kFirstOfNone = A::kTypes + 1;  // the highest byte is the class, from 1
  __device__ void operator()(std::size_t) const {
    dynasoar::print(reinterpret_cast<T*>(kFirstOfNone << 56));
    dynasoar::print(reinterpret_cast<T*>(std::uint64_t{255} << 56));
  }
  static std::string expected() {
    return "0x" + std::to_string(kFirstOfNone) + "00000000000000, which is no pointer of this allocator\n" +
           "0xff00000000000000, which is no pointer of this allocator\n";
  }
};
TEST_CASE("a pointer to an object of no class of the allocator is none") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  using Print = PrintOfNoClass<Agent, AllocatorT>;
  CHECK(printed(handle, Print{}) == Print::expected());
}

TEST_CASE("whether there is an object is looked up in its own block, of however many") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{16} << 20, .threads = 1});
  const std::size_t count = 64 * 64 * 3 + 1;
  dynasoar::DeviceArray<Cell*> cells(count);
  const std::string text = printed(handle, [cells = cells.data(), count = count] __device__(std::size_t) {
    for (std::size_t i = 0; i < count; ++i) cells[i] = dynasoar::make_new<Cell>(std::uint64_t{i});
    // Only every 64th block keeps an object.
    for (std::size_t i = 0; i < count; ++i) {
      if (i % (64 * 64) != 0) dynasoar::destroy(cells[i]);
    }
    for (std::size_t i = 0; i < count; i += 64 * 64) dynasoar::print(cells[i]);
  });
  CAPTURE(text);
  for (std::size_t i = 0; i < count; i += 64 * 64) {
    CHECK(text.find(": number_ = " + std::to_string(i) + "\n") != std::string::npos);
  }
  CHECK(text.find("destroyed") == std::string::npos);
}

TEST_CASE("of an object that was destroyed that is said, and it is not reported as misuse") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  const std::string text = without_generations(printed(handle, [] __device__(std::size_t) {
    Cell* const cell = dynasoar::make_new<Cell>(std::uint64_t{1});
    Cell* const other = dynasoar::make_new<Cell>(std::uint64_t{2});
    dynasoar::destroy(cell);
    dynasoar::print(cell);  // in a block that has objects
    dynasoar::destroy(other);
    dynasoar::print(other);  // in one that has none
    if (!dynasoar::kChecked) return;
    dynasoar::make_new<Cell>(std::uint64_t{3});
    dynasoar::make_new<Cell>(std::uint64_t{4});
    dynasoar::print(cell);  // in a slot that has another object now, which only checks can tell
  }));
  CAPTURE(text);
  std::size_t lines = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1, ++lines) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    CHECK(line.starts_with("print_test::Cell (block "));
    CHECK(line.ends_with("): destroyed"));
  }
  CHECK(lines == (dynasoar::kChecked ? 3 : 2));
  CHECK_NOTHROW(handle.synchronize());
}

TEST_CASE("of a line that is too long, what does not fit is left out, and nothing else changes") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  const dynasoar::test::Counters results(5);
  handle.parallel_for(1, [results = results.data()] __device__(std::size_t) {
    for (int size = 238; size <= 241; ++size) {
      dynasoar::detail::TextLine line;
      for (int i = 0; i < size; ++i) line.add('x');
      std::uint64_t length = 0;
      while (line.characters()[length] == 'x') ++length;
      results[size - 238].store(length * 1000 + static_cast<std::uint64_t>(line.size()), dynasoar::Order::relaxed);
      dynasoar::test::count_if(results[4], line.characters()[length] != '\0');
    }
  });
  handle.synchronize();
  CHECK(results.values() == std::vector<std::uint64_t>{238'238, 239'239, 239'239, 239'239, 0});
}

TEST_CASE("numbers are printed with a point, whatever the locale is") {
  if (dynasoar::kCudaBackend) {
    MESSAGE("skipped: what a GPU prints, its driver formats, by the C locale");
    return;
  }
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  const dynasoar::test::ForeignLocale locale;
  CHECK(printed(handle, PrintOthers{}).find(": field1 = 2.5\n") != std::string::npos);
}

class Leaf;
using AosT = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Leaf>;
class Leaf : public dynasoar::SoaBase<AosT> {
 public:
  using Two = std::array<double, 2>;
  DYNASOAR_FIELDS(Leaf, (flag_, char), (two_, Two), (self_, Leaf*))
  __device__ Leaf() : flag_('a'), two_(Two{1.0 / 3, 1e-3}), self_(this) {}
};

TEST_CASE("objects of an AosAllocator are printed with their address") {
  AllocatorHandle<AosT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  const std::string text = printed(handle, [] __device__(std::size_t) { dynasoar::print(dynasoar::make_new<Leaf>()); });
  const std::string who = text.substr(0, text.find(": "));
  CHECK(who.starts_with("print_test::Leaf (at 0x"));
  CHECK(text == who + ": flag_ = 97\n" + who + ": two_[0] = 0.333333333333333\n" + who + ": two_[1] = 0.001\n" + who +
                    ": self_ = " + who + "\n");
  using Print = PrintOfNoClass<Leaf, AosT>;
  CHECK(printed(handle, Print{}) == Print::expected());
}

}  // namespace print_test
