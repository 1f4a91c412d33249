/// @file
/// FieldAccesses: how often loops read and wrote each field, as numbers, as a table and as JSON; from builds that count
/// this (DYNASOAR_COUNT_ACCESSES).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <dynasoar/allocator/access_counts.h>
#include <dynasoar/field_names.h>
#include <dynasoar/statistics.h>
#include <dynasoar/type_name.h>

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
inline std::ostream& operator<<(std::ostream& out, const FieldAccesses& accesses) {
  std::size_t loop_width = 9, type_width = 5, field_width = 5;
  for (const auto* list : {&accesses.loops, &accesses.fields}) {
    for (const FieldAccess& access : *list) {
      loop_width = std::max(loop_width, access.loop.size());
      type_width = std::max(type_width, access.type.size());
      field_width = std::max(field_width, access.field.size());
    }
  }
  const auto line = [&](const auto& loop, const auto& type, const auto& field, const auto& reads, const auto& writes,
                        const auto& by_reference) {
    out << std::left << std::setw(static_cast<int>(loop_width) + 2) << loop
        << std::setw(static_cast<int>(type_width) + 2) << type << std::setw(static_cast<int>(field_width)) << field
        << std::right << std::setw(16) << reads << std::setw(16) << writes << std::setw(16) << by_reference << '\n';
  };
  line("loop", "class", "field", "reads", "writes", "by reference");
  for (const FieldAccess& access : accesses.loops) {
    line(access.loop, access.type, access.field, access.reads, access.writes, access.by_reference);
  }
  for (const FieldAccess& access : accesses.fields) {
    line("all loops", access.type, access.field, access.reads, access.writes, access.by_reference);
  }
  return out;
}

/// The same as a JSON object, on one line, with the arrays `loops` and `fields`. Names are those of the members.
inline std::string to_json(const FieldAccesses& accesses) {
  std::ostringstream out;
  const auto add = [&out](const std::vector<FieldAccess>& list, bool has_loop) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const FieldAccess& access = list[i];
      out << (i > 0 ? ", {" : "{");
      if (has_loop) out << "\"loop\": " << detail::json_text(access.loop) << ", ";
      out << "\"type\": " << detail::json_text(access.type) << ", \"field\": " << detail::json_text(access.field)
          << ", \"reads\": " << access.reads << ", \"writes\": " << access.writes
          << ", \"by_reference\": " << access.by_reference << '}';
    }
  };
  out << "{\"loops\": [";
  add(accesses.loops, true);
  out << "], \"fields\": [";
  add(accesses.fields, false);
  out << "]}";
  return out.str();
}

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

/// What the counts say. Waits for the device.
template <class A>
FieldAccesses field_accesses_of(Executor& executor, const AccessCounts<A>& counts) {
  const std::vector<std::uint64_t> words = counts.take(executor);
  FieldAccesses result;
  A::Types::for_each([&]<class T>(std::type_identity<T>) {
    for (const std::string& name : all_field_names<T>()) {
      result.fields.push_back({"", std::string(type_name<T>()), name});
    }
  });
  for (std::size_t loop = 0; loop < counts.names().size(); ++loop) {
    for (std::size_t field = 0; field < result.fields.size(); ++field) {
      FieldAccess& sum = result.fields[field];
      const std::uint64_t* const word = &words[loop * counts.kWords + field * kCountedKinds];
      const FieldAccess here{counts.names()[loop], sum.type, sum.field, word[0], word[1], word[2]};
      sum.reads += here.reads;
      sum.writes += here.writes;
      sum.by_reference += here.by_reference;
      if (here.all() > 0) result.loops.push_back(here);
    }
  }
  return result;
}

}  // namespace detail

}  // namespace dynasoar
