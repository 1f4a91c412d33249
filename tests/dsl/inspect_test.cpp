// Pictures and JSON of what is inside a heap say what there is.
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>

#include <unistd.h>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/inspect.h>

#include "../platform/test_support.h"

namespace inspect_test {

using dynasoar::AllocatorHandle;

template <class T>
class Box;
class Ant;
class Bee;
using AllocatorT = dynasoar::SoaAllocator<Ant, Bee, Box<int>>;

class Ant : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Ant, (number_, std::uint32_t))
  __device__ explicit Ant(std::size_t number) : number_(static_cast<std::uint32_t>(number)) {}
  __device__ void die_if_odd() {
    if (number_ % 2 == 1) dynasoar::destroy(this);
  }
};
class Bee : public Ant {
 public:
  using BaseClass = Ant;
  using Place = std::array<double, 2>;
  DYNASOAR_FIELDS(Bee, (place_, Place))
  using Ant::Ant;
};
template <class T>
class Box : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<T, std::uint8_t>;
  dynasoar::SoaField<Box, 0> content_;
  dynasoar::SoaField<Box, 1> open_;
  __device__ explicit Box(std::size_t) {}
};

/// Creates in one thread, so that blocks are filled one after the other.
template <class T>
struct MakeInOrder {
  std::size_t count;
  __device__ void operator()(std::size_t) const {
    for (std::size_t i = 0; i < count; ++i) dynasoar::make_new<T>(i);
  }
};

/// A file that is there while this lives.
struct File {
  std::string path =
      (std::filesystem::temp_directory_path() / ("dynasoar-inspect-" + std::to_string(::getpid()) + ".svg")).string();
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::filesystem::remove(path); }

  std::string text() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

void check_is_svg(const std::string& text) {
  CHECK(text.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" "));
  CHECK(text.ends_with("</svg>\n"));
  CHECK(times(text, "<rect ") == times(text, "</rect>") + 1);  // the background has no title
  CHECK(times(text, "<text ") == times(text, "</text>"));
  CHECK(times(text, "<title>") == times(text, "</title>"));
}

TEST_CASE("the picture of the layout shows each class's fields where they are") {
  const File file;
  dynasoar::layout_svg<AllocatorT>(file.path);
  const std::string text = file.text();
  check_is_svg(text);
  const std::string page = std::to_string(AllocatorT::pages().bytes);
  const std::string blocks = std::to_string(AllocatorT::pages().blocks_per_page[1]);
  CHECK(times(text, "Bee: 1280 bytes, 0.0 % unused; " + blocks + " blocks in a page of " + page + " bytes") == 1);
  CHECK(times(text, "Ant: 256 bytes, 0.0 % unused; ") == 1);
  CHECK(times(text, "Box&lt;int&gt;: 384 bytes, 16.7 % unused; ") == 1);
  // In the legend and on the picture: an array field has a rectangle for each of its arrays.
  CHECK(times(text, "Ant::number_: 4 bytes from 0 to 255") == 2 * 2);
  CHECK(times(text, "Bee::place_: 2 x 8 bytes from 256 to 1279") == 1 + 2);
  CHECK(times(text, "Box&lt;int&gt;::field1: 1 byte from 256 to 319") == 1 + 1);
}

TEST_CASE("the picture of the heap shows each block and how full it is") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = 40 * AllocatorT::pages().bytes, .threads = 4});
  handle.parallel_for(1, MakeInOrder<Ant>{64 * 4 + 16});
  handle.parallel_for(1, MakeInOrder<Bee>{32});
  handle.parallel_do<Bee, &Ant::die_if_odd>();
  const File file;
  dynasoar::heap_svg(handle, file.path);
  const std::string text = file.text();
  check_is_svg(text);
  CHECK(times(text, "A square is a block") == 1);
  CHECK(times(text, "Ant: 272 objects in 5 blocks, 15.0 % of their slots free") == 1);
  CHECK(times(text, "Bee: 16 objects in 1 blocks, 75.0 % of their slots free") == 1);
  CHECK(times(text, ": 64 objects</title>") == 4);
  CHECK(times(text, ": 16 objects</title>") == 2);  // an Ant's block and the Bee's
  // Blocks of the classes' pages that are not used, and nothing for free pages.
  CHECK(times(text, "Ant, block ") >= 5);
  CHECK(times(text, "Bee, block ") >= 1);
  CHECK(times(text, "objects</title>") < 100);
}

TEST_CASE("the picture of a large heap has squares for several blocks") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{64} << 20, .threads = 4});
  handle.parallel_new<Ant>(3'000'000);
  handle.synchronize();
  const File file;
  dynasoar::heap_svg(handle, file.path);
  const std::string text = file.text();
  check_is_svg(text);
  CHECK(times(text, " blocks in a row, the stronger the fuller") == 1);
  CHECK(times(text, "<rect ") < 9700);
  CHECK(text.size() < 2'000'000);
}

TEST_CASE("a picture that cannot be written says so") {
  CHECK_THROWS_WITH_AS(dynasoar::layout_svg<AllocatorT>("/nowhere/at/all.svg"),
                       doctest::Contains("cannot write the picture '/nowhere/at/all.svg': No such file or directory"),
                       dynasoar::Error);
}

TEST_CASE("statistics as JSON have the numbers by their names") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = 40 * AllocatorT::pages().bytes, .threads = 4});
  handle.parallel_for(1, MakeInOrder<Ant>{80});
  const std::string text = dynasoar::to_json(handle.statistics());
  CHECK(text.starts_with("{\"heap_bytes\": " + std::to_string(40 * AllocatorT::pages().bytes) + ", "));
  CHECK(times(text, "\"pages\": 40, \"free_pages\": ") == 1);
  CHECK(
      times(text,
            "Ant\", \"objects\": 80, \"created\": 80, \"deleted\": 0, \"blocks\": 2, \"slots\": 128, \"block_bytes\": "
            "256, \"fragmentation\": 0.375, \"refused_full\": 0,") == 1);
  CHECK(times(text, "{") == 4);
  CHECK(times(text, "}") == 4);
  dynasoar::Statistics odd;
  odd.types.push_back({});
  odd.types[0].name = "a \"name\" \\";
  CHECK(times(dynasoar::to_json(odd), R"("name": "a \"name\" \\", "objects": 0)") == 1);
}

}  // namespace inspect_test
