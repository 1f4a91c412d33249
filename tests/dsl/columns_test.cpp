/// @file
/// Columns: all objects' fields as arrays, what they mean and in which order. The last test writes files of them, which
/// columns_test.py reads with other programs.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/columns.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/toolkit_malloc.h>
#include <dynasoar/write_file.h>
#include <dynasoar/write_hdf5.h>

#include "small_table.h"
#include "test_folder.h"

namespace columns_test {

using namespace dynasoar;
using namespace dynasoar::test;

enum class Mood : std::uint16_t { calm, hungry };

struct Vector {
  float x, y;
};

class Reef;

// Without padding, whose bytes are anyone's: files of equal runs are compared.
struct Link {
  Reef* reef;
  std::int16_t distances[2];
  std::int32_t depth;
  Vector at;
};

/// Has no members that can be told from the outside, but names them.
class Depths {
 public:
  Depths() = default;
  __device__ explicit Depths(std::uint8_t least) : from(least), to(static_cast<std::uint8_t>(least + 1)) {}
  std::uint8_t from, to;
  static constexpr const char* field_names[] = {"least", "most"};
};

/// Stays bytes.
struct Unnamed {
  union {
    std::uint8_t a, b;
  };
  std::uint8_t c[2];
};

class Animal;
class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Reef, Fish, Shark>;

class Reef : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Reef, (number_, std::uint32_t))
  __device__ explicit Reef(std::size_t number) : number_(static_cast<std::uint32_t>(number)) {}
  __device__ void enter(Reef** table) { table[number_] = this; }
};

class Animal : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Animal, (number_, std::uint64_t), (position_, Vector), (home_, Reef*), (friend_, Animal*))
  __device__ Animal(std::uint64_t number, Reef* home)
      : number_(number),
        position_(Vector{static_cast<float>(number) / 4, -static_cast<float>(number)}),
        home_(home),
        friend_(nullptr) {}
};

class Fish : public Animal {
 public:
  using BaseClass = Animal;
  DYNASOAR_FIELDS(Fish, (is_hungry_, bool), (mood_, Mood), (speed_, std::array<double, 3>),
                  (eggs_, dynasoar::AtomicWord<std::uint32_t>), (link_, Link), (unnamed_, Unnamed), (depths_, Depths),
                  (small_, std::int8_t))
  __device__ Fish(std::size_t number, Reef* const* reefs)
      : Animal(number, reefs[number % 4]),
        is_hungry_(number % 3 == 0),
        mood_(number % 2 == 0 ? Mood::calm : Mood::hungry),
        small_(static_cast<std::int8_t>(-static_cast<int>(number % 100))) {
    for (std::size_t i = 0; i < 3; ++i) speed_[i] = static_cast<double>(number) + 0.1 * static_cast<double>(i);
    eggs_->store(static_cast<std::uint32_t>(number * 7), dynasoar::Order::relaxed);
    link_ = Link{reefs[(number + 1) % 4],
                 {static_cast<std::int16_t>(number), static_cast<std::int16_t>(-static_cast<int>(number))},
                 static_cast<std::int32_t>(2 * number),
                 {1, static_cast<float>(number)}};
    unnamed_ = Unnamed{{1}, {static_cast<std::uint8_t>(number % 256), 3}};
    depths_ = Depths(static_cast<std::uint8_t>(number % 100));
  }
  __device__ void breed_and_die(std::uint64_t step) {
    if ((number_ + step) % 3 == 0) {
      Reef* const home = home_;
      Reef* const homes[4] = {home, home, home, home};
      dynasoar::make_new<Fish>(static_cast<std::size_t>(number_ * 7 % 1000), static_cast<Reef* const*>(homes));
    }
    if ((number_ + step) % 5 < 2) dynasoar::destroy(this);
  }
  __device__ void die_if_odd() {
    if (number_ % 2 == 1) dynasoar::destroy(this);
  }
};

class Shark : public Animal {
 public:
  using BaseClass = Animal;
  DYNASOAR_FIELDS(Shark, (energy_, float))
  __device__ Shark(std::size_t number, Reef* const* reefs) : Animal(1000 + number, reefs[0]), energy_(0.5f) {}
  __device__ void age() { energy_ += 1.0f; }
  __device__ void befriend(std::uint64_t bits) { friend_ = reinterpret_cast<Animal*>(bits); }
};

using Handle = dynasoar::AllocatorHandle<AllocatorT>;

constexpr std::size_t kFish = 300;
constexpr std::size_t kSharks = 70;

