// Pictures and JSON of what is inside a heap say what there is.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <pugixml.hpp>

#include <dynasoar/detail/svg.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/statistics.h>

#include "../platform/test_support.h"
#include "make_in_order.h"
#include "test_folder.h"

namespace inspect_test {

using dynasoar::AllocatorHandle;
using dynasoar::test::MakeInOrder;
using dynasoar::test::TestFolder;

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

/// An SVG file, parsed. @param draw   writes it to the path that it is given
class Picture {
 public:
  template <class F>
  explicit Picture(const F& draw) {
    const TestFolder folder;
    const std::string path = folder / "a.svg";
    draw(path);
    bytes = std::filesystem::file_size(path);
    const pugi::xml_parse_result result = document_.load_file(path.c_str());
    INFO(result.description());
    REQUIRE(result.status == pugi::status_ok);
    REQUIRE(std::string(svg().name()) == "svg");
    CHECK(std::string(svg().attribute("xmlns").value()) == "http://www.w3.org/2000/svg");
    for (const pugi::xml_node rectangle : svg().children("rect")) {
      if (!rectangle.child("title")) continue;  // the background
      const std::string fill = rectangle.attribute("fill").value();
      if (fill.starts_with("url(")) CHECK(has_pattern(fill));
      rectangles.push_back({rectangle.child("title").text().get(), fill, rectangle.attribute("x").as_double(),
                            rectangle.attribute("width").as_double(), rectangle.attribute("y").as_double(),
                            rectangle.attribute("height").as_double(),
                            rectangle.attribute("fill-opacity").as_double(1)});
    }
    for (const pugi::xml_node text : svg().children("text")) texts.push_back(text.text().get());
    for (const Rectangle& one : rectangles) {
      CHECK(one.x >= 0);
      CHECK(one.x + one.width <= svg().attribute("width").as_double());
      CHECK(one.y + one.height <= svg().attribute("height").as_double());
    }
  }

  struct Rectangle {
    std::string title, fill;
    double x, width, y, height, opacity;
  };
  std::vector<Rectangle> rectangles;
  std::vector<std::string> texts;
  std::uintmax_t bytes;  ///< of the file

  pugi::xml_node svg() const { return document_.document_element(); }

  std::size_t rectangles_of(const std::string& title) const {
    return static_cast<std::size_t>(
        std::count_if(rectangles.begin(), rectangles.end(), [&](const Rectangle& one) { return one.title == title; }));
  }
  std::size_t rectangles_ending(const std::string& end) const {
    return static_cast<std::size_t>(std::count_if(rectangles.begin(), rectangles.end(),
                                                  [&](const Rectangle& one) { return one.title.ends_with(end); }));
  }
  std::size_t texts_with(const std::string& part) const {
    return static_cast<std::size_t>(std::count_if(
        texts.begin(), texts.end(), [&](const std::string& text) { return text.find(part) != std::string::npos; }));
  }

 private:
  /// @param fill   url(#name)
  bool has_pattern(const std::string& fill) const {
    const std::string name = fill.substr(5, fill.size() - 6);
    return static_cast<bool>(svg().child("defs").find_child_by_attribute("pattern", "id", name.c_str()));
  }

