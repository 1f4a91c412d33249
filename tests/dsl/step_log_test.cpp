// StepLog: rows of totals, without waiting.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/platform/recording.h>
#include <dynasoar/step_log.h>

#include "../platform/foreign_locale.h"
#include "../platform/test_support.h"
#include "layouts.h"
#include "record_and_run.h"
#include "test_folder.h"

namespace step_log_test {

using namespace dynasoar;
using namespace dynasoar::test;
using dynasoar::LogRow;
using dynasoar::LogValue;
namespace totals = dynasoar::totals;

/// People with jobs and without, and what they own.
template <class Layout>
struct World {
  class Person;
  class Worker;
  class Tree;
  class Oak;
  class Farm;
  using AllocatorT = typename Layout::template Allocator<Person, Worker, Tree, Oak, Farm>;

  class Person : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Person, (number_, std::uint64_t), (age_, std::int16_t), (height_, float), (debt_, std::int64_t),
                    (hits_, dynasoar::AtomicWord<std::uint64_t>), (is_ill_, bool))

    __device__ explicit Person(std::size_t number)
        : number_(number),
          age_(static_cast<std::int16_t>(number % 103)),
          height_(static_cast<float>(number) * 0.25f),
          debt_(-static_cast<std::int64_t>(number)),
          is_ill_(number % 7 == 0) {
      hits_->store(number * 10, dynasoar::Order::relaxed);
    }
    __device__ bool is_odd() { return number_ % 2 == 1; }
    __device__ std::uint64_t square() { return number_ * number_; }
    __device__ void get_older() { age_ += 1; }
    __device__ void die_if_odd() {
      if (is_odd()) dynasoar::destroy(this);
    }
    __device__ void multiply() { dynasoar::make_new<Person>(static_cast<std::size_t>(number_)); }
  };

  class Worker : public Person {
   public:
    using BaseClass = Person;
    DYNASOAR_FIELDS(Worker, (wage_, double))
    __device__ explicit Worker(std::size_t number) : Person(number), wage_(1.0 / static_cast<double>(number + 1)) {}
  };

  class Tree : public dynasoar::SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    DYNASOAR_FIELDS(Tree, (rings_, std::uint32_t))
    __device__ explicit Tree(std::uint32_t rings) : rings_(rings) {}
    __device__ void fall_if_thin() {
      if (rings_ % 2 == 0) dynasoar::destroy(this);
    }
  };

  class Oak : public Tree {
   public:
    using BaseClass = Tree;
    DYNASOAR_FIELDS(Oak, (height_, float))
    __device__ explicit Oak(std::uint32_t rings) : Tree(rings), height_(0.5f) {}
  };

  class Farm : public dynasoar::SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    static constexpr bool kAtEveryPlace = true;
    DYNASOAR_FIELDS(Farm, (size_, std::uint32_t))
    __device__ Farm() : size_(7u) {}
  };
};

struct SquareRoot {
  template <class T>
  __device__ double operator()(T* person) const {
    return sqrt(static_cast<double>(std::uint64_t{person->number_}));
  }
};
struct NumberOf {
  template <class T>
  __device__ std::uint64_t operator()(T* person) const {
    return person->number_;
  }
};

// The cell of a row, which is of this type.
template <class T>
T cell(const LogRow& row, std::size_t column) {
  return std::get<T>(row.values.at(column));
}
std::uint64_t whole(const LogRow& row, std::size_t column) {
  return cell<std::uint64_t>(row, column);
}

bool is_nothing(const LogRow& row, std::size_t column) {
  return std::holds_alternative<std::monostate>(row.values.at(column));
}

constexpr std::uint64_t sum_to(std::uint64_t count) {
  return count * (count - 1) / 2;
}

