/// @file
/// The main function of every test program, which runs its tests, or reports that they are skipped because there is no
/// GPU; and the defaults of the sanitizers.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>

#include <doctest/doctest.h>

#include <dynasoar/platform/executor.h>

extern "C" {
const char* __asan_default_options();
const char* __tsan_default_options();

// Some tests ask for more memory than there is and expect the library's error, so the sanitizers' allocators must
// return null instead of ending the program. New memory is filled with a byte other than 0, because zeros would hide
// that it is read before it is written.
const char* __asan_default_options() {
  return "allocator_may_return_null=1:max_malloc_fill_size=16777216";
}
const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
}

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;  // known to ctest, see dynasoar_add_test
  if (!dynasoar::Executor::device_available()) {
    std::puts("skipped: this is a CUDA build and there is no usable GPU");
    return kSkipped;
  }
  doctest::Context context(argc, argv);
  return context.run();
}
