/// @file
/// What the programs share: numbers for people, sizes on the command line, pictures.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <app/cairo_png.h>
#include <app/chart.h>
#include <app/object_at.h>
#include <app/picture.h>
#include <app/text.h>
#include <app/view_controls.h>
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

TEST_CASE("small grids are magnified and huge ones sampled") {
  CHECK(app::PictureScale::for_grid(1, 1).magnify == 512);
  CHECK(app::PictureScale::for_grid(100, 60).magnify == 6);
  CHECK(app::PictureScale::for_grid(1024, 1024).magnify == 1);
  CHECK(app::PictureScale::for_grid(8192, 5).sample == 1);
  CHECK(app::PictureScale::for_grid(8193, 5).sample == 2);
}

TEST_CASE("grids have up to 2^31 - 1 cells") {
  for (const auto& [width, height] : {std::pair(2147483647, 1), {1, 2147483647}, {46340, 46341}}) {
    CHECK_NOTHROW(app::check_grid_size(width, height));
  }
  for (const auto& [width, height] : {std::pair(65536, 32768), {32768, 65536}, {46341, 46341}, {2147483647, 2}}) {
    CHECK_THROWS_AS(app::check_grid_size(width, height), app::UsageError);
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
    busy_wait(step == 3 ? 40ms : 0ms);  // before the step, which is nobody's
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

TEST_CASE("colours of a ramp") {
  constexpr std::array<app::Rgb, 3> kColors = {{{0, 0, 0}, {100, 200, 50}, {200, 100, 250}}};
  CHECK(app::ramp(kColors, -1) == kColors[0]);
  CHECK(app::ramp(kColors, 0.25) == app::Rgb{50, 100, 25});
  CHECK(app::ramp(kColors, 0.5) == kColors[1]);
  CHECK(app::ramp(kColors, 1) == kColors[2]);
  CHECK(app::ramp(kColors, std::nan("")) == kColors[0]);
  CHECK(app::color_of_word(app::word_of({1, 2, 3})) == app::Rgb{1, 2, 3});
}

TEST_CASE("magnified pictures have squares for pixels") {
  app::Picture picture(2, 1);
  picture.set(1, 0, {9, 8, 7});
  const app::Picture large = picture.magnified(3);
  CHECK(large.width() == 6);
  CHECK(large.height() == 3);
  for (int y = 0; y < 3; ++y) {
    for (int x = 0; x < 6; ++x) CHECK(large.at(x, y) == (x < 3 ? app::Rgb{0, 0, 0} : app::Rgb{9, 8, 7}));
  }
}

namespace {

constexpr app::Rgb kRed = {200, 0, 0}, kBlue = {0, 0, 200};

/// A chart as it is in its file: 960 x 540 points of 2 x 2 pixels, with its plot from (84, 84) to (844, 478).
class DrawnChart {
 public:
  explicit DrawnChart(std::vector<app::Series> series) : picture_(draw(std::move(series))) {}

  app::Rgb at(double x, double y) const { return picture_.at(static_cast<int>(2 * x), static_cast<int>(2 * y)); }

  /// How many separate marks, which are not white, a way across the chart meets.
  int marks_down(double x, double from, double to) const {
    return marks(from, to, [&](double y) { return at(x, y); });
  }
  int marks_across(double y, double from, double to) const {
    return marks(from, to, [&](double x) { return at(x, y); });
  }

  /// Where what is not white begins and ends in a part of the chart, from left to right.
  std::pair<double, double> ink(double left, double right, double top, double bottom) const {
    std::pair<double, double> found(right, left);
    for (double y = top; y < bottom; y += 0.5) {
      for (double x = left; x < right; x += 0.5) {
        if (at(x, y) == app::Rgb{255, 255, 255}) continue;
        found = {std::min(found.first, x), std::max(found.second, x + 0.5)};
      }
    }
    return found;
  }

  /// The first row, in points, in which this colour is to the right of the plot; -1 if there is none.
  double first_row(app::Rgb color) const {
    for (int y = 0; y < picture_.height(); ++y) {
      for (int x = 2 * 852; x < picture_.width(); ++x) {
        if (picture_.at(x, y) == color) return y / 2.0;
      }
    }
    return -1;
  }

 private:
  static app::Picture draw(std::vector<app::Series> series) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() / "dynasoar-chart-test.png";
    app::Chart{"title", "subtitle", "step", "number", std::move(series)}.save_png(file.string());
    const app::CairoSurface image(cairo_image_surface_create_from_png(file.c_str()));
    std::filesystem::remove(file);
    REQUIRE(cairo_surface_status(image.get()) == CAIRO_STATUS_SUCCESS);
    return app::picture_of(image);
  }

  template <class F>
  static int marks(double from, double to, F color) {
    int count = 0;
    bool was_white = true;
    for (double at = from; at < to; at += 0.5) {
      const bool is_white = color(at) == app::Rgb{255, 255, 255};
      count += was_white && !is_white ? 1 : 0;
      was_white = is_white;
    }
    return count;
  }

  app::Picture picture_;
};

}  // namespace

TEST_CASE("a chart's lines go where the values are") {
  const DrawnChart chart({{"fish", kRed, {0, 10, 5}}});
  CHECK(chart.at(84, 478) == kRed);
  CHECK(chart.at(464, 84) == kRed);
  CHECK(chart.at(844, 281) == kRed);
  CHECK(chart.at(274, 281) == kRed);  // half way up
  CHECK(chart.at(274, 290) != app::Rgb{255, 255, 255});
  CHECK(chart.at(274, 270) == app::Rgb{255, 255, 255});
  CHECK(chart.at(100, 82) == app::Rgb{255, 255, 255});
}

TEST_CASE("a chart has at most six steps upwards and eight to the right, which are 1, 2 or 5 times a power of ten") {
  const auto steps_up = [](std::vector<double> values) {
    return DrawnChart({{"fish", kRed, std::move(values)}}).marks_down(90, 80, 470);
  };
  CHECK(steps_up({0, 0, 0, 10}) == 5);
  CHECK(steps_up({0, 0, 0, 12}) == 6);
  CHECK(steps_up({0, 0, 0, 13}) == 3);
  CHECK(steps_up({0, 0, 0, 1}) == 1);  // whole numbers, as all values are
  CHECK(steps_up({0, 0, 0, 0.5}) == 5);
  CHECK(steps_up({0, 0, 0, 0.7}) == 4);
  CHECK(steps_up({0, 0, 0, 0}) == 1);
  const auto ticks_across = [](std::size_t values) {
    return DrawnChart({{"fish", kRed, std::vector<double>(values, 1)}}).marks_across(481, 78, 860);
  };
  CHECK(ticks_across(1) == 2);
  CHECK(ticks_across(3) == 3);
  CHECK(ticks_across(9) == 9);
  CHECK(ticks_across(10) == 5);
  CHECK(ticks_across(1001) == 6);
}

TEST_CASE("a chart of many steps has all peaks, and one of none has axes") {
  std::vector<double> values(100001, 0);
  values[50000] = 10;
  const DrawnChart chart({{"fish", kRed, values}});
  CHECK(chart.at(464, 90) == kRed);
  CHECK(chart.at(464, 380) == kRed);
  CHECK(chart.at(440, 380) == app::Rgb{255, 255, 255});
  CHECK(DrawnChart({{"fish", kRed, {}}}).marks_down(90, 80, 470) == 1);
}

TEST_CASE("a chart's texts are aligned to what they are about") {
  const DrawnChart chart({{"fish", kRed, std::vector<double>(11, 8)}});
  for (const double tick : {84.0, 84 + 760 * 0.4, 844.0}) {
    CAPTURE(tick);
    const auto [left, right] = chart.ink(tick - 30, tick + 30, 486, 502);
    CHECK(std::abs((left + right) / 2 - tick) < 2);
    CHECK(right - left > 2);
  }
  const auto [left, right] = chart.ink(300, 628, 508, 530);
  CHECK(std::abs((left + right) / 2 - 464) < 2);                                   // "step"
  CHECK(chart.ink(40, 82, 472, 484).second == doctest::Approx(74).epsilon(0.03));  // the lowest number
  CHECK(chart.ink(0, 400, 15, 40).first == doctest::Approx(25).epsilon(0.1));      // the title
}

TEST_CASE("the names in a chart's legend keep their distance, in the order of their lines") {
  const DrawnChart same({{"fish", kRed, {3, 0}}, {"fish", kBlue, {3, 0}}});
  CHECK(std::abs(same.first_row(kRed) - same.first_row(kBlue)) == 36);
  const DrawnChart apart({{"fish", kRed, {0, 10}}, {"fish", kBlue, {0, 0}}});
  CHECK(apart.first_row(kBlue) - apart.first_row(kRed) == 478 - 84);
  const DrawnChart near({{"fish", kRed, {0, 5}}, {"fish", kBlue, {0, 5.1}}, {"none", {0, 200, 0}, {}}});
  CHECK(near.first_row(kRed) - near.first_row(kBlue) == 36);
  CHECK(near.first_row({0, 200, 0}) == -1);
}

TEST_CASE("a viewport of the whole world has it in its middle") {
  const app::Viewport cells = app::whole({-10, -20, 100, 50}, 400, 400);
  CHECK(cells.scale == 4);
  CHECK(cells.x_of(0) == -10);
  CHECK(cells.y_of(200) == 5);
  CHECK(cells.row_of(5) == 200);
  const app::Viewport points = app::whole({0, 8, 8, 8, true}, 160, 80);
  CHECK(points.scale == 10);
  CHECK(points.x_of(80) == 4);
  CHECK(points.y_of(0) == 8);
  CHECK(points.y_of(80) == 0);
}

TEST_CASE("zooming and dragging keep what is under the mouse there") {
  for (const bool y_up : {false, true}) {
    app::ViewControls controls({0, y_up ? 50.0 : 0.0, 100, 50, y_up}, 1000, 500);
    const app::Viewport start = controls.viewport();
    const double x = start.x_of(300), y = start.y_of(100);
    controls.zoom(2, 300, 100);
    CHECK(controls.viewport().scale == 20);
    CHECK(controls.viewport().column_of(x) == doctest::Approx(300));
    CHECK(controls.viewport().row_of(y) == doctest::Approx(100));
    controls.drag(40, -30);
    CHECK(controls.viewport().column_of(x) == doctest::Approx(340));
    CHECK(controls.viewport().row_of(y) == doctest::Approx(70));
    const double middle = controls.viewport().y_of(250);
    controls.resize(800, 600);
    CHECK(controls.viewport().y_of(300) == doctest::Approx(middle));
    controls.zoom(1e9, 0, 0);
    CHECK(controls.viewport().scale == 640);
    controls.zoom(1e-9, 0, 0);
    CHECK(controls.viewport().scale == start.scale / 16);
    controls.resize(1000, 500);
    controls.fit();
    CHECK(controls.viewport() == start);
  }
}

TEST_CASE("pause, single steps and speed decide when the next step is made") {
  using Clock = app::ViewControls::Clock;
  app::ViewControls controls({0, 0, 1, 1}, 10, 10);
  const Clock::time_point now = Clock::now();
  CHECK(controls.next_step() <= now);
  controls.toggle_pause();
  CHECK(controls.next_step() == std::nullopt);
  controls.single_step();
  CHECK(controls.next_step() <= now);
  controls.step_begins(now);
  CHECK(controls.is_paused());
  CHECK(controls.next_step() == std::nullopt);
  controls.toggle_pause();
  controls.slower();
  controls.slower();
  CHECK(controls.steps_per_second() == 512);
  controls.step_begins(now);
  CHECK(controls.next_step() == now + std::chrono::nanoseconds(1953125));
  controls.faster();
  CHECK(controls.steps_per_second() == 1024);
  controls.faster();
  CHECK(controls.steps_per_second() == std::nullopt);
  CHECK(controls.next_step() <= now);
  for (int i = 0; i < 20; ++i) controls.slower();
  CHECK(controls.steps_per_second() == 1);
}

TEST_CASE("what is at a place is described with all its fields") {
  dynasoar::Columns fish{"Fish", 3, {}};
  fish.columns.push_back(dynasoar::make_column<std::int64_t>("id", {7, 8, 9}));
  fish.columns.push_back(dynasoar::make_column<float>("energy_", {0.5f, 1, 2}));
  fish.columns.push_back(dynasoar::make_column<int>("x", {1, 2, 2}));
  fish.columns.push_back(dynasoar::make_column<int>("y", {5, 5, 5}));
  using Lines = std::vector<std::string>;
  const app::World cells{0, 0, 10, 10};
  CHECK(app::describe_objects_at(fish, cells, 1.9, 5.1, 0) ==
        Lines{"cell (1, 5)", "Fish", "  id = 7", "  energy_ = 0.5"});
  CHECK(app::describe_objects_at(fish, cells, 2.5, 5.5, 0).size() == 7);  // both that are there
  CHECK(app::describe_objects_at(fish, cells, 3.5, 5.5, 0) == Lines{"cell (3, 5)", "nothing here"});
  const app::World plane{0, 10, 10, 10, true};
  CHECK(app::describe_objects_at(fish, plane, 1.2, 5, 0.3) == Lines{"(1.2, 5)", "Fish", "  id = 7", "  energy_ = 0.5"});
  CHECK(app::describe_objects_at(fish, plane, 1.4, 5, 0.3) == Lines{"(1.4, 5)", "nothing here"});
  CHECK(app::describe_objects_at(fish, plane, 1, 4.5, 0.5)[1] == "Fish");    // as far away as one may be
  CHECK(app::describe_objects_at(fish, plane, 1.2, 5, 5)[2] == "  id = 7");  // of several, the nearest
  fish.columns.push_back(dynasoar::make_column<std::uint8_t>("class", {0, 1, 1}));
  fish.columns.back().labels = {"Fish", "Shark"};
  fish.columns.push_back(dynasoar::make_column<int>("bites_", {1, 2, 3, 4, 5, 6}));
  fish.columns.back().components = 2;
  CHECK(app::describe_objects_at(fish, plane, 2, 5, 0.3) ==
        Lines{"(2, 5)", "Shark", "  id = 9", "  energy_ = 2", "  bites_ = 5, 6"});
}
