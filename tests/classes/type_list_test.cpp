// Type lists: positions and subclasses.
#include <string>
#include <type_traits>

#include <doctest/doctest.h>

#include <dynasoar/classes/type_list.h>

namespace type_list_test {

using namespace dynasoar::detail;

class Agent {};
class Fish : public Agent {};
class Trout : public Fish {};
class Shark : public Agent {};
class Cell {};

static_assert(index_of_v<Fish, Cell, Fish, Shark> == 1);
static_assert(index_of_v<Agent, Cell, Fish, Shark> == -1, "a base is not in the list unless it is named there");
static_assert(std::is_same_v<subtypes_t<Agent, Cell, Trout, Shark, Fish>, TypeList<Trout, Shark, Fish>>,
              "subtypes come in the list's order");
static_assert(std::is_same_v<subtypes_t<Fish, Cell, Trout, Shark, Fish>, TypeList<Trout, Fish>>);
static_assert(std::is_same_v<subtypes_t<Trout, Cell, Trout, Shark, Fish>, TypeList<Trout>>);
static_assert(subtypes_t<Agent, Cell>::size == 0);

TEST_CASE("for_each visits every type once, in order") {
  std::string visited;
  TypeList<Cell, Trout, Fish>::for_each([&]<class T>(std::type_identity<T>) {
    if (std::is_same_v<T, Cell>) visited += "Cell ";
    if (std::is_same_v<T, Trout>) visited += "Trout ";
    if (std::is_same_v<T, Fish>) visited += "Fish ";
  });
  CHECK(visited == "Cell Trout Fish ");
}

}  // namespace type_list_test