  pugi::xml_document document_;
};

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("the picture of the layout shows each class's fields where they are") {
  const Picture picture([&](const std::string& path) { dynasoar::layout_svg<AllocatorT>(path); });
  const std::string page = std::to_string(AllocatorT::pages().bytes);
  const std::string blocks = std::to_string(AllocatorT::pages().blocks_per_page[1]);
  CHECK(picture.texts_with("Bee: 1280 bytes, 0.0 % unused; " + blocks + " blocks in a page of " + page + " bytes") ==
        1);
  CHECK(picture.texts_with("Ant: 256 bytes, 0.0 % unused; ") == 1);
  CHECK(picture.texts_with("Box<int>: 384 bytes, 16.7 % unused; ") == 1);
  // An array field has a rectangle for each of its arrays; and the legend has a line for each field.
  const std::string ant = "inspect_test::Ant::number_: 4 bytes from 0 to 255";
  CHECK(picture.rectangles_of(ant) == 2);  // of Ant and of Bee
  CHECK(picture.texts_with(ant) == 2);
  const std::string bee = "inspect_test::Bee::place_: 2 x 8 bytes from 256 to 1279";
  CHECK(picture.rectangles_of(bee) == 2);
  CHECK(picture.texts_with(bee) == 1);
  const std::string box = "inspect_test::Box<int>::field1: 1 byte from 256 to 319";
  CHECK(picture.rectangles_of(box) == 1);
  CHECK(picture.texts_with(box) == 1);
  // Where they are, and how large, in the scale of the largest block.
  const auto width_of = [&](const std::string& title) {
    const auto found = std::find_if(picture.rectangles.begin(), picture.rectangles.end(),
                                    [&](const Picture::Rectangle& one) { return one.title == title; });
    REQUIRE(found != picture.rectangles.end());
    return found->width + 1;
  };
  CHECK(width_of(bee) == doctest::Approx(2 * width_of(ant)).epsilon(0.01));
  CHECK(width_of(ant) == doctest::Approx(4 * width_of(box)).epsilon(0.01));
}

TEST_CASE("the picture of the heap shows each block and how full it is") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = 40 * AllocatorT::pages().bytes, .threads = 4});
  handle.parallel_for(1, MakeInOrder<Ant>{64 * 4 + 16});
  handle.parallel_for(1, MakeInOrder<Bee>{32});
  handle.parallel_do<Bee, &Ant::die_if_odd>();
  handle.parallel_for(1, MakeInOrder<Box<int>>{1});
  const Picture picture([&](const std::string& path) { dynasoar::heap_svg(handle, path); });
  CHECK(picture.texts_with("A square is a block") == 1);
  CHECK(picture.texts_with("Ant: 272 objects in 5 blocks, 15.0 % of their slots free") == 1);
  CHECK(picture.texts_with("Bee: 16 objects in 1 block, 75.0 % of their slots free") == 1);
  CHECK(picture.texts_with("Box<int>: 1 object in 1 block, 98.4 % of their slots free") == 1);
  CHECK(picture.rectangles_ending(": 64 objects") == 4);
  CHECK(picture.rectangles_ending(": 16 objects") == 2);  // an Ant's block and the Bee's
  CHECK(picture.rectangles_ending(": 1 object") == 1);
  // Blocks of the classes' pages that are not used, and nothing for free pages.
  CHECK(picture.rectangles_ending(" objects") < 100);
  std::set<std::string> fills_of_ants;
  for (const Picture::Rectangle& one : picture.rectangles) {
    if (one.title.find("Ant, block ") != std::string::npos) fills_of_ants.insert(one.fill);
  }
  CHECK(fills_of_ants.size() == 1);
  // The fuller, the stronger; and blocks are squares of one size, in rows, where no two are in one place.
  std::set<std::pair<double, double>> places;
  std::size_t blocks = 0;
  for (const Picture::Rectangle& one : picture.rectangles) {
    if (one.title.find(", block ") == std::string::npos) continue;
    const std::string count = one.title.substr(one.title.rfind(": ") + 2);
    CHECK(one.opacity == doctest::Approx(0.15 + 0.85 * std::stod(count) / 64));
    CHECK(one.width == doctest::Approx(7));
    CHECK(one.height == doctest::Approx(7));
    places.insert({one.x, one.y});
    ++blocks;
  }
  CHECK(places.size() == blocks);
  CHECK(picture.texts_with("Heap of " + std::to_string(handle.statistics().heap_bytes) + " bytes, 7.5 % used") == 1);
}

TEST_CASE("the picture of a large heap has squares for several blocks") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{64} << 20, .threads = 4});
  handle.parallel_new<Ant>(3'000'000);
  handle.synchronize();
  const Picture picture([&](const std::string& path) { dynasoar::heap_svg(handle, path); });
  CHECK(picture.texts_with(" blocks in a row, the stronger the fuller") == 1);
  CHECK(picture.rectangles.size() < 9700);
  std::uint64_t objects = 0;  // of the squares, none of which is left out
  std::size_t not_full = 0;
  for (const Picture::Rectangle& one : picture.rectangles) {
    if (one.title.find(", block") == std::string::npos) continue;
    objects += std::stoull(one.title.substr(one.title.rfind(": ") + 2));
    CHECK(one.opacity <= 1);
    if (one.opacity < 0.9) ++not_full;
  }
  // The last blocks of four threads, and those of the pages that these are in. A GPU's warps leave more.
  if (!dynasoar::kCudaBackend) CHECK(not_full <= 4 + 4);
  CHECK(objects == 3'000'000);
  CHECK(picture.bytes < 2'000'000);
}

