// StepLog: what the totals of a row are.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/step_log.h>

#include "../platform/test_support.h"
#include "layouts.h"
#include "step_log_world.h"

namespace step_log_test {

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

bool is_nothing(const LogRow& row, std::size_t column) {
  return std::holds_alternative<std::monostate>(row.values.at(column));
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
                                 "group_18_65", "group_65_100000", "root_0_0.09999999999999999",
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

}  // namespace step_log_test
