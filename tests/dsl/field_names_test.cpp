// Fields have the names that their class gives them, in whichever way.
#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"

namespace field_names_test {

class Paper;      // hand-written names
class Unnamed;    // derives from Paper, whose names are not its own
class Named;      // with DYNASOAR_FIELDS
class Shadowing;  // has a field of the name that its base has
class Bare;       // no names at all
class Empty;
using AllocatorT = dynasoar::SoaAllocator<Paper, Unnamed, Named, Shadowing, Bare, Empty>;

class Paper : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<float, std::array<char, 3>>;
  static constexpr auto field_names = dynasoar::field_names("speed_", "text_");
  dynasoar::SoaField<Paper, 0> speed_;
  dynasoar::SoaField<Paper, 1> text_;
};
class Unnamed : public Paper {
 public:
  using BaseClass = Paper;
  using FieldTypes = std::tuple<int, char>;
  dynasoar::SoaField<Unnamed, 0> number_;
  dynasoar::SoaField<Unnamed, 1> sign_;
};
class Named : public Paper {
 public:
  using BaseClass = Paper;
  using Place = std::array<double, 2>;
  DYNASOAR_FIELDS(Named, (age_, int), (place_, Place))
};
class Shadowing : public Named {
 public:
  using BaseClass = Named;
  DYNASOAR_FIELDS(Shadowing, (speed_, double), (own_, int))
};
class Bare : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<int, int>;
  dynasoar::SoaField<Bare, 0> a_;
  dynasoar::SoaField<Bare, 1> b_;
};
class Empty : public Bare {
 public:
  using BaseClass = Bare;
  using FieldTypes = std::tuple<>;
  static constexpr auto field_names = dynasoar::field_names();
};

using Names = std::vector<std::string>;

TEST_CASE("fields have the names of their class, inherited ones first") {
  CHECK(dynasoar::all_field_names<Paper>() == Names{"speed_", "text_"});
  CHECK(dynasoar::all_field_names<Named>() == Names{"speed_", "text_", "age_", "place_"});
}

TEST_CASE("fields without names have numbers, not the names of the base's fields") {
  CHECK(dynasoar::all_field_names<Unnamed>() == Names{"speed_", "text_", "field0", "field1"});
  CHECK(dynasoar::all_field_names<Bare>() == Names{"field0", "field1"});
  CHECK(dynasoar::all_field_names<Empty>() == Names{"field0", "field1"});
}

TEST_CASE("fields of one name are told apart by the classes that declare them") {
  CHECK(dynasoar::all_field_names<Shadowing>() == Names{"field_names_test::Paper::speed_", "text_", "age_", "place_",
                                                        "field_names_test::Shadowing::speed_", "own_"});
}

TEST_CASE("messages name fields in the same way") {
  const auto& fields = dynasoar::detail::field_infos_v<Unnamed::Allocator, Unnamed>;
  CHECK(dynasoar::detail::field_text(fields[1]) == "field_names_test::Paper::text_");
  CHECK(dynasoar::detail::field_text(fields[3]) == "field_names_test::Unnamed::field1");
}

TEST_CASE("classes with hand-written names follow the rules") {
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 2});
  CHECK(handle.count<Named>() == 0);
  CHECK(handle.count<Bare>() == 0);
}

}  // namespace field_names_test
