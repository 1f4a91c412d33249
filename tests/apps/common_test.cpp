/// @file
/// What the programs share: numbers for people, sizes on the command line, pictures.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <app/error.h>
#include <app/format.h>
#include <app/output.h>
#include <app/picture.h>
#include <app/size.h>
#include <app/step_log.h>

TEST_CASE("numbers are grouped in thousands") {
  CHECK(app::grouped(0) == "0");
  CHECK(app::grouped(999) == "999");
  CHECK(app::grouped(1000) == "1,000");
  CHECK(app::grouped(1234567) == "1,234,567");
}

TEST_CASE("SI prefixes keep three digits and carry over") {
  CHECK(app::si(0) == "0");
  CHECK(app::si(999) == "999");
  CHECK(app::si(999.9) == "1.00 k");
  CHECK(app::si(12345678) == "12.3 M");
  CHECK(app::si(999999999) == "1.00 G");
}

TEST_CASE("bytes and times are readable") {
  CHECK(app::bytes(1023) == "1023 B");
  CHECK(app::bytes(1536) == "1.50 KiB");
  CHECK(app::bytes(std::uint64_t{1} << 30) == "1.00 GiB");
  CHECK(app::duration(0.0123) == "12.3 ms");
  CHECK(app::duration(75) == "1 min 15 s");
  CHECK(app::duration(2 * 3600 + 60) == "2 h 1 min");
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

TEST_CASE("small grids are magnified and huge ones sampled") {
  CHECK(app::PictureScale::for_grid(1, 1).magnify == 512);
  CHECK(app::PictureScale::for_grid(100, 60).magnify == 6);
  CHECK(app::PictureScale::for_grid(1024, 1024).magnify == 1);
  CHECK(app::PictureScale::for_grid(8192, 5).sample == 1);
  CHECK(app::PictureScale::for_grid(8193, 5).sample == 2);
}

TEST_CASE("a check for writable outputs leaves nothing behind") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "dynasoar-app-test";
  std::filesystem::remove_all(folder);
  app::require_writable_folder((folder / "a" / "b").string());
  CHECK(std::filesystem::is_empty(folder / "a" / "b"));
  app::require_writable_file((folder / "new.png").string());
  CHECK_FALSE(std::filesystem::exists(folder / "new.png"));
  std::ofstream(folder / "old.png") << "kept";
  app::require_writable_file((folder / "old.png").string());
  CHECK(std::filesystem::file_size(folder / "old.png") == 4);
  CHECK_THROWS_AS(app::require_writable_file((folder / "missing" / "x.png").string()), app::UsageError);
  CHECK_THROWS_AS(app::require_writable_folder((folder / "old.png").string()), app::UsageError);
  CHECK_THROWS_AS(app::StepLog((folder / "missing" / "x.csv").string(), {{"fish"}}), app::UsageError);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a log's ending says its form") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "dynasoar-app-test-log";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto lines = [&](const std::string& name) {
    app::StepLog log((folder / name).string(), {{"fish", true}, {"energy", false}});
    log.add(0, {7, 0.1});
    log.add(1, {3e9, std::nan("")});
    log.flush();
    std::ifstream file(folder / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  CHECK(lines("log.csv") == "step,fish,energy\n0,7,0.1\n1,3000000000,nan\n");
  CHECK(lines("log.jsonl") ==
        "{\"step\": 0, \"fish\": 7, \"energy\": 0.1}\n{\"step\": 1, \"fish\": 3000000000, \"energy\": null}\n");
  CHECK_THROWS_WITH_AS(app::StepLog((folder / "log.txt").string(), {}), doctest::Contains("must end in .csv"),
                       app::UsageError);
  CHECK_FALSE(std::filesystem::exists(folder / "log.txt"));
  std::filesystem::remove_all(folder);
}
