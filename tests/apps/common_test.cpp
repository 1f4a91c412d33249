/// @file
/// What the programs share: numbers for people, sizes on the command line, logs, options in checkpoints, the summary.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <app/picture.h>
#include <app/text.h>
#include <dynasoar/platform/error.h>
#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>
#include <dynasoar/program/program.h>
#include <dynasoar/program/simulation.h>
#include <interrupt.h>
#include <program/log_file.h>
#include <program/option_values.h>
#include <program/run.h>
#include <program/summary.h>

#include "../dsl/test_folder.h"
#include "../platform/foreign_locale.h"

TEST_CASE("numbers are grouped in thousands") {
  CHECK(app::grouped(0) == "0");
  CHECK(app::grouped(999) == "999");
  CHECK(app::grouped(1000) == "1,000");
  CHECK(app::grouped(1234567) == "1,234,567");
}

TEST_CASE("numbers change their form exactly where their digits would") {
  CHECK(app::si(0) == "0");
  CHECK(app::si(1) == "1.00");
  CHECK(app::si(0.1234) == "0.123");
  CHECK(app::si(9.994) == "9.99");
  CHECK(app::si(9.995) == "10.0");
  CHECK(app::si(99.94) == "99.9");
  CHECK(app::si(99.95) == "100");
  CHECK(app::si(999.4) == "999");
  CHECK(app::si(999.5) == "1.00 k");
  CHECK(app::si(12345678) == "12.3 M");
  CHECK(app::si(999999999) == "1.00 G");
  CHECK(app::si(1e12) == "1.00 T");
  CHECK(app::si(1e15) == "1.00 P");
  CHECK(app::si(1e18) == "1000 P");
  CHECK(app::si(std::nan("")) == "-");
  CHECK(app::bytes(0) == "0 B");
  CHECK(app::bytes(1023) == "1023 B");
  CHECK(app::bytes(1024) == "1.00 KiB");
  CHECK(app::bytes(1048063) == "1023 KiB");
  CHECK(app::bytes(1048064) == "1.00 MiB");
  CHECK(app::bytes(std::uint64_t{1} << 30) == "1.00 GiB");
  CHECK(app::bytes(std::uint64_t{1} << 40) == "1.00 TiB");
  CHECK(app::bytes(std::uint64_t{1} << 50) == "1.00 PiB");
  CHECK(app::bytes(~std::uint64_t{0}) == "16.0 EiB");
  CHECK(app::percent(0) == "0.0%");
  CHECK(app::percent(0.1234) == "12.3%");
  CHECK(app::counted(0, "step", "steps") == "0 steps");
  CHECK(app::counted(1, "step", "steps") == "1 step");
  CHECK(app::counted(1000, "step", "steps") == "1,000 steps");
}

TEST_CASE("times change their unit exactly where they would round to it") {
  CHECK(app::duration(-1e-9) == "-");
  CHECK(app::duration(std::nan("")) == "-");
  CHECK(app::duration(0) == "0 s");
  CHECK(app::duration(5e-7) == "0.5 µs");
  CHECK(app::duration(0.9994e-3) == "999 µs");
  CHECK(app::duration(0.9995e-3) == "1.00 ms");
  CHECK(app::duration(0.9994) == "999 ms");
  CHECK(app::duration(0.9995) == "1.00 s");
  CHECK(app::duration(59.94) == "59.9 s");
  CHECK(app::duration(59.95) == "1 min 0 s");
  CHECK(app::duration(3599.4) == "59 min 59 s");
  CHECK(app::duration(3599.5) == "1 h 0 min");
  CHECK(app::duration(7325) == "2 h 2 min");
}