/// 4 reefs, fish with numbers from 0, sharks with numbers from 1000.
struct World {
  explicit World(int threads = 0) : handle({.heap_bytes = 4 << 20, .threads = threads}), reefs(4) {
    Reef** const all = reefs.data();
    handle.parallel_new<Reef>(4);
    handle.parallel_do<&Reef::enter>(all);
    handle.parallel_new<Fish>(kFish, static_cast<Reef* const*>(all));
    handle.parallel_new<Shark>(kSharks, static_cast<Reef* const*>(all));
    handle.synchronize();
  }

  Handle handle;
  dynasoar::DeviceArray<Reef*> reefs;
};

TEST_CASE("columns have all fields of all objects, with names, types and values") {
  World world;
  const Columns fish = world.handle.columns<Fish>();
  const Columns reefs = world.handle.columns<Reef>();
  CHECK(fish.name == "Fish");
  CHECK(fish.rows == kFish);
  CHECK(fish.names() ==
        "id, number_, position_.x, position_.y, home_, friend_, is_hungry_, mood_, speed_, eggs_, link_.reef, "
        "link_.distances.0, link_.distances.1, link_.depth, link_.at.x, link_.at.y, unnamed_, depths_.least, "
        "depths_.most, small_");
  CHECK(reefs.names() == "id, number_");
  CHECK(fish["number_"].type == ColumnType::u64);
  CHECK(fish["position_.x"].type == ColumnType::f32);
  CHECK(fish["home_"].type == ColumnType::i64);
  CHECK(fish["is_hungry_"].type == ColumnType::u8);
  CHECK(fish["mood_"].type == ColumnType::u16);
  CHECK(fish["speed_"].type == ColumnType::f64);
  CHECK(fish["speed_"].components == 3);
  CHECK(fish["eggs_"].type == ColumnType::u32);
  CHECK(fish["link_.distances.1"].type == ColumnType::i16);
  CHECK(fish["unnamed_"].components == 3);
  CHECK(fish["small_"].type == ColumnType::i8);
  CHECK_THROWS_WITH_AS(fish["number"], doctest::Contains("there is no column 'number'; there are: id, number_"),
                       std::out_of_range);

  std::map<std::int64_t, std::uint64_t> number_of_reef;
  for (std::size_t row = 0; row < reefs.rows; ++row) {
    number_of_reef[reefs["id"].as<std::int64_t>()[row]] = reefs["number_"].as<std::uint64_t>()[row];
  }
  CHECK(number_of_reef.size() == 4);
  const auto numbers = fish["number_"].as<std::uint64_t>();
  std::vector<bool> seen(kFish);
  for (std::size_t row = 0; row < kFish; ++row) {
    const std::uint64_t number = numbers[row];
    const auto value = [&](const char* name, std::size_t component = 0) {
      return fish[name].as<double>()[row * fish[name].components + component];
    };
    REQUIRE(number < kFish);
    CHECK(!seen[number]);
    seen[number] = true;
    const auto n = static_cast<double>(number);
    CHECK(value("position_.x") == n / 4);
    CHECK(value("position_.y") == -n);
    CHECK(number_of_reef[static_cast<std::int64_t>(value("home_"))] == number % 4);
    CHECK(value("friend_") == -1);
    CHECK(value("is_hungry_") == (number % 3 == 0));
    CHECK(value("mood_") == number % 2);
    for (std::size_t i = 0; i < 3; ++i) CHECK(value("speed_", i) == n + 0.1 * static_cast<double>(i));
    CHECK(value("eggs_") == 7 * n);
    CHECK(number_of_reef[static_cast<std::int64_t>(value("link_.reef"))] == (number + 1) % 4);
    CHECK(value("link_.distances.0") == n);
    CHECK(value("link_.distances.1") == -n);
    CHECK(value("link_.depth") == 2 * n);
    CHECK(value("link_.at.y") == n);
    CHECK(value("unnamed_", 0) == 1);
    CHECK(value("unnamed_", 1) == number % 256);
    CHECK(value("unnamed_", 2) == 3);
    CHECK(value("depths_.least") == number % 100);
    CHECK(value("depths_.most") == number % 100 + 1);
    CHECK(value("small_") == -static_cast<double>(number % 100));
  }
}

TEST_CASE("a pointer that is none of the allocator has the number -2") {
  World world;
  // The class is in the highest byte, from 1.
  for (const std::uint64_t bits :
       {std::uint64_t{0x1240}, std::uint64_t{AllocatorT::kTypes + 1} << 56, std::uint64_t{255} << 56}) {
    world.handle.parallel_do<&Shark::befriend>(bits);
    const Columns sharks = world.handle.columns<Shark>();
    CHECK(sharks["friend_"].as<std::int64_t>() == std::vector<std::int64_t>(kSharks, -2));
  }
}