TEST_CASE_TEMPLATE("a row has totals of all kinds of a class and its subclasses", Layout, InArrays, InOnePiece) {
  using W = World<Layout>;
  using Person = typename W::Person;
  using Worker = typename W::Worker;
  for (const int threads : {1, 3}) {
    AllocatorHandle<typename W::AllocatorT> handle({.heap_bytes = 16 << 20, .threads = threads});
    StepLog log(handle);
    log.template add<Person>(totals::count("people"), totals::count_if<&Person::is_odd>("odd"),
                             totals::count_if<&Person::is_ill_>("ill"), totals::sum<&Person::number_>("numbers"),
                             totals::sum<&Person::debt_>("debt"), totals::sum<&Person::hits_>("hits"),
                             totals::sum<&Person::height_>("heights"), totals::sum<&Person::square>("squares"),
                             totals::minimum<&Person::age_>("youngest"), totals::maximum<&Person::age_>("oldest"),
                             totals::maximum<&Person::height_>("tallest"), totals::mean<&Person::number_>("mean"),
                             totals::sum<std::uint64_t>("numbers again", NumberOf{}),
                             totals::reduce("largest root", 0.0, Greatest{}, SquareRoot{}));
    log.template add<Worker>(
        totals::count("workers"), totals::minimum<double>("least root", SquareRoot{}),
        totals::count_if("even", [] __device__(Person * person) -> bool { return !person->is_odd(); }));
    constexpr std::size_t kPeople = 5000, kWorkers = 3000;
    log.record();
    handle.template parallel_new<Person>(kPeople);
    handle.template parallel_new<Worker>(kWorkers);
    log.record();
    handle.template parallel_do<Person, &Person::die_if_odd>();
    log.record();
    const std::vector<LogRow>& rows = log.rows();
    CHECK(log.names().size() == 17);
    CHECK(log.names()[12] == "numbers again");
    REQUIRE(rows.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      const LogRow& row = rows[i];
      REQUIRE(row.values.size() == log.names().size());
      CHECK(row.step == i);
      // People 0, s, 2s, ..., and workers likewise
      std::uint64_t people = 0, odd = 0, ill = 0, numbers = 0, squares = 0;
      std::int64_t least = 1000, most = -1;
      for (const std::size_t count : {kPeople, kWorkers}) {
        for (std::size_t n = 0; i > 0 && n < count; n += i == 1 ? 1 : 2) {
          ++people;
          odd += n % 2;
          ill += n % 7 == 0;
          numbers += n;
          squares += n * n;
          least = std::min<std::int64_t>(least, n % 103);
          most = std::max<std::int64_t>(most, n % 103);
        }
      }
      CHECK(whole(row, 0) == people);
      CHECK(whole(row, 1) == odd);
      CHECK(whole(row, 2) == ill);
      CHECK(whole(row, 3) == numbers);
      CHECK(cell<std::int64_t>(row, 4) == -static_cast<std::int64_t>(numbers));
      CHECK(whole(row, 5) == 10 * numbers);
      CHECK(cell<double>(row, 6) == 0.25 * static_cast<double>(numbers));
      CHECK(whole(row, 7) == squares);
      CHECK(whole(row, 12) == numbers);
      if (i == 0) {
        for (const std::size_t column : {8, 9, 10, 11, 15}) CHECK(is_nothing(row, column));
        CHECK(cell<double>(row, 13) == 0);
        continue;
      }
      CHECK(cell<std::int64_t>(row, 8) == least);
      CHECK(cell<std::int64_t>(row, 9) == most);
      CHECK(cell<double>(row, 10) == 0.25 * (i == 1 ? kPeople - 1 : kPeople - 2));
      CHECK(cell<double>(row, 11) == static_cast<double>(numbers) / static_cast<double>(people));
      CHECK(cell<double>(row, 13) == doctest::Approx(std::sqrt(i == 1 ? kPeople - 1.0 : kPeople - 2.0)));
      CHECK(whole(row, 14) == (i == 1 ? kWorkers : kWorkers / 2));
      CHECK(cell<double>(row, 15) == 0);
      CHECK(whole(row, 16) == kWorkers / 2);
    }
  }
}

using W = World<InArrays>;
using Person = W::Person;
using Worker = W::Worker;
using Handle = AllocatorHandle<W::AllocatorT>;
using Log = StepLog<W::AllocatorT>;