TEST_CASE("sizes are numbers with an optional unit") {
  CHECK(app::parse_size("0") == std::uint64_t{0});
  CHECK(app::parse_size("12B") == std::uint64_t{12});
  CHECK(app::parse_size("3KiB") == std::uint64_t{3072});
  CHECK(app::parse_size("3 MiB") == std::uint64_t{3} << 20);
  CHECK(app::parse_size("17179869183GiB") == std::uint64_t{17179869183} << 30);
  for (const char* wrong : {"", "MiB", "12XB", "-1", "1.5GiB", "12  MiB", "17179869184GiB", "1e3"}) {
    CAPTURE(wrong);
    CHECK_FALSE(app::parse_size(wrong).has_value());
  }
}

TEST_CASE("numbers are read in one way, whatever the locale") {
  {
    const dynasoar::test::ForeignLocale foreign;
    CHECK(app::number<double>("1234.5") == 1234.5);
    CHECK_FALSE(app::number<double>("1.234,5"));
  }
  CHECK(app::number<float>("+1.5e+2") == 150.0f);
  CHECK(app::number<int>("+7") == 7);
  CHECK(app::number<int>("-7") == -7);
  CHECK(app::number<std::uint8_t>("255") == 255);
  for (const char* text : {"", "+", "-", "+-7", "++7", "7 ", " 7", "0x7", "7a", "256", "-1", "nan", "inf"}) {
    CAPTURE(text);
    CHECK_FALSE(app::number<std::uint8_t>(text));
  }
  for (const char* text :
       {"nan", "inf", "-inf", "1e999", "-1e999", "1e39", "1e99999999999999999999", "1e", "1,5", "1.5f"}) {
    CAPTURE(text);
    CHECK_FALSE(app::number<float>(text));
  }
  const std::string tiny = "0." + std::string(400, '0') + "1";
  for (const std::string& text :
       {std::string("1e-50"), std::string("+9.9e-999"), std::string("1e-99999999999999999999"), tiny,
        std::string(500, '9') + "e-600", std::string("-1e-50")}) {
    CAPTURE(text);
    CHECK(app::number<float>(text) == 0.0f);
  }
  CHECK_FALSE(app::number<float>(tiny + "e500"));
  CHECK(app::number<double>("1e-50") == 1e-50);
}

TEST_CASE("text is read whatever its mark and line ends, and what is no text is named") {
  CHECK(app::plain_text("\xEF\xBB\xBF"
                        "a\r\nb\rc\n\r\n",
                        "f") == "a\nb\nc\n\n");
  CHECK(app::plain_text("", "f").empty());
  for (const auto& [text, message] :
       {std::pair<std::string, std::string>{"\x1F\x8B", "f is compressed with gzip: unpack it first"},
        {"PK\x03\x04", "f is compressed with zip: unpack it first"},
        {std::string("\xFD"
                     "7zXZ\0",
                     6),
         "f is compressed with xz: unpack it first"},
        {"\x28\xB5\x2F\xFD", "f is compressed with zstd: unpack it first"},
        {"BZh9", "f is compressed with bzip2: unpack it first"},
        {"\xFF\xFE"
         "a",
         "f is text in UTF-16: save it as UTF-8"},
        {std::string("a\0", 2), "f is not a text file: it has bytes that are 0"}}) {
    CHECK_THROWS_WITH_AS(app::plain_text(text, "f"), message.c_str(), app::UsageError);
  }
}

TEST_CASE("messages show text with control characters escaped, and not all of a long one") {
  CHECK(app::shown("plain 'text' \u00e4") == "plain 'text' \u00e4");
  CHECK(app::shown("\x1b[31m\n\x7f\xff") == "\\x1b[31m\\n\\x7f\\xff");
  CHECK(app::shown(R"("a\"b\\"")") == R"("a\\"b\\\\"")");
  CHECK(app::shown("\u202e") == "\\u202e");
  CHECK(app::shown(std::string(40, 'a')) == std::string(40, 'a'));
  CHECK(app::shown(std::string(41, 'a')) == std::string(40, 'a') + "...");
  CHECK(app::shown("\u00e4\u00e4", 3) == "\u00e4...");
  CHECK(app::at_place("a\nb", 3, 4, "what") == "a\\nb:3:4: what");
}