TEST_CASE("the picture of a large heap shows the last blocks, too, if they fill no square") {
  const dynasoar::detail::ClassTable& classes = dynasoar::detail::class_table_v<AllocatorT>;
  dynasoar::Statistics now;
  now.types.resize(classes.classes.size());
  const std::vector<dynasoar::detail::BlockMark> marks(9601, {dynasoar::detail::BlockState::open, 0, 64});
  const Picture picture([&](const std::string& path) { dynasoar::detail::draw_heap(classes, now, marks, {}, path); });
  CHECK(picture.texts_with("A square is 2 blocks in a row") == 1);
  CHECK(picture.rectangles_ending(": 128 objects") == 4800);
  CHECK(picture.rectangles_ending("block 9600: 64 objects") == 1);
}

class Moss;
using LandT = dynasoar::SoaAllocator<Moss>;
class Moss final : public dynasoar::SoaBase<LandT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Moss, (is_wet_, bool), (age_, int))
  __device__ Moss() : is_wet_(true), age_(0) {}
};

TEST_CASE("the picture of the heap shows the blocks of lattices, and how full they are") {
  AllocatorHandle<LandT> handle({.heap_bytes = std::size_t{1} << 20});
  dynasoar::Lattice<Moss> land(handle, {300, 4});  // rows of five blocks
  land.parallel_new<Moss>([] __device__(dynasoar::Place place) { return place.slot() >= 64; });
  const Picture picture([&](const std::string& path) { dynasoar::heap_svg(handle, path); });
  CHECK(picture.texts_with("Moss on 300 x 4 places") == 1);
  CHECK(picture.texts_with("Moss: 1136 objects on 1200 places, 94.7 % of them taken") == 1);
  CHECK(picture.texts_with("Heap of") == 0);  // it has no classes
  CHECK(picture.texts_with("A square is a block of 64 places.") == 1);
  CHECK(picture.rectangles_ending("Moss, block 0: 0 objects") == 1);
  CHECK(picture.rectangles_ending(": 64 objects") == 15);
  CHECK(picture.rectangles_ending(": 44 objects") == 4);
  const Picture layout([](const std::string& path) { dynasoar::layout_svg<LandT>(path); });
  CHECK(layout.texts_with("Moss: 320 bytes, 0.0 % unused; on a lattice") == 1);
}

/// Title or text of each element of a picture, where it is and how large: x, y, then width and height or the font's
/// size.
std::string elements_of(const std::string& path) {
  pugi::xml_document document;
  REQUIRE(document.load_file(path.c_str()));
  std::string all;
  for (const pugi::xml_node element : document.document_element().children()) {
    for (const char* const name : {"x", "y", "width", "height", "font-size"}) {
      if (element.attribute(name)) all += std::string(element.attribute(name).value()) + ' ';
    }
    all += std::string(element.child("title") ? element.child("title").text().get() : element.text().get()) + '\n';
  }
  return all;
}