TEST_CASE_TEMPLATE("totals of placed classes", Layout, InArrays, InOnePiece) {
  using P = World<Layout>;
  using TreeT = typename P::Tree;  // a base class, which has no objects of its own
  using OakT = typename P::Oak;
  using FarmT = typename P::Farm;
  AllocatorHandle<typename P::AllocatorT> handle({.heap_bytes = 8 << 20});
  StepLog log(handle);
  log.template add<TreeT>(totals::count("trees"), totals::sum<&TreeT::rings_>("rings"),
                          totals::histogram<&TreeT::rings_>("r", 0, 4000, 2));
  log.template add<OakT>(totals::count("oaks"), totals::sum<&OakT::height_>("heights"));
  log.template add<FarmT>(totals::count("farms"), totals::maximum<&FarmT::size_>("largest"));
  CHECK_THROWS_WITH_AS(log.record(), doctest::Contains("there is no lattice for objects of"), Error);
  Lattice<OakT> land(handle, {100, 50});
  Lattice<FarmT> farms(handle, {30, 20});
  log.record();
  land.parallel_for([] __device__(Place place) {
    const auto number = static_cast<std::uint32_t>(lattice_of<OakT>().number(place));
    if (number % 3 == 0) make_new_at<OakT>(place, number);
  });
  log.record();
  auto step = handle.record([&] {
    handle.template parallel_do<TreeT, &TreeT::fall_if_thin>();
    log.record();
  });
  step();
  const auto& rows = log.rows();
  REQUIRE(rows.size() == 3);
  std::uint64_t count[3] = {}, rings[3] = {}, thin[3] = {};
  for (std::uint64_t n = 0; n < 5000; n += 3) {
    for (std::size_t i = 1; i <= (n % 2 == 0 ? 1u : 2u); ++i) {
      ++count[i];
      rings[i] += n;
      thin[i] += n < 2000;
    }
  }
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(whole(rows[i], 0) == count[i]);
    CHECK(whole(rows[i], 1) == rings[i]);
    CHECK(whole(rows[i], 2) == thin[i]);
    CHECK(whole(rows[i], 4) == count[i]);
    CHECK(cell<double>(rows[i], 5) == 0.5 * static_cast<double>(count[i]));
    CHECK(whole(rows[i], 6) == 600);
    CHECK(whole(rows[i], 7) == 7);
  }
}

TEST_CASE("histograms count each object in the bin of its value") {
  Handle handle({.heap_bytes = 8 << 20});
  Log log(handle);
  log.add<Person>(totals::histogram<&Person::age_>("age", 0, 100, 10), totals::count("all"),
                  totals::histogram<&Person::age_>("group", {-1, 0, 18, 65, 1e5}),
                  totals::histogram<double>("root", 0, 0.3, 3, [] __device__(Person * person) -> double {
                    return person->number_ == 7 ? NAN : 0.1 * static_cast<double>(person->number_ % 5);
                  }));
  CHECK(log.names() ==
        std::vector<std::string>{"age_0_10", "age_10_20", "age_20_30", "age_30_40", "age_40_50", "age_50_60",
                                 "age_60_70", "age_70_80", "age_80_90", "age_90_100", "all", "group_-1_0", "group_0_18",
                                 "group_18_65", "group_65_1e+05", "root_0_0.09999999999999999",
                                 "root_0.09999999999999999_0.19999999999999998", "root_0.19999999999999998_0.3"});
  handle.parallel_new<Person>(103 * 50);
  log.record();
  log.record();
  handle.parallel_do<Person, &Person::get_older>();
  log.record();
  const auto& rows = log.rows();
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    // Ages 0 to 102, and 1 to 103; 100 is in the last bin, and older people are in none.
    const std::uint64_t first = i < 2 ? 10 : 9;
    CHECK(whole(rows[i], 0) == 50 * first);
    for (std::size_t bin = 1; bin < 9; ++bin) CHECK(whole(rows[i], bin) == 50 * 10);
    CHECK(whole(rows[i], 9) == 50 * 11);
    CHECK(whole(rows[i], 10) == 50 * 103);
    CHECK(whole(rows[i], 11) == 0);
    CHECK(whole(rows[i], 12) == 50 * (i < 2 ? 18 : 17));
    CHECK(whole(rows[i], 13) == 50 * 47);
    CHECK(whole(rows[i], 14) == 50 * (i < 2 ? 38 : 39));
    CHECK(whole(rows[i], 15) + whole(rows[i], 16) + whole(rows[i], 17) <= 50 * 103 * 4 / 5);
  }
}

