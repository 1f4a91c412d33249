/// @file
/// The main function of every test program: runs its tests, or says that they are skipped for want of a GPU.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>

#include <doctest/doctest.h>

#include <dynasoar/platform/executor.h>

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;  // known to ctest, see dynasoar_add_test
  if (!dynasoar::Executor::device_available()) {
    std::puts("skipped: this is a CUDA build and there is no usable GPU");
    return kSkipped;
  }
  doctest::Context context(argc, argv);
  return context.run();
}
