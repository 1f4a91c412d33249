// Members of class values: which classes are taken apart, into how many members, and what these are called.
#include <any>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

namespace value_members_test {
struct WithTupleSize;
}
template <>
struct std::tuple_size<value_members_test::WithTupleSize> : std::integral_constant<std::size_t, 2> {};
template <std::size_t index>
struct std::tuple_element<index, value_members_test::WithTupleSize> {
  using type = int;
};

namespace value_members_test {

using namespace dynasoar::detail;

struct Pair {
  float x, y;
};
struct Empty {};
template <class T>
struct Of {
  T first;
  T* second;
};

// Taken apart.
struct OneMember {
  int only;
};
struct WithArrays {
  int matrix[2][3];
  double weight;
  Pair pairs[2];
  std::array<float, 3> three;
};
struct WithPointers {
  Pair* pair;
  const char* text;
  void (*function)(int);
  bool flag;
  enum class Mood : std::uint8_t { calm } mood;
};
struct WithUnnamedStruct {
  struct {
    int q;
  } part;
  int größe;
};
struct WithInitializers {
  int x = 3;
  float y = 2;
};
struct WithConstant {
  const int x;
  int y;
};
struct alignas(16) Aligned {
  double x;
  std::uint64_t y;
};
struct Sixteen {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};
struct Named {
  explicit Named(int value) : first(value), second(value) {}
  int first, second;
  static constexpr const char* field_names[] = {"ex", "why"};
};
struct WithoutDefault {
  Named named;
  Pair pair;
};
struct WithOptionals {
  int id;
  std::optional<float> range;
  std::optional<Pair> pairs[2];
  std::tuple<int, float> both;
};
struct WithLibraryClasses {
  int id = 1;
  std::function<void(int)> function;
  std::function<int()> none = nullptr;
  std::string texts[2];
};

// Not taken apart.
struct Seventeen {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
struct LongArray {
  char text[65];
};
struct Derived : Pair {
  int z;
};
struct WithEmptyBase : Empty {
  int z;
};
struct WithUnnamedUnion {
  int z;
  union {
    int i;
    float f;
  };
};
union Union {
  int i;
  float f;
};
struct WithUnion {
  int z;
  Union either;
};
struct WithBitFields {
  int x;
  unsigned a : 3;
  unsigned b : 5;
};
struct WithConstructor {
  explicit WithConstructor(int value) : x(value), y(value) {}
  int x, y;
};
class WithPrivateMember {
 public:
  int y;
  int get() const { return x; }