TEST_CASE("grids have up to 2^31 - 1 cells") {
  for (const auto& [width, height] : {std::pair(2147483647, 1), {1, 2147483647}, {46340, 46341}}) {
    CHECK_NOTHROW(app::check_grid_size(width, height));
  }
  for (const auto& [width, height] : {std::pair(65536, 32768), {32768, 65536}, {46341, 46341}, {2147483647, 2}}) {
    CHECK_THROWS_WITH_AS(app::check_grid_size(width, height),
                         doctest::Contains("more than 2^31 - 1 cells (see --help)"), app::UsageError);
    CHECK_THROWS_WITH_AS(app::check_grid_size(width, height, "placed"),
                         doctest::Contains("cells, which only --variant placed can have (see"), app::UsageError);
  }
}

TEST_CASE("a check for writable outputs leaves nothing behind") {
  const dynasoar::test::TestFolder folder;
  app::require_writable_file(folder / "new.png");
  CHECK_FALSE(std::filesystem::exists(folder / "new.png"));
  std::ofstream(folder / "old.png") << "kept";
  app::require_writable_file(folder / "old.png");
  CHECK(std::filesystem::file_size(folder / "old.png") == 4);
  CHECK_THROWS_AS(app::require_writable_file(folder / "missing/x.png"), app::UsageError);
  CHECK_THROWS_AS(app::LogFile(folder / "missing/x.csv", {{"fish"}}), app::UsageError);
}

TEST_CASE("a log's ending says its form") {
  const dynasoar::test::TestFolder folder;
  const auto lines = [&](const std::string& name) {
    app::LogFile log(folder / name, {{"fish", true}, {"energy", false}});
    log.add(0, {7, 0.1});
    log.add(1, {3e9, std::nan("")});
    log.flush();
    return dynasoar::test::contents_of(folder / name);
  };
  const dynasoar::test::ForeignLocale locale;  // on which files do not depend
  CHECK(lines("log.csv") == "step,fish,energy\n0,7,0.1\n1,3000000000,\n");
  CHECK(lines("log.jsonl") ==
        "{\"step\": 0, \"fish\": 7, \"energy\": 0.1}\n{\"step\": 1, \"fish\": 3000000000, \"energy\": null}\n");
  app::LogFile(folder / "names.csv", {{"a, \"b\"", true}, {"c d", true}}).flush();
  CHECK(dynasoar::test::contents_of(folder / "names.csv") == "step,\"a, \"\"b\"\"\",c d\n");
  app::LogFile named(folder / "names.jsonl", {{"a, \"b\"", true}});
  named.add(0, {1});
  named.flush();
  CHECK(dynasoar::test::contents_of(folder / "names.jsonl") == "{\"step\": 0, \"a, \\\"b\\\"\": 1}\n");
  CHECK_THROWS_WITH_AS(app::LogFile(folder / "log.txt", {}), doctest::Contains("must end in .csv"), app::UsageError);
  CHECK_FALSE(std::filesystem::exists(folder / "log.txt"));
}

class ThreeValues final : public app::Simulation {
 public:
  explicit ThreeValues(const app::RunParameters&) {}
  void step() override {}
  void record() override { rows_.push_back({1, 2, 3}); }
  void synchronize() override {}
  std::vector<app::Row> take_rows() override { return std::exchange(rows_, {}); }

 private:
  std::vector<app::Row> rows_;
};

class TooLarge final : public app::Simulation {
 public:
  explicit TooLarge(const app::RunParameters&) { throw app::HeapTooSmall("too small", 1); }
  void step() override {}
  void record() override {}
  void synchronize() override {}
};