TEST_CASE("a base class's columns have the objects of all subclasses, and say which") {
  World world;
  const Columns animals = world.handle.columns<Animal>();
  CHECK(animals.rows == kFish + kSharks);
  CHECK(animals.names() == "id, class, number_, position_.x, position_.y, home_, friend_");
  CHECK(animals["class"].labels == std::vector<std::string>{"Fish", "Shark"});
  const auto classes = animals["class"].as<int>();
  const auto numbers = animals["number_"].as<std::uint64_t>();
  for (const Column& column : animals.columns) CHECK(column.as<double>().size() == animals.rows * column.components);
  for (std::size_t row = 0; row < animals.rows; ++row) {
    CHECK(classes[row] == (row < kFish ? 0 : 1));
    CHECK((numbers[row] >= 1000) == (row >= kFish));
  }
  const Columns sharks = world.handle.columns<Shark>();
  const auto ids = animals["id"].as<std::int64_t>();
  CHECK(sharks["id"].as<std::int64_t>() == std::vector<std::int64_t>(ids.begin() + kFish, ids.end()));
  CHECK(sharks["energy_"].as<float>() == std::vector<float>(kSharks, 0.5f));
}

TEST_CASE("all columns of a base class have the subclasses' fields, and 0 where there are none") {
  World world;
  const Columns animals = world.handle.all_columns<Animal>();
  const Columns fish = world.handle.columns<Fish>();
  CHECK(animals.names() ==
        "id, class, number_, position_.x, position_.y, home_, friend_, is_hungry_, mood_, speed_, eggs_, link_.reef, "
        "link_.distances.0, link_.distances.1, link_.depth, link_.at.x, link_.at.y, unnamed_, depths_.least, "
        "depths_.most, small_, energy_");
  std::vector<float> energies(kFish, 0);
  energies.resize(kFish + kSharks, 0.5f);
  CHECK(animals["energy_"].as<float>() == energies);
  std::vector<double> speeds = fish["speed_"].as<double>();
  speeds.resize(3 * (kFish + kSharks), 0);
  CHECK(animals["speed_"].as<double>() == speeds);
  CHECK(world.handle.all_columns<Reef>().names() == "id, number_");
}

TEST_CASE("fields of several subclasses with one name share a column if they are of one type") {
  Columns table{"Base", 4, {}};
  table.columns.push_back(dynasoar::make_column<std::int64_t>("id", {5, 6, 7, 8}));
  table.columns.push_back(dynasoar::make_column<std::uint8_t>("class", {0, 0, 1, 2}));
  table.columns.back().labels = {"A", "B", "C"};
  const auto part = [](const char* name, std::vector<std::int64_t> ids, auto values) {
    Columns columns{name, ids.size(), {}};
    columns.columns.push_back(dynasoar::make_column("id", ids));
    columns.columns.push_back(dynasoar::make_column("value_", values));
    return columns;
  };
  const Columns all =
      dynasoar::with_fields_of(table, {part("A", {5, 6}, std::vector<int>{1, 2}), part("C", {8}, std::vector<int>{4}),
                                       part("B", {7}, std::vector<float>{0.5f})});
  CHECK(all.names() == "id, class, value_, B.value_");
  CHECK(all["value_"].as<int>() == std::vector<int>{1, 2, 0, 4});
  CHECK(all["B.value_"].as<float>() == std::vector<float>{0, 0, 0.5f, 0});
  CHECK_THROWS_WITH_AS(dynasoar::with_fields_of(table, {part("B", {7, 9}, std::vector<int>{1, 2})}),
                       "dynasoar: 2 objects of B are not among the rows of Base", std::invalid_argument);
}

TEST_CASE("objects keep their order and their ids while others come and go") {
  World world;
  const Columns before = world.handle.columns<Fish>();
  world.handle.parallel_do<&Fish::die_if_odd>();
  const Columns after = world.handle.columns<Fish>();
  CHECK(after.rows == kFish / 2);
  std::vector<std::uint64_t> even, ids;
  for (std::size_t row = 0; row < before.rows; ++row) {
    const auto number = before["number_"].as<std::uint64_t>()[row];
    if (number % 2 == 0) even.push_back(number), ids.push_back(before["id"].as<std::uint64_t>()[row]);
  }
  CHECK(after["number_"].as<std::uint64_t>() == even);
  CHECK(after["id"].as<std::uint64_t>() == ids);
}