TEST_CASE("rows are the same for any number of threads, and fixed-point sums to the last bit") {
  const auto rows_with = [](int threads) {
    Handle handle({.heap_bytes = 16 << 20, .threads = threads});
    Log log(handle);
    log.add<Worker>(totals::sum<&Worker::number_>("n"), totals::fixed_point_sum<&Worker::wage_>("w", 1e-12),
                    totals::mean<&Worker::age_>("a"), totals::histogram<&Worker::wage_>("h", {0, 0.1, 0.5, 1}));
    handle.parallel_new<Worker>(20'000);
    for (int step = 0; step < 3; ++step) {
      log.record();
      handle.parallel_do<Worker, &Person::get_older>();
    }
    return log.take_rows();
  };
  const std::vector<LogRow> expected = rows_with(1);
  double sum = 0;
  for (int n = 0; n < 20'000; ++n) sum += std::round(1e12 / (n + 1));
  REQUIRE(expected.size() == 3);
  CHECK(cell<double>(expected[0], 1) == doctest::Approx(sum * 1e-12).epsilon(1e-12));
  for (const int threads : {2, 5}) {
    const std::vector<LogRow> rows = rows_with(threads);
    for (std::size_t i = 0; i < 3; ++i) CHECK(rows.at(i).values == expected[i].values);
  }
}

TEST_CASE("numbers that are not finite") {
  Handle handle({.heap_bytes = 8 << 20});
  Log log(handle);
  // Of person 0, 1, 2: the value that a table has for it.
  DeviceArray<double> table(3);
  const double* const values = table.data();
  const auto value_of = [=] __device__(Person * person) -> double { return values[person->number_]; };
  log.add<Person>(totals::sum<double>("sum", value_of), totals::minimum<double>("least", value_of),
                  totals::maximum<double>("most", value_of), totals::mean<double>("mean", value_of),
                  totals::fixed_point_sum<double>("fixed", 0.5, value_of),
                  totals::histogram<double>("h", {-1, 0, 1}, value_of));
  handle.parallel_new<Person>(3);
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& numbers :
       {std::vector<double>{kNaN, 1, 2}, {1, kNaN, 2}, {-1, 2, kNaN}, {kInf, 1, 1}, {1, -kInf, 1}, {1e30, 1, 1}}) {
    table.upload(numbers);
    log.record();
  }
  const auto& rows = log.rows();
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t column = 0; column < 5; ++column) CHECK(std::isnan(cell<double>(rows[i], column)));
  }
  CHECK(whole(rows[2], 5) == 1);
  CHECK(cell<double>(rows[3], 0) == kInf);
  CHECK(cell<double>(rows[3], 1) == 1);
  CHECK(cell<double>(rows[3], 2) == kInf);
  CHECK(cell<double>(rows[4], 1) == -kInf);
  CHECK(cell<double>(rows[5], 2) == 1e30);
  for (std::size_t i = 3; i < 6; ++i) CHECK(std::isnan(cell<double>(rows[i], 4)));
  CHECK(whole(rows[3], 6) == 2);
}

TEST_CASE("whether a fixed-point sum is too large does not depend on the order") {
  constexpr std::size_t kPeople = 600;
  Handle handle({.heap_bytes = 8 << 20, .threads = 1});
  Log log(handle);
  DeviceArray<double> table(kPeople);
  const double* const values = table.data();
  log.add<Person>(totals::fixed_point_sum<double>(
      "sum", 1, [=] __device__(Person * person) -> double { return values[person->number_]; }));
  handle.parallel_new<Person>(kPeople);
  // As double, the large number plus 1 is the large number, but plus 300 it is 2^62. The sums are 2^62 - 212 and 2^62.
  const double large = std::ldexp(1.0, 62) - 512;
  for (const std::size_t ones : {300, 512}) {
    for (const std::size_t at : {std::size_t{0}, kPeople / 2, kPeople - 1}) {
      std::vector<double> numbers(kPeople, 0.0);
      for (std::size_t i = 0, n = 0; n < ones; ++i) {
        if (i != at) numbers[i] = (++n % 2 == 0) ? 1 : -1;  // magnitudes add up
      }
      numbers[at] = large;
      table.upload(numbers);
      log.record();
    }
  }
  const auto& rows = log.rows();
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(i);
    CHECK(cell<double>(rows[i], 0) == large);
    CHECK(std::isnan(cell<double>(rows[3 + i], 0)));
  }
}