template <class SimulationT>
class NamedColumns final : public dynasoar::program::ModelProgram<SimulationT, app::RunParameters> {
 public:
  explicit NamedColumns(std::size_t columns)
      : NamedColumns::ModelProgram({.name = "named", .columns = std::vector<app::Column>(columns, {"fish"})}) {}
  void add_options(CLI::App&) override {}
  std::string size() const override { return "small"; }
};

TEST_CASE("a program that names fewer or more columns than rows have values is refused") {
  const dynasoar::test::TestFolder folder;
  dynasoar::program::RunOptions options;
  options.steps = 2;
  options.quiet = true;
  options.log = folder / "log.csv";
  for (const std::size_t columns : {0, 2, 3, 4}) {
    CAPTURE(columns);
    NamedColumns<ThreeValues> program(columns);
    dynasoar::program::Run run(program, options, nullptr);
    if (columns == 3) {
      run.simulate();
      run.write_results(true);
      CHECK(dynasoar::test::contents_of(folder / "log.csv") == "step,fish,fish,fish\n0,1,2,3\n1,1,2,3\n2,1,2,3\n");
    } else {
      const std::string message = "names " + std::to_string(columns) + " columns, but a row of its log has 3 values";
      CHECK_THROWS_WITH_AS(run.simulate(), doctest::Contains(message.c_str()), dynasoar::Error);
      CHECK(run.what_is_valid().find("there are no results") == 0);
    }
  }
}

TEST_CASE("the log of a run that has no room for its objects has a heading") {
  const dynasoar::test::TestFolder folder;
  dynasoar::program::RunOptions options;
  options.log = folder / "log.csv";
  NamedColumns<TooLarge> program(2);
  dynasoar::program::Run run(program, options, nullptr);
  CHECK_THROWS_AS(run.simulate(), app::HeapTooSmall);
  CHECK(dynasoar::test::contents_of(folder / "log.csv") == "step,fish,fish\n");
}

TEST_CASE("options in a checkpoint are written with as many digits as they need") {
  const auto options =
      app::SavedOptions().add("--cut-off", 0.3f).add("--fish", 0.1).add("--seed", std::uint64_t{1} << 63).add("-x", -3);
  const std::vector<char> text = options.text();
  CHECK(std::string(text.begin(), text.end()) == "--cut-off\t0.3\n--fish\t0.1\n--seed\t9223372036854775808\n-x\t-3\n");
  CHECK_NOTHROW(options.check_same(app::SavedOptions(text), "a file"));
  CHECK_THROWS_WITH_AS(app::SavedOptions().add("-x", 4).check_same(app::SavedOptions().add("-x", 5), "a file"),
                       "-x: the run in a file has 5, not 4", app::UsageError);
}

TEST_CASE("checkpoints of other programs are refused by name") {
  app::set_running_program("n-body", "objects");
  const app::SavedOptions saved = app::SavedOptions().add("--seed", 1).with_program();
  app::set_running_program("n-body", "fields");
  CHECK_THROWS_WITH_AS(app::SavedOptions().add("--seed", 1).with_program().check_same(saved, "a file"),
                       "--variant: the run in a file has objects, not fields", app::UsageError);
  app::set_running_program("collision", "objects");
  CHECK_THROWS_WITH_AS(app::SavedOptions().add("--seed", 1).with_program().check_same(saved, "a file"),
                       "--restore: a file is a checkpoint of the program n-body, not of collision", app::UsageError);
  CHECK_THROWS_WITH_AS(app::SavedOptions().with_program().check_same(app::SavedOptions(), "a file"),
                       doctest::Contains("is a checkpoint of another program"), app::UsageError);
}

TEST_CASE("checkpoints of simulations that do not list their options have those of the command line") {
  app::set_running_program("rabbits", "objects", app::SavedOptions().add("--name", std::string("a\tb")));
  const app::SavedOptions saved = app::SavedOptions().with_program();
  const std::vector<char> text = saved.text();
  CHECK(std::string(text.begin(), text.end()) == "program\trabbits\n--variant\tobjects\n--name\ta\\tb\n");
  app::set_running_program("rabbits", "objects", app::SavedOptions().add("--name", std::string("c")));
  CHECK_THROWS_WITH_AS(app::SavedOptions().with_program().check_same(saved, "a file"),
                       doctest::Contains("--name: the run in a file has a"), app::UsageError);
}