TEST_CASE("everything in the pictures is in its place") {
  using dynasoar::detail::BlockState;
  const std::array<dynasoar::detail::FieldInfo, 2> fields = {
      {{"Bee", "place_", 0, 'f', 8, 8, 2, 512, 0, 0, {}}, {"Bee", nullptr, 1, 'b', 1, 1, 1, 64, 1024, 0, {}}}};
  const std::array<dynasoar::detail::ClassInfo, 2> infos = {
      {{"Bee", 1152, 3, fields}, {"Ant", 576, 2, {&fields[1], 1}}}};
  const dynasoar::detail::ClassTable classes{infos, 4096, 4, 64};
  const TestFolder folder;
  const std::string path = folder / "a.svg";
  dynasoar::detail::draw_layout(classes, path);
  CHECK(elements_of(path) == R"(100% 100% 
20 30 20 Fields in a block of 64 objects, in bytes
20 68 15 Bee: 1152 bytes, 5.6 % unused; 3 blocks in a page of 4096 bytes, of which 15.6 % are left over
20 76 960 30 unused
20.5 76 425.666667 30 Bee::place_: 2 x 8 bytes from 0 to 1023
447.166667 76 425.666667 30 Bee::place_: 2 x 8 bytes from 0 to 1023
20 116 12 12 Bee::place_
38 127 13 Bee::place_: 2 x 8 bytes from 0 to 1023
873.833333 76 52.3333333 30 Bee::field1: 1 byte from 1024 to 1087
20 133 12 12 Bee::field1
38 144 13 Bee::field1: 1 byte from 1024 to 1087
20 178 15 Ant: 576 bytes, 88.9 % unused; 2 blocks in a page of 4096 bytes, of which 71.9 % are left over
20 186 480 30 unused
873.833333 186 52.3333333 30 Bee::field1: 1 byte from 1024 to 1087
20 226 12 12 Bee::field1
38 237 13 Bee::field1: 1 byte from 1024 to 1087
)");
  dynasoar::Statistics now;
  now.heap_bytes = std::size_t{62} * 4096;
  now.pages = 62;
  now.free_pages = 60;
  now.types.resize(2);
  now.types[0].name = "Bee";
  now.types[0].objects = 65;
  now.types[0].blocks = 2;
  now.types[0].slots = 128;
  now.types[1].name = "Ant";
  now.types[1].objects = 1;
  now.types[1].blocks = 1;
  now.types[1].slots = 64;
  std::vector<dynasoar::detail::BlockMark> marks(std::size_t{62} * 4, {BlockState::free_page, 0, 0});
  marks[0] = {BlockState::open, 0, 64};
  marks[1] = {BlockState::closed, 0, 0};
  marks[2] = {BlockState::open, 0, 1};
  marks[4] = {BlockState::closed, 1, 0};
  marks[5] = {BlockState::open, 1, 1};
  marks[3] = marks[6] = marks[7] = {BlockState::unused, 0, 0};
  dynasoar::detail::draw_heap(classes, now, marks, {}, path);
  CHECK(elements_of(path) == R"(100% 100% 
20 30 20 Heap of 253952 bytes, 3.2 % used
20 52 13 A square is a block, the stronger the fuller; where nothing is drawn, pages are free.
20 67 12 12 Bee
38 78 13 Bee: 65 objects in 2 blocks, 49.2 % of their slots free
20 85 12 12 Ant
38 96 13 Ant: 1 object in 1 block, 98.4 % of their slots free
19 109 961 17 free pages
20 110 7 7 Bee, block 0: 64 objects
28 110 7 7 Bee, block 1: 0 objects
36 110 7 7 Bee, block 2: 1 object
44 110 7 7 Ant, block 4: 0 objects
52 110 7 7 Ant, block 5: 1 object
)");
}

TEST_CASE("as many classes and fields as there can be have fills of their own") {
  dynasoar::detail::Svg svg;
  for (std::size_t number = 0; number < 340; ++number) {
    svg.rectangle(1, 1, 1, 1, svg.fill(number), 1, std::to_string(number));
    svg.rectangle(1, 1, 1, 1, svg.fill(number), 1, std::to_string(number));  // with the same pattern
  }
  const Picture picture([&](const std::string& path) { svg.write(path, 100); });
  std::set<std::string> fills;
  for (const Picture::Rectangle& one : picture.rectangles) fills.insert(one.fill);
  CHECK(fills.size() == 340);
  std::set<std::string> patterns;  // without their names
  std::size_t count = 0;
  for (pugi::xml_node pattern : picture.svg().child("defs").children("pattern")) {
    pattern.remove_attribute("id");
    std::ostringstream text;
    pattern.print(text);
    patterns.insert(text.str());
    ++count;
  }
  CHECK(count == 340 - 8);
  CHECK(patterns.size() == count);
}

