/// @file
/// Files of columns: CSV and VTK, and errors. What other programs read in files, columns_test.py tests.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/columns.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/write_hdf5.h>

#include "small_table.h"
#include "test_folder.h"

namespace columns_test {

using namespace dynasoar;
using namespace dynasoar::test;

TEST_CASE("a CSV file has numbers as short as they can be, and quotes where they must be") {
  const TestFolder folder;
  dynasoar::write_csv(folder / "a.csv", small_table());
  CHECK(contents_of(folder / "a.csv") ==
        "big,\"a,b\",small,class,pair.0,pair.1\n"
        "0,0.1,-128,\"Sh\"\"ark\",1,2\n"
        "1,-1e+30,0,Fish,3,4\n"
        "18446744073709551615,inf,127,\"Sh\"\"ark\",5,0.1\n");
  CHECK(folder.files() == 1);
}

/// The fields of a CSV file (RFC 4180), whose lines end with a line feed.
std::vector<std::vector<std::string>> rows_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool is_quoted = false;
  std::size_t bare_returns = 0;  // which some readers take for the ends of lines
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = rows.back().back();
    if (is_quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (is_quoted || (c != ',' && c != '\n')) {
      if (!is_quoted && c == '\r') ++bare_returns;
      field += c;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else {
      rows.emplace_back(1, "");
    }
  }
  CHECK(bare_returns == 0);
  CHECK(rows.back() == std::vector<std::string>{""});
  rows.pop_back();
  return rows;
}

TEST_CASE("a large CSV file is read back with the same numbers and texts") {
  const TestFolder folder;
  const std::vector<std::string> labels = {"plain", "a\rb", "a\nb", "a,b", "\"", ""};
  for (const std::size_t count : {32'790u, 100'000u}) {  // a little more than 1 MiB, and more than 3
    std::vector<std::uint64_t> numbers(count);
    std::vector<double> eighths(count);
    std::vector<std::uint8_t> kinds(count);
    for (std::size_t row = 0; row < count; ++row) {
      numbers[row] = 10'000'000'000'000'000'000u + row;
      eighths[row] = static_cast<double>(row % 9) + 0.125;
      kinds[row] = static_cast<std::uint8_t>(row % labels.size());
    }
    Columns table{"Thing", count, {}};
    table.columns.push_back(dynasoar::make_column("number", numbers));
    table.columns.push_back(dynasoar::make_column("an\reighth", eighths));
    table.columns.push_back(dynasoar::make_column("kind", kinds));
    table.columns.back().labels = labels;
    dynasoar::write_csv(folder / "a.csv", table);
    const std::string text = contents_of(folder / "a.csv");
    CHECK(text.size() > count / 32'768 << 20);
    const auto rows = rows_of(text);
    REQUIRE(rows.size() == count + 1);
    CHECK(rows[0] == std::vector<std::string>{"number", "an\reighth", "kind"});
    std::size_t wrong = 0;
    for (std::size_t row = 0; row < count; ++row) {
      const std::vector<std::string>& fields = rows[row + 1];
      const bool is_right = fields.size() == 3 && std::stoull(fields[0]) == numbers[row] &&
                            std::stod(fields[1]) == eighths[row] && fields[2] == labels[kinds[row]];
      if (!is_right) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

/// The points of a VTK file.
std::vector<double> points_of(const std::string& path) {
  const std::string text = contents_of(path);
  const std::size_t array = text.find("Name=\"Points\""), offset = text.find("offset=\"", array) + 8;
  const std::size_t begin = text.find("<AppendedData encoding=\"raw\">\n_") + 31 + std::stoull(text.substr(offset));
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, &text[begin], sizeof bytes);
  std::vector<double> points(bytes / sizeof(double));
  std::memcpy(points.data(), &text[begin + sizeof bytes], bytes);
  return points;
}

TEST_CASE("a VTK file's points are where the columns say, in all three directions") {
  const TestFolder folder;
  Columns table{"Thing", 2, {}};
  table.columns.push_back(dynasoar::make_column<float>("x", {1, 2}));
  table.columns.push_back(dynasoar::make_column<std::int8_t>("y", {-3, 4}));
  table.columns.push_back(dynasoar::make_column<double>("height", {5.25, -6}));
  dynasoar::write_vtp(folder / "a.vtp", table, {.x = "x", .y = "y", .z = "height", .time = 0});
  CHECK(points_of(folder / "a.vtp") == std::vector<double>{1, -3, 5.25, 2, 4, -6});
  dynasoar::write_vtp(folder / "a.vtp", table);
  CHECK(points_of(folder / "a.vtp") == std::vector<double>{1, -3, 0, 2, 4, 0});
}

TEST_CASE("a VTK file has the time, and the names of classes as texts that a zero ends") {
  const TestFolder folder;
  Columns table{"Insect", 2, {dynasoar::make_column<double>("x", {1, 2})}};
  table.columns.push_back(dynasoar::make_column<std::uint8_t>("class", {1, 0}));
  table.columns.back().labels = {"Ant", "Bee"};
  dynasoar::write_vtp(folder / "a.vtp", table, {.x = "x", .y = "", .z = "", .time = 2.5});
  const std::string text = contents_of(folder / "a.vtp");
  CHECK(text.find("Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">2.5</DataArray>") != std::string::npos);
  CHECK(text.find("Name=\"class names\" NumberOfTuples=\"2\" format=\"ascii\">65 110 116 0 66 101 101 0 </Array>") !=
        std::string::npos);
}

TEST_CASE("files that cannot be written are errors, and what was there stays") {
  const TestFolder folder;
  const Columns table = small_table();
  const dynasoar::VtpOptions options{.x = "big", .y = "", .z = "", .time = 0};
  using dynasoar::detail::kHasHdf5;
  CHECK_THROWS_WITH_AS(dynasoar::write_csv(folder / "no/a.csv", table), doctest::Contains("No such file"), Error);
  CHECK_THROWS_WITH_AS(dynasoar::write_vtp(folder / "no/a.vtp", table, options), doctest::Contains("No such file"),
                       Error);
  CHECK_THROWS_WITH_AS(dynasoar::write_hdf5(folder / "no/a.h5", table),
                       doctest::Contains(kHasHdf5 ? "No such file" : "link it to dynasoar::hdf5"), Error);
  if (kHasHdf5) {
    const Columns in_no_group{"Thing", 1, {dynasoar::make_column<double>("no/x", {1})}};
    CHECK_THROWS_WITH_AS(dynasoar::write_hdf5(folder / "a.h5", in_no_group), "dynasoar: HDF5 cannot make a data set",
                         Error);
  }
  CHECK_THROWS_WITH_AS(dynasoar::write_vtp(folder / "a.vtp", table),
                       doctest::Contains("the column 'x', but Thing has no such column of one number"), Error);
  CHECK_THROWS_WITH_AS(dynasoar::write_vtp(folder / "a.vtp", table, {.x = "pair", .y = "", .z = "", .time = 0}),
                       doctest::Contains("there are big, a,b, small, class, pair"), Error);

  dynasoar::write_csv(folder / "a.csv", table);
  const std::string before = contents_of(folder / "a.csv");
  {
    const dynasoar::test::FullDisk disk(16);
    const auto full = [](const char* file) {
      return doctest::Contains((std::string(file) + ".part': File too large").c_str());
    };
    CHECK_THROWS_WITH_AS(dynasoar::write_csv(folder / "a.csv", table), full("a.csv"), Error);
    CHECK_THROWS_WITH_AS(dynasoar::write_vtp(folder / "a.vtp", table, options), full("a.vtp"), Error);
    if (kHasHdf5) CHECK_THROWS_WITH_AS(dynasoar::write_hdf5(folder / "a.h5", table), full("a.h5"), Error);
  }
  CHECK(contents_of(folder / "a.csv") == before);
  CHECK(folder.files() == 1);
}

}  // namespace columns_test