TEST_CASE("a second signal ends the program, but not two at a time") {
  const auto status_after = [](const timespec& pause) {
    const pid_t child = fork();
    if (child == 0) {
      for (const int number : {SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);  // not doctest's
      dynasoar::detail::catch_interrupts();
      std::raise(SIGTERM);
      nanosleep(&pause, nullptr);
      std::raise(SIGHUP);
      _exit(dynasoar::detail::interrupted() ? 42 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  };
  const int at_once = status_after({0, 0});
  CHECK((WIFEXITED(at_once) && WEXITSTATUS(at_once) == 42));
  const int later = status_after({1, 50'000'000});
  CHECK((WIFSIGNALED(later) && WTERMSIG(later) == SIGHUP));
}

TEST_CASE("options of another run are told apart, also by what they were read from") {
  app::InputSum one, other;
  one.add(1, 2.5f);
  other.add(2.5f, 1);
  CHECK(one.value() != other.value());
  const auto options = [](const app::InputSum& sum) {
    return app::SavedOptions().add("the network", sum).add("-x", 3);
  };
  CHECK_NOTHROW(options(one).check_same(options(one), "a file"));
  CHECK_THROWS_WITH_AS(options(one).check_same(options(other), "a file"),
                       "the network: the run in a file is of something else; give its options again", app::UsageError);
  CHECK_THROWS_WITH_AS(options(one).check_same(app::SavedOptions().add("the network", one), "a file"),
                       doctest::Contains("-x: the run in a file has "), app::UsageError);
  CHECK(app::SavedOptions().empty());
  CHECK_FALSE(options(one).empty());
  CHECK(app::SavedOptions(options(one).text()).text() == options(one).text());
}

TEST_CASE("a summary has its columns one below the other, by characters and not by bytes") {
  app::Summary summary;
  summary.section({"Run", "time", "rate"});
  summary.row({"steps", "1.00 µs", "5"});
  summary.row({"a longer name", "3 s"});
  summary.section({"Memory"});
  summary.row({"heap", "512 MiB", "100.0%"});
  CHECK(summary.text() ==
        "Run                 time    rate\n"
        "  steps          1.00 µs       5\n"
        "  a longer name      3 s\n"
        "\n"
        "Memory\n"
        "  heap           512 MiB  100.0%\n");
}

namespace {

struct WaitingExecutor {
  void synchronize() { ++waits; }
  int waits = 0;
};

void busy_wait(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

TEST_CASE("phases are timed in every n-th step, and their times stand for all steps") {
  using namespace std::chrono_literals;
  WaitingExecutor executor;
  app::PhaseClock clock(3, {"move", "eat"});
  CHECK(clock.times().empty());
  for (int step = 0; step < 7; ++step) {
    busy_wait(step == 3 ? 40ms : 0ms);  // before the step, which belongs to no phase
    clock.begin_step(executor);
    clock.end_phase(executor, 0);
    if (step == 0) busy_wait(30ms);
    clock.end_phase(executor, 1);
  }
  CHECK(executor.waits == 3 * 3);  // in the steps 0, 3 and 6
  const std::vector<app::PhaseTime> times = clock.times();
  REQUIRE(times.size() == 2);
  CHECK(times[0].name == "move");
  CHECK(times[1].name == "eat");
  CHECK(times[1].seconds >= 0.030 * 7 / 3);
  CHECK(times[0].seconds < times[1].seconds);
  app::PhaseClock none(0, {"move"});
  none.begin_step(executor);
  none.end_phase(executor, 0);
  CHECK(none.times().empty());
  CHECK(executor.waits == 9);
}
