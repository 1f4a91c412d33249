/// @file
/// FieldAccesses: how often loops read and wrote each field, as numbers, as a table and as JSON; from builds that count
/// this (DYNASOAR_COUNT_ACCESSES).
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/type_name.h>

namespace dynasoar {

/// Accesses to a field of the objects of one class.
struct FieldAccess {
  std::string loop;                ///< empty: all loops together, and what was outside of them
  std::string type;                ///< run-time class of the objects
  std::string field;               ///< its name in all_field_names<type>()
  std::uint64_t reads = 0;         ///< of the value, or of an element of an array
  std::uint64_t writes = 0;        ///< assignments; `+=` and the like are a read and a write
  std::uint64_t by_reference = 0;  ///< `get()`, `&field` and elements of arrays, where the object is not const

  std::uint64_t all() const { return reads + writes + by_reference; }
};

/// What was counted since the handle was made.
struct FieldAccesses {
  std::vector<FieldAccess> loops;   ///< those that are not 0, in the order in which loops ran first
  std::vector<FieldAccess> fields;  ///< all fields of all listed classes, over all loops; those never accessed, too
};

/// A table: a line for each loop and field that it accesses, then one for each field.
std::ostream& operator<<(std::ostream& out, const FieldAccesses& accesses);

/// The same as a JSON object, on one line, with the arrays `loops` and `fields`. Names are those of the members.
std::string to_json(const FieldAccesses& accesses);

namespace detail {

template <auto kMethod>
struct Method;
template <class F, class... Args>
struct ObjectCall;
template <class T, class... Args>
struct IndexedNew;
template <class A, class T, class... Args>
struct FillBlocks;
template <class A, class T, class... Args>
struct CreateRest;

/// What loops call, in a few words: "Fish::update", "new Fish", or the name of a callable's type.
template <class F>
struct CallName {
  static std::string text() { return std::string(type_name<F>()); }
};
template <class F, class... Args>
struct CallName<ObjectCall<F, Args...>> : CallName<F> {};
template <class T, class... Args>
struct CallName<IndexedNew<T, Args...>> {
  static std::string text() { return "new " + std::string(type_name<T>()); }
};
template <class A, class T, class... Args>
struct CallName<FillBlocks<A, T, Args...>> : CallName<IndexedNew<T>> {};
template <class A, class T, class... Args>
struct CallName<CreateRest<A, T, Args...>> : CallName<IndexedNew<T>> {};
template <auto kMethod>
struct CallName<Method<kMethod>> {
  static std::string text() {
    // "...Method<&Fish::update>"; compilers may add a cast, parentheses and spaces.
    const std::string_view name = type_name<Method<kMethod>>();
    const std::string_view method = name.substr(name.rfind('&') + 1, name.rfind('>') - name.rfind('&') - 1);
    std::string text;
    for (const char character : method) {
      if (character != '(' && character != ')' && character != ' ') text += character;
    }
    return text;
  }
};

/// The name of a loop over T and its subclasses: "Fish::update", "Fish: Agent::move".
template <class T, class F>
std::string loop_name() {
  const std::string name(type_name<T>());
  const std::string call = CallName<F>::text();
  return call.starts_with(name + "::") ? call : name + ": " + call;
}

/// What the counts say.
///
/// @param loops    their names
/// @param words    of each loop, kCountedKinds for each field of each class
FieldAccesses field_accesses_of(const ClassTable& classes, const std::vector<std::string>& loops,
                                const std::vector<std::uint64_t>& words);

}  // namespace detail

}  // namespace dynasoar