TEST_CASE("columns of no objects have names and no rows") {
  Handle handle({.heap_bytes = 1 << 20});
  const Columns fish = handle.columns<Fish>();
  CHECK(fish.rows == 0);
  CHECK(fish.columns.size() == 20);
  CHECK(fish["number_"].as<int>().empty());
}

TEST_CASE("a run whose columns are read is bit for bit the one without") {
  const TestFolder folder;
  std::vector<std::uint64_t> expected;
  for (const bool reads : {false, true}) {
    World world(1);
    // From one file, because each heap of a checked build counts its slots' generations from a number of its own.
    if (!reads) world.handle.save(folder / "start");
    world.handle.load(folder / "start");
    for (std::uint64_t step = 0; step < 20; ++step) {
      world.handle.parallel_do<&Fish::breed_and_die>(step);
      if (reads) CHECK(world.handle.columns<Animal>().rows >= world.handle.columns<Fish>().rows);
      world.handle.parallel_do<&Shark::age>();
    }
    world.handle.save(folder / (reads ? "read" : "not read"));
    std::vector<std::uint64_t> numbers = world.handle.columns<Fish>()["number_"].as<std::uint64_t>();
    std::sort(numbers.begin(), numbers.end());
    if (!reads) expected = numbers;
    CHECK(numbers == expected);
  }
  // One thread allocates in one order; on a GPU, no two runs have their objects at the same places.
  if (!dynasoar::kCudaBackend) CHECK(contents_of(folder / "read") == contents_of(folder / "not read"));
}

TEST_CASE("columns may be read while lists are kept") {
  World world;
  world.handle.parallel_do<&Fish::die_if_odd>();
  const auto kept = world.handle.keep_lists();
  CHECK(world.handle.columns<Fish>().rows == kFish / 2);
}

TEST_CASE("columns are no part of a recorded step") {
  World world;
  CHECK_THROWS_WITH_AS(static_cast<void>(world.handle.record([&] { world.handle.columns<Fish>(); })()),
                       doctest::Contains("a recorded step cannot wait"), Error);
}

namespace aos {

class Node;
using Allocator = dynasoar::AosAllocator<dynasoar::ToolkitMalloc, Node>;
class Node : public dynasoar::SoaBase<Allocator> {
 public:
  DYNASOAR_FIELDS(Node, (number_, std::uint8_t), (parts_, std::array<std::int32_t, 2>), (me_, Node*),
                  (address_, std::uint64_t))
  __device__ explicit Node(std::size_t number)
      : number_(static_cast<std::uint8_t>(number)),
        me_(this),
        address_(reinterpret_cast<std::uint64_t>(this) & dynasoar::detail::kAddressMask) {
    parts_[0] = static_cast<int>(number);
    parts_[1] = -static_cast<int>(number);
  }
};

TEST_CASE("objects of other allocators have columns, too") {
  dynasoar::AllocatorHandle<Allocator> handle({.heap_bytes = 16 << 20});
  handle.parallel_new<Node>(100);
  const Columns nodes = handle.columns<Node>();
  CHECK(nodes.rows == 100);
  CHECK(nodes["me_"].as<std::int64_t>() == nodes["id"].as<std::int64_t>());
  CHECK(nodes["address_"].as<std::int64_t>() == nodes["id"].as<std::int64_t>());
  const auto parts = nodes["parts_"].as<int>();
  for (std::size_t row = 0; row < nodes.rows; ++row) {
    const int number = nodes["number_"].as<int>()[row];
    CHECK(parts[2 * row] == number);
    CHECK(parts[2 * row + 1] == -number);
  }
}

}  // namespace aos

TEST_CASE("rows are in the order of the heap, however many threads made and list the objects") {
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{64} << 20, .threads = 4});
  handle.parallel_new<Reef>(500'000);
  // Each time, the threads list the blocks in another order; on a busy machine, one thread may list them all.
  for (std::uint32_t round = 0; round < 30; ++round) {
    handle.parallel_do<Reef>([round] __device__(Reef * reef) {
      if (reef->number_ % 1000 == round) dynasoar::destroy(reef);
    });
    const auto ids = handle.columns<Reef>()["id"].as<std::int64_t>();
    CHECK(ids.size() == 500'000 - 500 * (round + 1));
    CHECK(std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) == ids.end());
  }
}

