/// @file
/// What an action throws, for tests that look into exceptions.
#pragma once

#include <exception>
#include <string>

#include <doctest/doctest.h>

namespace dynasoar::test {

/// The exception that an action throws. The test case fails, and ends, if it throws none of that class.
template <class E, class F>
E thrown(const F& action) {
  try {
    action();
  } catch (const E& error) {
    return error;
  }
  FAIL("nothing was thrown");
  std::terminate();  // FAIL has thrown
}

/// What an action that throws such an exception says, or "no error".
template <class E, class F>
std::string message_of(const F& action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace dynasoar::test
