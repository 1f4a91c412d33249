// type_name: what the user wrote, whichever compiler prints it.
#include <string>

#include <doctest/doctest.h>

#include <dynasoar/classes/type_name.h>

class GlobalFish {};

namespace type_name_test {

class Fish {};
template <class... Ts>
class Pond {};

TEST_CASE("a class's name is what the user wrote, with its namespace and nothing else") {
  CHECK(dynasoar::type_name<GlobalFish>() == "GlobalFish");
  CHECK(dynasoar::type_name<Fish>() == "type_name_test::Fish");
  CHECK(dynasoar::type_name<int>() == "int");
}

TEST_CASE("the name of a template's instance ends with its arguments") {
  const std::string name(dynasoar::type_name<Pond<Fish, GlobalFish>>());
  CAPTURE(name);
  CHECK(name.find("type_name_test::Pond<") == 0);
  CHECK(name.find("GlobalFish") != std::string::npos);
  CHECK(name.back() == '>');
}

}  // namespace type_name_test