TEST_CASE("a graph of the program's own adds rows, whatever was recorded before it") {
  if (kCudaBackend && W::AllocatorT::kFindsMisuse) return;  // loops of checked builds are not recorded
  Handle handle({.heap_bytes = 8 << 20});
  handle.parallel_new<Person>(300);
  Log log(handle);
  log.add<Person>(totals::count("people"));
  auto submit = [&] { log.record(); };
  for (int i = 0; i < 300; ++i) submit();
  for (int i = 0; i < 300; ++i) {
    const dynasoar::detail::Recording own(handle.executor(), submit);
    own.replay();
    if (i % 100 == 0) log.rows();
  }
  const auto& rows = log.rows();
  CHECK(rows.size() == 600);
  CHECK(rows.back().step == 599);
  CHECK(whole(rows.back(), 0) == 300);
}

/// A log with a part that cannot be read at first.
class LogThatFails : public dynasoar::detail::LogRows {
 public:
  explicit LogThatFails(Handle& handle) : LogRows(handle.executor(), handle.loops().attachments()) {
    LogRows::add({"nothing"}, {false}, std::make_unique<Part>(), 16);
  }
  void record() {
    begin_row();
    executor().for_each_index(1, dynasoar::detail::CloseRow{target()});
  }

 private:
  class Part final : public dynasoar::detail::LoggedTotals {
   public:
    void submit(const dynasoar::detail::LogTarget&) override {}
    void read(const char*, std::vector<LogValue>& cells) const override {
      if (++reads_ == 3) throw std::bad_alloc();
      cells.emplace_back();
    }

   private:
    mutable int reads_ = 0;
  };
};

TEST_CASE("rows that could not be converted are still there") {
  Handle handle({.heap_bytes = 8 << 20});
  LogThatFails log(handle);
  for (int i = 0; i < 5; ++i) log.record();
  CHECK_THROWS_AS(log.rows(), std::bad_alloc);
  log.record();
  const auto& rows = log.rows();
  REQUIRE(rows.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) CHECK(rows[i].step == i);
}

#if !DYNASOAR_CUDA_BACKEND  // device code does not throw
TEST_CASE("a row that failed leaves nothing in the next one") {
  Handle handle({.heap_bytes = 8 << 20, .threads = 1});
  Log log(handle);
  bool fails = true;
  log.add<Person>(totals::histogram<&Person::age_>("age", {0, 1000}), totals::count("all"),
                  totals::sum<double>("sum", [&fails](Person* person) -> double {
                    if (fails && person->number_ == 99) throw std::runtime_error("no");
                    return 1;
                  }));
  handle.parallel_new<Person>(100);
  CHECK_THROWS_WITH_AS(log.record(), "no", std::runtime_error);
  fails = false;
  log.record();
  const auto& rows = log.rows();
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].step == 0);
  CHECK(whole(rows[0], 0) == 100);
  CHECK(whole(rows[0], 1) == 100);
  CHECK(cell<double>(rows[0], 2) == 100);
}
#endif

TEST_CASE("no row of a long run is lost, in recorded steps or without, and rows are counted on the device") {
  Handle handle({.heap_bytes = 8 << 20});
  handle.parallel_new<Person>(300);
  Log log(handle), other(handle);
  log.add<Person>(totals::count("people"), totals::sum<&Person::age_>("ages"));
  other.add<Person>(totals::maximum<&Person::age_>("oldest"));
  StepValue<std::uint32_t> now(handle.executor(), 100);
  auto step = handle.record([&] {
    handle.parallel_do<Person, &Person::get_older>();
    log.record();
    now.add(2);
    other.record(now.view());
    log.record();
  });
  auto without = handle.record([&] { handle.parallel_do<Person, &Person::get_older>(); });
  constexpr std::size_t kSteps = 700;
  std::int64_t ages = 0;
  for (std::int64_t n = 0; n < 300; ++n) ages += n % 103;
  for (std::size_t i = 0; i < kSteps; ++i) {
    step();
    without();
    if (i % 100 == 0) log.record();
    if (i == 333) CHECK(other.take_rows().size() == 334);
  }
  std::vector<LogRow> rows = log.take_rows();
  REQUIRE(rows.size() == 2 * kSteps + kSteps / 100);
  CHECK(log.rows().empty());
  std::size_t r = 0;
  for (std::size_t i = 0; i < kSteps; ++i) {
    for (std::size_t k = 0; k < (i % 100 == 0 ? 3u : 2u); ++k, ++r) {
      const bool in_step = k < 2;
      if (rows[r].step == r && whole(rows[r], 0) == 300 &&
          cell<std::int64_t>(rows[r], 1) == ages + 300 * static_cast<std::int64_t>(2 * i + (in_step ? 1 : 2))) {
        continue;
      }
      FAIL_CHECK("row " << r << " of step " << i);
    }
  }
  rows = other.take_rows();
  REQUIRE(rows.size() == kSteps - 334);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(rows[i].step == 102 + 2 * (334 + i));
}

