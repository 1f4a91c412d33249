/// @file
/// Names of loops for builds that count accesses to fields, and the results of counting. Used by LoopRunner.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/classes/class_table.h>
#include <dynasoar/classes/type_name.h>
#include <dynasoar/statistics.h>

namespace dynasoar::detail {

template <auto kMethod>
struct Method;
template <class F, class... Args>
struct ObjectCall;
template <class F, class... Args>
struct IndexedCall;
template <class Condition, class F, class... Args>
struct ConditionalCall;
template <class T, class... Args>
struct IndexedNew;
template <class A, class T, class... Args>
struct FillBlocks;
template <class A, class T, class... Args>
struct CreateRest;
template <class Total, class... Others>
struct Totals;

/// A short name of the callable in a loop: "Fish::update", "new Fish", "StepLog", or the name of the callable's type.
template <class F>
struct CallName {
  static std::string text() { return std::string(type_name<F>()); }
};
template <class F, class... Args>
struct CallName<ObjectCall<F, Args...>> : CallName<F> {};
template <class F, class... Args>
struct CallName<IndexedCall<F, Args...>> : CallName<F> {};
template <class Condition, class F, class... Args>
struct CallName<ConditionalCall<Condition, F, Args...>> : CallName<F> {};
template <class T, class... Args>
struct CallName<IndexedNew<T, Args...>> {
  static std::string text() { return "new " + std::string(type_name<T>()); }
};
template <class A, class T, class... Args>
struct CallName<FillBlocks<A, T, Args...>> : CallName<IndexedNew<T>> {};
template <class A, class T, class... Args>
struct CallName<CreateRest<A, T, Args...>> : CallName<IndexedNew<T>> {};
template <class... All>
struct CallName<Totals<All...>> {
  static std::string text() { return "StepLog"; }
};
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

/// Converts the counts to FieldAccesses.
///
/// @param loops    their names
/// @param words    the counts: for each loop, kCountedKinds for each field of each class
FieldAccesses field_accesses_of(const ClassTable& classes, const std::vector<std::string>& loops,
                                const std::vector<std::uint64_t>& words);

}  // namespace dynasoar::detail
