/// @file
/// Chooses, at run time, among a DSL variant's versions for different allocators. Plain C++.
///
/// app_allocators.h, which CMake writes for each model, defines `DYNASOAR_APP_ALLOCATORS(X, argument)` as
/// `X(soa, "soa", argument) X(bitmap, "bitmap", argument) ...`: the namespace of the version and the name for users.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <app_allocators.h>

namespace app {

#define DYNASOAR_NAME_(version, name, unused) name,

/// The allocators that this model was compiled for; the first is the default.
inline std::vector<std::string> allocator_names() {
  return {DYNASOAR_APP_ALLOCATORS(DYNASOAR_NAME_, )};
}

#undef DYNASOAR_NAME_

/// Makes a simulation with the version for `allocator`.
///
/// @param makers   names, and functions that take `arguments`
/// @throws std::invalid_argument if there is no such version
template <class Maker, class... Arguments>
auto make_with(const std::vector<std::pair<std::string, Maker*>>& makers, const std::string& allocator,
               const Arguments&... arguments) {
  for (const auto& [name, maker] : makers) {
    if (name == allocator) return maker(arguments...);
  }
  std::string message = "this program was not compiled for the allocator '" + allocator + "', but for:";
  for (const auto& [name, maker] : makers) message += " " + name;
  throw std::invalid_argument(message);
}

}  // namespace app

#define DYNASOAR_DECLARE_MAKER_(version, name, variant) \
  namespace variant::version {                          \
  Maker make;                                           \
  }
#define DYNASOAR_MAKER_(version, name, variant) {name, &variant::version::make},

/// Declares `variant::<allocator>::make`, functions of type Maker, and defines `variant_makers`, which lists them.
#define DYNASOAR_MAKERS(variant)                                                \
  DYNASOAR_APP_ALLOCATORS(DYNASOAR_DECLARE_MAKER_, variant)                     \
  static const std::vector<std::pair<std::string, Maker*>> variant##_makers = { \
      DYNASOAR_APP_ALLOCATORS(DYNASOAR_MAKER_, variant)};