/// The numbers of a JSON object; those of the n-th object in it, from 1, as "n.name".
std::map<std::string, double> numbers_in(const std::string& json) {
  std::map<std::string, double> numbers;
  std::size_t objects = 0;
  for (std::size_t at = 0; at < json.size(); ++at) {
    if (json[at] == '{') ++objects;
    if (json[at] != '"') continue;
    const std::size_t end = json.find('"', at + 1);
    double value = 0;
    const bool is_number = json.compare(end, 3, "\": ") == 0 &&
                           std::from_chars(&json[end + 3], json.data() + json.size(), value).ec == std::errc();
    const std::string name = json.substr(at + 1, end - at - 1);
    if (is_number) CHECK(numbers.emplace((objects > 1 ? std::to_string(objects - 1) + "." : "") + name, value).second);
    at = end;
  }
  return numbers;
}

TEST_CASE("each number in the JSON of statistics is that of the member of its name") {
  dynasoar::Statistics all;
  all.heap_bytes = 1001;
  all.heap_limit_bytes = 1002;
  all.growths = 1003;
  all.state_bytes = 1004;
  all.page_bytes = 1005;
  all.pages = 1006;
  all.free_pages = 997;
  for (const std::uint64_t base : {2000u, 3000u}) {
    dynasoar::TypeStatistics type;
    type.name = "T" + std::to_string(base);
    type.objects = base + 1;
    type.created = base + 900;
    type.blocks = base + 2;
    type.slots = 64 * (base + 2);
    type.block_bytes = base + 3;
    type.refused_full = base + 4;
    type.refused_contended = base + 5;
    type.refused_on_request = base + 6;
    type.refused_table = base + 7;
    type.places = 10 * (base + 1);
    type.lattice_bytes = base + 8;
    all.types.push_back(type);
  }
  const std::string json = dynasoar::to_json(all);
  CAPTURE(json);
  std::map<std::string, double> expected = {{"heap_bytes", 1001},  {"heap_limit_bytes", 1002}, {"growths", 1003},
                                            {"state_bytes", 1004}, {"page_bytes", 1005},       {"pages", 1006},
                                            {"free_pages", 997}};
  for (const double base : {2000.0, 3000.0}) {
    const std::string type = base < 3000 ? "1." : "2.";
    expected.merge(std::map<std::string, double>{{type + "objects", base + 1},
                                                 {type + "created", base + 900},
                                                 {type + "deleted", 899},
                                                 {type + "blocks", base + 2},
                                                 {type + "slots", 64 * (base + 2)},
                                                 {type + "block_bytes", base + 3},
                                                 {type + "fragmentation", 1 - (base + 1) / (64 * (base + 2))},
                                                 {type + "refused_full", base + 4},
                                                 {type + "refused_contended", base + 5},
                                                 {type + "refused_on_request", base + 6},
                                                 {type + "refused_table", base + 7},
                                                 {type + "places", 10 * (base + 1)},
                                                 {type + "taken", 0.1},
                                                 {type + "lattice_bytes", base + 8}});
  }
  CHECK(numbers_in(json) == expected);
  CHECK(times(json, "\"name\": \"T2000\"") == 1);
  CHECK(json.find("T2000") < json.find("T3000"));
}

TEST_CASE("a picture that cannot be written says so") {
  CHECK_THROWS_WITH_AS(
      dynasoar::layout_svg<AllocatorT>("/nowhere/at/all.svg"),
      doctest::Contains("cannot write '/nowhere/at/all.svg.part': No such file or directory; make its folder first"),
      dynasoar::Error);
}

TEST_CASE("names in the JSON of statistics are quoted, and its objects end") {
  dynasoar::Statistics odd;
  odd.types.push_back({});
  odd.types[0].name = "a \"name\" \\";
  const std::string text = dynasoar::to_json(odd);
  CHECK(times(text, R"("name": "a \"name\" \\", "objects": 0, "created": null, "deleted": null,)") == 1);
  CHECK(times(text, "\"in_heap\": true") == 1);
  CHECK(times(text, "{") == 2);
  CHECK(times(text, "}") == 2);
  odd.types[0].in_heap = false;
  CHECK(times(dynasoar::to_json(odd), "\"in_heap\": false") == 1);
}

}  // namespace inspect_test
