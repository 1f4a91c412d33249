/// @file
/// Versions of DSL variants for other allocators than DynaSOAr's own: every one must give the same simulation.
#pragma once

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <app/allocator_choice.h>

namespace dynasoar::test {

/// The variants once for each other allocator that they were compiled for.
///
/// @tparam Implementation   has `name`, and `make(parameters, ...)`
template <class Implementation>
std::vector<Implementation> on_other_allocators(const std::vector<Implementation>& variants) {
  std::vector<Implementation> versions;
  for (const std::string& allocator : app::allocator_names()) {
    if (allocator == "soa") continue;
    for (Implementation version : variants) {
      version.name += " on " + allocator;
      version.make = [make = version.make, allocator](auto parameters, const auto&... rest) {
        parameters.allocator = allocator;
        return make(parameters, rest...);
      };
      versions.push_back(version);
    }
  }
  return versions;
}

/// The same, for tests that check nothing without them: says so if there are none.
template <class Implementation>
std::vector<Implementation> compiled_for_others(const std::vector<Implementation>& variants) {
  const std::vector<Implementation> versions = on_other_allocators(variants);
  if (versions.empty()) MESSAGE("skipped: compiled for no other allocator (scripts/test --stage allocators)");
  return versions;
}

}  // namespace dynasoar::test