TEST_CASE("columns are found by name, and the error for an unknown name lists the names") {
  const Columns table = small_table();
  CHECK(table.names() == "big, a,b, small, class, pair");
  CHECK(table.find("small") == &table.columns[2]);
  CHECK(&table["small"] == &table.columns[2]);
  CHECK(table.find("Small") == nullptr);
  CHECK_THROWS_WITH_AS(table["Small"], "dynasoar: there is no column 'Small'; there are: big, a,b, small, class, pair",
                       std::out_of_range);
  CHECK(table["small"].component_name(0) == "small");
  CHECK(table["pair"].component_name(1) == "pair.1");
  CHECK(table["small"].size() == 3);
  CHECK(table["pair"].size() == 6);
}

template <class... Ts>
struct Numbers {
  template <class To>
  static void check_as(const Column& column) {
    CHECK(column.as<To>() == std::vector<To>{0, 1, 100});
  }
  template <class T>
  static void check_from(const Column& column) {
    (check_as<Ts>(column), ...);
    CHECK(column.type == dynasoar::column_type<T>());
    CHECK(column.size() == 3);
    CHECK(column.data.size() == 3 * sizeof(T));
    CHECK(dynasoar::size_of(column.type) == sizeof(T));
  }
  static void check() { (check_from<Ts>(dynasoar::make_column<Ts>("n", {0, 1, 100})), ...); }
};

TEST_CASE("numbers of every type can be read as every other") {
  Numbers<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
          std::uint64_t, float, double>::check();
  CHECK(dynasoar::make_column<std::int8_t>("n", {-1}).as<std::int64_t>() == std::vector<std::int64_t>{-1});
  CHECK(dynasoar::make_column<std::uint8_t>("n", {255}).as<std::int64_t>() == std::vector<std::int64_t>{255});
  CHECK(dynasoar::make_column<double>("n", {2.75}).as<int>() == std::vector<int>{2});
}

TEST_CASE("fields with one name and type but other components, or of an inherited name, have columns of their own") {
  Columns table{"Base", 2, {}};
  table.columns.push_back(dynasoar::make_column<std::int64_t>("id", {5, 6}));
  table.columns.push_back(dynasoar::make_column<std::uint8_t>("class", {0, 1}));
  table.columns.back().labels = {"A", "B"};
  const auto part = [](const char* name, std::int64_t id, const char* field, auto values) {
    Columns columns{name, 1, {}};
    columns.columns.push_back(dynasoar::make_column<std::int64_t>("id", {id}));
    columns.columns.push_back(dynasoar::make_column(field, values));
    columns.columns.back().components = values.size();
    return columns;
  };
  const Columns all = dynasoar::with_fields_of(
      table, {part("A", 5, "at_", std::vector<int>{1, 2}), part("B", 6, "at_", std::vector<int>{3})});
  CHECK(all.names() == "id, class, at_, B.at_");
  CHECK(all["at_"].as<int>() == std::vector<int>{1, 2, 0, 0});
  CHECK(all["B.at_"].as<int>() == std::vector<int>{0, 3});
  const Columns inherited = dynasoar::with_fields_of(table, {part("B", 6, "id", std::vector<std::int64_t>{7})});
  CHECK(inherited.names() == "id, class, B.id");
  CHECK(inherited["id"].as<int>() == std::vector<int>{5, 6});
}

TEST_CASE("other programs: files for them" * doctest::skip()) {
  const char* const folder = std::getenv("DYNASOAR_COLUMNS");
  REQUIRE(folder != nullptr);
  World world;
  world.handle.parallel_do<&Fish::die_if_odd>();
  const Columns fish = world.handle.columns<Fish>();
  const Columns animals = world.handle.columns<Animal>();
  const Columns reefs = world.handle.columns<Reef>();
  world.handle.parallel_do<Animal>([] __device__(Animal * animal) { dynasoar::destroy(animal); });
  const Columns none = world.handle.columns<Fish>();
  const dynasoar::VtpOptions options{.x = "position_.x", .y = "position_.y", .z = "", .time = 2.5};
  for (const auto& [name, table] :
       {std::pair("fish", &fish), {"animals", &animals}, {"reefs", &reefs}, {"none", &none}}) {
    const std::string path = std::string(folder) + '/' + name;
    dynasoar::write_csv(path + ".csv", *table);
    if (table != &reefs) dynasoar::write_vtp(path + ".vtp", *table, options);
    if (dynasoar::detail::kHasHdf5) dynasoar::write_hdf5(path + ".h5", *table, 17);
  }
}

}  // namespace columns_test
