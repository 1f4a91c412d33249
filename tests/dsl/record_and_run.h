/// @file
/// record_and_run: a recorded step that runs once, for tests of what steps can do.
#pragma once

namespace dynasoar::test {

/// Records a function and runs it; which of the two it is that throws depends on the backend.
template <class Handle, class F>
void record_and_run(Handle& handle, F function) {
  auto step = handle.record(function);
  step();
}

}  // namespace dynasoar::test
