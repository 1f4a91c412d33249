// Statistics: numbers of objects, blocks and pages, fragmentation as the paper defines it, and the table.
#include <cstdint>
#include <sstream>
#include <string>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "make_in_order.h"

namespace statistics_test {

using namespace dynasoar;
using dynasoar::test::MakeInOrder;

class Ant;
class Bee;
using AllocatorT = dynasoar::SoaAllocator<Ant, Bee>;
class Ant : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Ant, (number_, std::uint32_t))
  __device__ explicit Ant(std::size_t number) : number_(static_cast<std::uint32_t>(number)) {}
};
class Bee : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Bee, (number_, std::uint32_t), (weight_, double))
  __device__ explicit Bee(std::size_t number) : number_(static_cast<std::uint32_t>(number)), weight_(1) {}
};

TEST_CASE("statistics count objects, slots, blocks and pages") {
  constexpr std::size_t kPage = AllocatorT::pages().bytes;
  static_assert(kPage == 64 * 12 && AllocatorT::pages().blocks_per_page[0] == 3);
  AllocatorHandle<AllocatorT> handle({.heap_bytes = 20 * kPage + 100, .on_refusal = dynasoar::OnRefusal::record});
  Statistics empty = handle.statistics();
  CHECK(empty.pages == 20);
  CHECK(empty.free_pages == 20);
  CHECK(empty.heap_bytes == 20 * kPage);
  CHECK(empty.page_bytes == kPage);
  CHECK(empty.state_bytes > 0);
  CHECK(empty.used() == 0.0);
  CHECK(empty.fragmentation() == 0.0);

  handle.parallel_for(1, MakeInOrder<Ant>{64 * 4 + 16});
  handle.parallel_for(1, MakeInOrder<Bee>{32});
  Statistics some = handle.statistics();
  CHECK(some.types.size() == 2);
  CHECK(some.types[0].name.find("Ant") != std::string::npos);
  CHECK(some.types[1].name.find("Bee") != std::string::npos);
  CHECK(some.types[0].objects == 272);
  CHECK(some.types[0].blocks == 5);
  CHECK(some.types[0].slots == 320);
  CHECK(some.types[0].block_bytes == 256);
  CHECK(some.types[0].fragmentation() == doctest::Approx(48.0 / 320));
  CHECK(some.types[1].objects == 32);
  CHECK(some.types[1].slots == 64);
  CHECK(some.types[1].block_bytes == 768);
  CHECK(some.types[1].fragmentation() == doctest::Approx(0.5));
  CHECK(some.objects() == 304);
  CHECK(some.slots() == 384);
  CHECK(some.fragmentation() == doctest::Approx(1 - 304.0 / 384));
  CHECK(some.free_pages == 17);
  CHECK(some.used() == doctest::Approx(3.0 / 20));
  CHECK(some.refused() == 0);

  handle.parallel_do<Ant>([] __device__(Ant * ant) {
    if (ant->number_ % 4 != 0) dynasoar::destroy(ant);
  });
  CHECK(handle.statistics().types[0].objects == 68);
  CHECK(handle.statistics().types[0].fragmentation() == doctest::Approx(1 - 68.0 / 320));
  handle.parallel_do<Ant>([] __device__(Ant * ant) { dynasoar::destroy(ant); });
  CHECK(handle.statistics().types[0].blocks == 0);
  CHECK(handle.statistics().free_pages == 19);

  handle.parallel_for(1, MakeInOrder<Bee>{2000});
  Statistics full = handle.statistics();
  CHECK(full.types[1].objects == 1280);
  CHECK(full.refused() == 2000 - (1280 - 32));
  CHECK(full.types[1].refused_full == full.refused());
  CHECK(full.used() == 1.0);
  CHECK(full.fragmentation() == 0.0);
}

#if !DYNASOAR_COUNT_ACCESSES
TEST_CASE("a build that does not count accesses to fields says so when it is asked") {
  AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
  CHECK_THROWS_WITH_AS(handle.field_accesses(), doctest::Contains("compile all files with DYNASOAR_COUNT_ACCESSES=1"),
                       dynasoar::Error);
}
#endif

TEST_CASE("statistics are printed as a table with a line for each class, and leave the stream as it was") {
  Statistics statistics;
  TypeStatistics ant;
  ant.name = "Ant";
  ant.objects = 100;
  ant.blocks = 4;
  ant.slots = 256;
  ant.refused_full = 5;
  ant.refused_contended = 2;
  TypeStatistics bee;
  bee.name = "Bee";
  statistics.types = {ant, bee};
  statistics.heap_bytes = 123456;
  statistics.pages = 8;
  statistics.free_pages = 2;
  statistics.page_bytes = 15432;
  std::ostringstream out;
  out << statistics << 0.123456;
  const std::string text = out.str();
  CAPTURE(text);
  std::istringstream lines(text);
  std::string name, objects, slots, blocks, fragmentation, refused, line;
  std::getline(lines, line);
  CHECK(line.find("class") == 0);
  lines >> name >> objects >> slots >> blocks >> fragmentation >> refused;
  CHECK(name + " " + objects + " " + slots + " " + blocks + " " + refused == "Ant 100 256 4 7");
  CHECK(fragmentation == "0.609");
  std::getline(lines, line);
  std::getline(lines, line);
  CHECK(line.find("Bee") == 0);
  std::getline(lines, line);
  CHECK(line.find("all") == 0);
  std::istringstream all(line);
  all >> name >> objects >> slots >> blocks >> fragmentation >> refused;
  CHECK(objects + " " + slots + " " + blocks + " " + fragmentation + " " + refused == "100 256 4 0.609 7");
  std::getline(lines, line);
  CHECK(line.find("123456 bytes") != std::string::npos);
  CHECK(line.find("75.0% used") != std::string::npos);
  std::getline(lines, line);
  CHECK(line == "0.123456");
}

}  // namespace statistics_test
