/// @file
/// Rasters: read from files, written to files, into fields of placed objects and out of them, and as plans of where to
/// create objects.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/random.h>
#include <dynasoar/raster.h>
#include <dynasoar/write_file.h>

#include "test_folder.h"

namespace raster_test {

using doctest::Contains;
using namespace dynasoar;
using namespace dynasoar::test;
using dynasoar::random::Seed;
using Bytes = std::vector<std::uint8_t>;

class Cell;
class Hill;
using AllocatorT = dynasoar::SoaAllocator<Cell, Hill>;

class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Cell, (height_, float), (is_wet_, bool), (count_, dynasoar::AtomicWord<std::uint32_t>));
  __device__ explicit Cell(float height = 0) : height_(height), is_wet_(false) {
    count_->store(0, dynasoar::Order::relaxed);
  }
};

class Hill final : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Hill);
  __device__ explicit Hill(float height = 0) : Cell(height) {}
};

const dynasoar::HandleOptions kSmall{.heap_bytes = 8 << 20};

/// A raster with values of f(number).
template <class T, class F>
Raster<T> raster_of(std::size_t width, std::size_t height, const F& f) {
  Raster<T> raster{width, height, {}};
  for (std::size_t i = 0; i < width * height; ++i) raster.values.push_back(static_cast<T>(f(i)));
  return raster;
}

