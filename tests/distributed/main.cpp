// Tests that all ranks run together, in the same order. Rank 0 prints the summary; failures are printed by all.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "world.h"

dynasoar::Communicator& world() {
  static dynasoar::Communicator* const communicator = new dynasoar::Communicator({.patience_seconds = 20});
  return *communicator;
}

int main(int argc, char** argv) {
  const std::unique_ptr<dynasoar::Communicator> owner(&world());
  doctest::Context context(argc, argv);
  context.setOption("minimal", world().rank() != 0);
  return context.run();
}