TEST_CASE("rows are complete while the heap grows, and where objects are refused") {
  Handle handle({.heap_bytes = 1 << 20, .heap_limit_bytes = 64 << 20});
  Log log(handle);
  log.add<Person>(totals::count("people"), totals::sum<&Person::number_>("numbers"),
                  totals::histogram<&Person::number_>("n", 0, 10, 5));
  handle.parallel_new<Person>(10);
  auto step = handle.record([&] {
    handle.parallel_do<Person, &Person::multiply>();
    log.record();
  });
  for (int i = 0; i < 15; ++i) {
    step();
    try {
      handle.synchronize();
    } catch (const AllocationError&) {
      // There is room for them the next time.
    }
  }
  CHECK(handle.statistics().growths > 0);
  const std::uint64_t people = handle.count<Person>();
  CHECK(people > 10'000);
  const LogRow& last = log.rows().back();
  CHECK(log.rows().size() == 15);
  CHECK(whole(last, 0) == people);
  std::uint64_t in_bins = 0;
  for (std::size_t i = 2; i < 7; ++i) in_bins += whole(last, i);
  CHECK(in_bins == people);
  CHECK(whole(last, 1) == handle.sum<&Person::number_>());
}

TEST_CASE("names that a table cannot have are refused, and nothing is added") {
  Handle handle({.heap_bytes = 8 << 20});
  Log log(handle);
  CHECK_THROWS_WITH_AS(log.record(), doctest::Contains("without totals"), Error);
  log.add<Person>(totals::count("a"), totals::count("b, \"c\" 'd'"));
  const auto refused = [&](const std::string& name, const char* message) {
    CAPTURE(name);
    CHECK_THROWS_WITH_AS(log.add<Person>(totals::count("fresh"), totals::count(name)), doctest::Contains(message),
                         Error);
    CHECK(log.names().size() == 2);
  };
  refused("", "has no name");
  refused("a", "two columns called \"a\"");
  refused("fresh", "two columns called \"fresh\"");
  refused("step", "the first column has this name");
  refused("x\ny", "line break");
  refused("x\ty", "control character");
  CHECK_THROWS_WITH_AS(totals::histogram<&Person::age_>("", 0, 1, 1), doctest::Contains("has no name"), Error);
  CHECK_THROWS_WITH_AS(totals::histogram<&Person::age_>("h", 0, 1, 0), doctest::Contains("1 to 1024 bins, not 0"),
                       Error);
  CHECK_THROWS_WITH_AS(totals::histogram<&Person::age_>("h", 0, 1, 1025), doctest::Contains("not 1025 bins"), Error);
  CHECK_THROWS_WITH_AS(totals::histogram<&Person::age_>("h", 1, 1, 3), doctest::Contains("to a greater one"), Error);
  CHECK_THROWS_WITH_AS(totals::histogram<&Person::age_>("h", 0, NAN, 3), doctest::Contains("not 3 bins from 0 to nan"),
                       Error);
  CHECK_THROWS_WITH_AS(totals::histogram<&Person::age_>("h", 1, 1 + 1e-15, 100), doctest::Contains("greater than"),
                       Error);
  CHECK_THROWS_WITH_AS(totals::histogram<&Person::age_>("h", {1}), doctest::Contains("2 to 1025 edges, not 1"), Error);
  CHECK_THROWS_WITH_AS(totals::histogram<&Person::age_>("h", {1, 3, 2}), doctest::Contains("not 3, 2"), Error);
  for (const double unit : {0.0, -1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    CHECK_THROWS_WITH_AS(totals::fixed_point_sum<&Person::height_>("s", unit), doctest::Contains("must be above 0"),
                         Error);
  }
  log.record();
  CHECK_THROWS_WITH_AS(log.add<Person>(totals::count("late")), doctest::Contains("before its first row"), Error);
  CHECK(log.rows().size() == 1);
}

TEST_CASE("a recorded step neither waits for rows nor makes a log") {
  Handle handle({.heap_bytes = 8 << 20});
  Log log(handle);
  log.add<Person>(totals::count("people"));
  const auto refused = [&](auto function) { CHECK_THROWS_AS(record_and_run(handle, function), Error); };
  refused([&] { log.rows(); });
  refused([&] { log.write("never.csv"); });
  refused([&] { Log another(handle); });
  refused([&] { log.add<Person>(totals::count("more")); });
  log.record();
  CHECK(log.names().size() == 1);
  CHECK(log.rows().size() == 1);
}

// For other programs, to the folder DYNASOAR_STEP_LOG.
void write_files(const std::string& folder) {
  Handle handle({.heap_bytes = 8 << 20});
  Log log(handle);
  log.add<Person>(totals::count("people"), totals::sum<&Person::debt_>("debt, \"all\" of it"),
                  totals::maximum<&Person::hits_>("most"), totals::mean<&Person::height_>(" mean\\height "),
                  totals::sum<double>("infinite", [] __device__(Person*) -> double { return INFINITY; }),
                  totals::histogram<&Person::age_>("age", 0, 100, 4));
  log.record();
  handle.parallel_for(2, [] __device__(std::size_t i) { make_new<Person>(i + (std::size_t{1} << 60)); });
  log.record();
  log.write(folder + "log.csv");
  log.write(folder + "log.jsonl");
}

TEST_CASE("rows as CSV and as JSON lines") {
  const TestFolder folder;
  const ForeignLocale locale;  // on which files do not depend
  write_files(folder / "");
  CHECK(contents_of(folder / "log.csv") ==
        "step,people,\"debt, \"\"all\"\" of it\",most, mean\\height ,infinite,age_0_25,age_25_50,age_50_75,age_75_100\n"
        "0,0,0,,,0,0,0,0,0\n"
        "1,2,-2305843009213693953,11529215046068469770,288230376151711744,inf,0,0,0,1\n");
  CHECK(
      contents_of(folder / "log.jsonl") ==
      "{\"step\": 0, \"people\": 0, \"debt, \\\"all\\\" of it\": 0, \"most\": null, \" mean\\\\height \": null, "
      "\"infinite\": 0, \"age_0_25\": 0, \"age_25_50\": 0, \"age_50_75\": 0, \"age_75_100\": 0}\n"
      "{\"step\": 1, \"people\": 2, \"debt, \\\"all\\\" of it\": -2305843009213693953, \"most\": 11529215046068469770, "
      "\" mean\\\\height \": 288230376151711744, \"infinite\": null, \"age_0_25\": 0, \"age_25_50\": 0, \"age_50_75\": "
      "0, "
      "\"age_75_100\": 1}\n");
}

TEST_CASE("other programs: files for them" * doctest::skip()) {
  write_files(std::string(std::getenv("DYNASOAR_STEP_LOG")) + '/');
}

TEST_CASE("a file that cannot be written is an error, and the rows are still there") {
  const TestFolder folder;
  Handle handle({.heap_bytes = 8 << 20});
  Log log(handle);
  log.add<Person>(totals::count("people"));
  log.record();
  CHECK_THROWS_WITH_AS(log.write(folder / "log.txt"), doctest::Contains("must end in .csv or .jsonl"), Error);
  CHECK_THROWS_AS(log.write(folder / "missing/log.csv"), Error);
  CHECK(log.rows().size() == 1);
  log.write(folder / "log.csv");
  CHECK(contents_of(folder / "log.csv") == "step,people\n0,0\n");
}

}  // namespace step_log_test
