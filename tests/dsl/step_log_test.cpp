// StepLog: rows are complete, without waiting, and can be written to files.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/platform/recording.h>
#include <dynasoar/step_log.h>

#include "../platform/foreign_locale.h"
#include "../platform/test_support.h"
#include "record_and_run.h"
#include "step_log_world.h"
#include "test_folder.h"

namespace step_log_test {

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

TEST_CASE("the names of a histogram's columns have its edges, and whole numbers without an exponent") {
  Handle handle({.heap_bytes = 8 << 20});
  Log log(handle);
  log.add<Person>(totals::histogram<&Person::age_>("age", {-1e-3, 0, 1e5, 2.5e6, 1e16}));
  CHECK(log.names() ==
        std::vector<std::string>{"age_-0.001_0", "age_0_100000", "age_100000_2500000", "age_2500000_1e+16"});
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