TEST_CASE("rasters go into fields and out of them, and say where to create objects") {
  dynasoar::AllocatorHandle<AllocatorT> handle(kSmall);
  for (const std::vector<std::size_t>& sizes :
       std::vector<std::vector<std::size_t>>{{1, 1}, {65, 4}, {257, 129}, {300, 3}, {130}, {5, 4, 3}, {64, 1, 2}}) {
    dynasoar::Lattice<Hill> land(handle, sizes);
    const std::size_t width = sizes[0];
    const std::size_t height = (sizes.size() > 1 ? sizes[1] : 1) * (sizes.size() > 2 ? sizes[2] : 1);
    const auto plan = raster_of<std::uint8_t>(width, height, [](std::size_t i) { return i % 3 == 0 ? 0 : i % 7 + 1; });
    land.parallel_new<Hill>(plan, -5.0f);
    const auto terrain = raster_of<float>(width, height, [](std::size_t i) { return 0.5 + static_cast<double>(i); });
    const auto made = land.raster_of<&Hill::height_, Hill>(1.0f);
    land.set_field<&Hill::height_>(terrain);
    land.set_field<&Hill::is_wet_>(plan);
    land.set_field<&Hill::count_>(terrain);  // an integer
    const auto heights = land.raster_of<&Hill::height_, Hill>(-1.0f);
    const auto counts = land.raster_of<&Hill::count_, Hill>();
    const auto wet = land.raster_of<&Hill::is_wet_, Hill>(9);
    CHECK(heights.width == width);
    CHECK(heights.height == height);
    REQUIRE(heights.values.size() == width * height);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < width * height; ++i) {
      const bool is_there = i % 3 != 0;
      wrong += made.values[i] != (is_there ? -5.0f : 1.0f);
      wrong += heights.values[i] != (is_there ? terrain.values[i] : -1.0f);
      wrong += counts.values[i] != (is_there ? i : 0);
      wrong += wet.values[i] != (is_there ? 1 : 9);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a raster that does not fit the lattice is refused") {
  dynasoar::AllocatorHandle<AllocatorT> handle(kSmall);
  dynasoar::Lattice<Hill> land(handle, {8, 5});
  const Raster<float> turned{5, 8, std::vector<float>(40)}, partial{8, 5, std::vector<float>(39)};
  CHECK_THROWS_WITH_AS(land.set_field<&Hill::height_>(turned),
                       "dynasoar: a raster of 5 x 8 values does not fit a lattice of 8 x 5 places, which needs one of "
                       "8 x 5",
                       const Error&);
  CHECK_THROWS_AS(land.parallel_new<Hill>(turned), const Error&);
  CHECK_THROWS_WITH_AS(land.set_field<&Hill::height_>(partial),
                       "dynasoar: a Raster of 8 x 5 has 40 values, but this one has 39", const Error&);
  CHECK(handle.count<Hill>() == 0);
  auto step = handle.record([&] { CHECK_THROWS_AS((land.raster_of<&Hill::height_, Hill>()), const Error&); });
  step();
}

TEST_CASE("places are chosen with the probabilities of a raster") {
  const auto probabilities =
      raster_of<float>(1000, 100, [](std::size_t i) { return 0.25 * static_cast<double>(i % 5); });
  const auto bytes = raster_of<std::uint8_t>(1000, 100, [](std::size_t i) { return i % 5 == 4 ? 255 : 0; });
  const auto chosen = dynasoar::choose(probabilities, Seed{3}, 1);
  const auto certain = dynasoar::choose(bytes, Seed{3}, 1);
  double counts[5] = {};
  for (std::size_t i = 0; i < chosen.values.size(); ++i) counts[i % 5] += chosen.values[i];
  for (int i = 0; i < 5; ++i) CHECK(std::abs(counts[i] / 20000 - 0.25 * i) < 0.02);
  CHECK(counts[0] == 0);
  CHECK(counts[4] == 20000);
  CHECK(chosen.values[3] == (dynasoar::Density(0.75, Seed{3}, 1).chooses(3) ? 1 : 0));
  CHECK(certain.values == raster_of<std::uint8_t>(1000, 100, [](std::size_t i) { return i % 5 == 4; }).values);
  CHECK_THROWS_AS(dynasoar::choose(Raster<float>{1, 1, {1.5f}}, Seed{3}, 1), const Error&);
}

TEST_CASE("a raster is read from the CSV file that it was written to") {
  const TestFolder folder;
  const std::string path = folder / "a.csv";
  const Raster<float> numbers{3, 2, {0.1f, -1e-30f, 3, std::numeric_limits<float>::infinity(), 16777216, -0.0f}};
  dynasoar::write_csv(path, numbers);
  CHECK(contents_of(path) == "0.1,-1e-30,3\ninf,16777216,-0\n");
  const auto found = read_csv<float>(path);
  CHECK(found.width == 3);
  CHECK(found.height == 2);
  CHECK(found.values == numbers.values);
  const Raster<std::int64_t> large{1, 2, {std::numeric_limits<std::int64_t>::min(), (std::int64_t{1} << 53) + 1}};
  dynasoar::write_csv(path, large);
  CHECK(read_csv<std::int64_t>(path).values == large.values);
  write_file(path, "\xEF\xBB\xBF 1 ,\t2\r\n0,255\r\n\r\n");  // as spreadsheets write it
  CHECK(read_csv<std::uint8_t>(path).values == Bytes{1, 2, 0, 255});
  write_file(path, "7");
  CHECK(read_csv<double>(path).values == std::vector<double>{7});
}

TEST_CASE("a CSV file that is no raster is refused, with the line") {
  const TestFolder folder;
  const std::string path = folder / "a.csv";
  const auto refuses = [&](const char* text, const std::string& message) {
    write_file(path, text);
    CHECK_THROWS_WITH_AS(read_csv<std::uint8_t>(path), Contains((path + message).c_str()), const Error&);
  };
  refuses("1,2\n3,x\n", ", line 2: 'x' is not a whole number from 0 to 255");
  refuses("x,y\n3,4\n",
          ", line 1: 'x' is not a whole number from 0 to 255; a raster is lines of numbers with commas "
          "between them, without a line of names");
  refuses("1,256\n", ", line 1: '256' is not a whole number");
  refuses("1,-1\n", ", line 1: '-1' is not a whole number");
  refuses("1,2.5\n", ", line 1: '2.5' is not a whole number");
  refuses("1,2,\n", ", line 1: '' is not a whole number");
  refuses("1,2\n\n3,4\n", ", line 2: '' is not a whole number");
  refuses("1,2\n3\n", ", line 2 has 1 numbers, but those above have 2");
  refuses("\n\n", " is empty");
  CHECK_THROWS_AS(read_csv<float>(folder / "missing.csv"), const Error&);
  write_file(path, "1e400\n");
  CHECK_THROWS_WITH_AS(read_csv<float>(path), Contains("'1e400' is not a number"), const Error&);
}

TEST_CASE("shades of grey stand for numbers from black to white") {
  const Raster<float> numbers{5, 1, {-1, 0, 5, 10, std::nanf("")}};
  CHECK(dynasoar::grey(numbers, 0, 10).values == Bytes{0, 0, 128, 255, 0});
  CHECK(dynasoar::grey(numbers, 10, 0).values == Bytes{255, 255, 128, 0, 0});
}

#if defined(DYNASOAR_PNG)
/// The bytes of a PNG file of one line.
std::string one_line_png(const std::string& header, const std::string& data) {
  return "\x89PNG\r\n\x1A\n" + header + data + std::string("\0\0\0\0IEND\xAE\x42\x60\x82", 12);
}

TEST_CASE("a raster of bytes is read from the PNG file that it was written to") {
  const TestFolder folder;
  const std::string path = folder / "a.png";
  for (const std::size_t width : {1, 3, 300}) {
    const auto raster = raster_of<std::uint8_t>(width, 7, [](std::size_t i) { return i * i; });
    dynasoar::write_png(path, raster);
    const auto found = dynasoar::read_png(path);
    CHECK(found.width == width);
    CHECK(found.height == 7);
    CHECK(found.values == raster.values);
  }
  CHECK_THROWS_WITH_AS(dynasoar::write_png(path, {0, 0, {}}), Contains("cannot make a picture of 0 x 0 pixels"),
                       const Error&);
  CHECK_THROWS_AS(dynasoar::write_png(path, {2, 2, {1}}), const Error&);
}

TEST_CASE("values are what the PNG file has, whatever it says of brightness, and those of fewer bits fill the range") {
  const TestFolder folder;
  const std::string path = folder / "a.png";
  write_file(path, one_line_png(std::string("\0\0\0\x0DIHDR\0\0\0\x03\0\0\0\x01\x08\0\0\0\0\x3E\x8B\x4B\x68", 25) +
                                    std::string("\0\0\0\x04gAMA\0\x01\x86\xA0\x31\xE8\x96\x5F", 16),
                                std::string("\0\0\0\x0CIDAT\x78\xDA\x63\x60\x48\xF9\x0F\0\x01\xCB\x01\x64\x6F\xF3\x01"
                                            "\xAE",
                                            24)));
  CHECK(dynasoar::read_png(path).values == Bytes{0, 100, 255});
  write_file(path, one_line_png(std::string("\0\0\0\x0DIHDR\0\0\0\x04\0\0\0\x01\x02\0\0\0\0\x96\xE7\x48\xB0", 25),
                                std::string("\0\0\0\x0AIDAT\x78\xDA\x63\x90\x06\0\0\x1D\0\x1C\x23\x7C\x8F\xAC", 22)));
  CHECK(dynasoar::read_png(path).values == Bytes{0, 85, 170, 255});
}

TEST_CASE("a file that is no picture in shades of grey is refused") {
  const TestFolder folder;
  const std::string path = folder / "a.png";
  const auto refuses = [&](const std::string& bytes, const char* message) {
    write_file(path, bytes);
    CHECK_THROWS_WITH_AS(dynasoar::read_png(path), Contains(("cannot read " + path + ": " + message).c_str()),
                         const Error&);
  };
  dynasoar::write_png(path, raster_of<std::uint8_t>(50, 50, [](std::size_t i) { return 31 * i * i; }));
  const std::string good = contents_of(path);
  refuses(good.substr(0, good.size() / 2), "the file ends too early");
  refuses("", "the file ends too early");
  refuses("this is no picture", "Not a PNG file");
  std::string damaged = good;
  damaged[good.size() / 2] ^= 1;
  refuses(damaged, "");
  refuses(one_line_png(std::string("\0\0\0\x0DIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90\x77\x53\xDE", 25),
                       std::string("\0\0\0\x0CIDAT\x78\xDA\x63\x60\x64\x62\x06\0\0\x0E\0\x07\xE9\x92\x37\xD4", 24)),
          "it has colours, transparency or 16 bits a pixel");
  refuses(one_line_png(std::string("\0\0\0\x0DIHDR\0\0\0\x01\0\0\0\x01\x10\0\0\0\0\x6A\xEE\x47\x16", 25),
                       std::string("\0\0\0\x0BIDAT\x78\xDA\x63\x60\x64\x02\0\0\x07\0\x04\xE5\xED\x94\xCF", 23)),
          "it has colours, transparency or 16 bits a pixel");
  // 100 000 x 100 000 pixels
  refuses(one_line_png(std::string("\0\0\0\x0DIHDR\0\x01\x86\xA0\0\x01\x86\xA0\x08\0\0\0\0\x8D\x39\x54\x14", 25),
                       std::string("\0\0\0\x0BIDAT\x78\xDA\x63\x60\x64\x02\0\0\x07\0\x04\xE5\xED\x94\xCF", 23)),
          "it is too short for the size of its picture");
  CHECK_THROWS_AS(dynasoar::read_png(folder / "missing.png"), const Error&);
}
#else
TEST_CASE("without libpng, PNG files are refused") {
  CHECK_THROWS_WITH_AS(dynasoar::read_png("a.png"), Contains("link it to dynasoar::png"), const Error&);
}
#endif

}  // namespace raster_test