 private:
  int x;
};

// Classes that convert from everything, so that a compiler cannot tell by which conversion they are initialized.
struct FromAll {
  FromAll() = default;
  template <class U>
  FromAll(U) {}
  int value;
};
struct FromAllReferences {
  FromAllReferences() = default;
  template <class... U>
  FromAllReferences(U&&...) {}
  int value;
};
struct OnlyFromAll {
  template <class U>
  OnlyFromAll(U) {}
  int value;
};
template <class First, class Second>
struct Behind {
  First first;
  Second second;
  double third;
};
struct WithInitializedMember {
  int x;
  OnlyFromAll y = 3;
  int z = 2;
};
struct WithInitializedArray {
  int x;
  OnlyFromAll y[2] = {1, 2};
  int z = 2;
};
struct NamedBehind {
  int x;
  FromAll y;
  static constexpr const char* field_names[] = {"ex", "why"};
};
struct WithPart {  // taken apart, but not its parts
  int x;
  Behind<int, FromAll> part;
  Behind<int, FromAll> parts[2];
};
int some_number;
struct WithReference {
  int x = 1;
  int& y = some_number;
  int z = 2;
};
struct WithTupleSize {
  int x, y, z;
};
struct WithTupleSizeInside {
  WithTupleSize x;
  int y;
};
template <std::size_t>
int get(const WithTupleSize& value) {
  return value.x;
}

/// "x y", and "-" for what is not taken apart.
template <class T>
std::string names() {
  if constexpr (HasMembers<T>) {
    std::string all;
    [&]<std::size_t... i>(std::index_sequence<i...>) {
      ((all.append(i > 0 ? " " : "").append(member_name<T, i>())), ...);
    }
    (std::make_index_sequence<member_count_v<T>>{});
    return all;
  } else {
    return "-";
  }
}

namespace {
struct OfThisFile {
  int a;
  bool b;
};
}  // namespace

TEST_CASE("members of structs are known by name") {
  CHECK(names<Pair>() == "x y");
  CHECK(names<Of<double>>() == "first second");
  CHECK(names<Of<Pair>>() == "first second");
  CHECK(names<OneMember>() == "only");
  CHECK(names<WithArrays>() == "matrix weight pairs three");
  CHECK(names<WithPointers>() == "pair text function flag mood");
  CHECK(names<WithUnnamedStruct>() == "part größe");
  CHECK(names<WithInitializers>() == "x y");
  CHECK(names<WithConstant>() == "x y");
  CHECK(names<Aligned>() == "x y");
  CHECK(names<Sixteen>() == "a b c d e f g h i j k l m n o p");
  CHECK(names<Named>() == "ex why");
  CHECK(names<WithoutDefault>() == "named pair");
  CHECK(names<OfThisFile>() == "a b");
  CHECK(names<WithOptionals>() == "id range pairs both");
  CHECK(names<Of<std::optional<float>>>() == "first second");
  CHECK(names<WithLibraryClasses>() == "id function none texts");
}

TEST_CASE("what structured bindings cannot take apart, or not safely, has no members") {
  CHECK(names<Empty>() == "-");
  CHECK(names<Seventeen>() == "-");
  CHECK(names<LongArray>() == "-");
  CHECK(names<Derived>() == "-");
  CHECK(names<WithEmptyBase>() == "-");
  CHECK(names<WithUnnamedUnion>() == "-");
  CHECK(names<Union>() == "-");
  CHECK(names<WithUnion>() == "-");
  CHECK(names<WithBitFields>() == "-");
  CHECK(names<WithConstructor>() == "-");
  CHECK(names<WithPrivateMember>() == "-");
  CHECK(names<WithReference>() == "-");
  CHECK(names<WithTupleSize>() == "-");
  CHECK(names<WithTupleSizeInside>() == "x y");
  CHECK(names<int>() == "-");
}

TEST_CASE("structs with members that convert from everything have no members, wherever these are") {
  CHECK(names<Of<FromAll>>() == "-");
  CHECK(names<Behind<int, FromAll>>() == "-");
  CHECK(names<Behind<int, FromAll[3]>>() == "-");
  CHECK(names<Behind<float[4], const FromAll>>() == "-");
  CHECK(names<Behind<int, FromAllReferences>>() == "-");
  CHECK(names<Behind<int, OnlyFromAll>>() == "-");
  CHECK(names<Behind<int, std::any>>() == "-");
  CHECK(names<Behind<int, std::optional<FromAll>>>() == "-");
  CHECK(names<WithInitializedMember>() == "-");
  CHECK(names<WithInitializedArray>() == "-");
  CHECK(names<WithPart>() == "x part parts");
  CHECK(names<NamedBehind>() == "ex why");
}

TEST_CASE("the name of a member is cut out of what each compiler writes") {
  // g++, clang, nvcc for device code, nvcc for host code
  CHECK(cut_out_name(
            "f() [with PointerTo<...auto...> kPointer = PointerTo<float>{(& no_object_v<V>.NoObject<V>::value.V::x)}; "
            "std::string_view = std::basic_string_view<char>]",
            0) == "x");
  CHECK(cut_out_name("f() [kPointer = {&no_object_v.value.x}]", 0) == "x");
  CHECK(cut_out_name(
            "f() [with PointerTo<float> kPointer = PointerTo<float>{(const float *)(&no_object_v<V>.value.x)}]", 0) ==
        "x");
  const std::string text = "f() [kPointer = PointerTo<float>{(const float *)((&no_object_v<V>.value.x.y[0].z) -";
  CHECK(cut_out_name(text + "2)}]", 0) == "x");
  CHECK(cut_out_name(text + "11)}]", 1) == "y");
  CHECK(cut_out_name(text + "1)}]", 2) == "z");
  for (const char* const other : {"", "}", "f()", "f() [kPointer = {}]", "f() [kPointer = {&<unknown>}]", "f() -1)}"}) {
    CHECK(cut_out_name(other, 0) == "");
  }
}

}  // namespace value_members_test
