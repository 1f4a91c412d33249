// Tests that all ranks run together, in the same order. Rank 0 prints the summary; failures are printed by all.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>
#include <memory>

#include <doctest/doctest.h>

#include <dynasoar/platform/executor.h>

#include "world.h"

dynasoar::Communicator& world() {
  static dynasoar::Communicator* const communicator = new dynasoar::Communicator({.patience_seconds = 20});
  return *communicator;
}

int main(int argc, char** argv) {
  constexpr int kSkipped = 77;  // known to ctest, see dynasoar_add_mpi_test
  if (!dynasoar::Executor::device_available()) {
    std::puts("skipped: this is a CUDA build and there is no usable GPU");
    return kSkipped;
  }
  const std::unique_ptr<dynasoar::Communicator> owner(&world());
  doctest::Context context(argc, argv);
  context.setOption("minimal", world().rank() != 0);
  return context.run();
}
