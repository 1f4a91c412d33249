/// @file
/// Uses the installed library: creates objects, runs a method on each, counts them.
#include <cstddef>
#include <cstdio>

#include <dynasoar/dynasoar.h>
#include <dynasoar/platform/executor.h>

class Particle;
using Particles = dynasoar::SoaAllocator<Particle>;

class Particle : public dynasoar::SoaBase<Particles> {
 public:
  DYNASOAR_FIELDS(Particle, (position_, int));

  __device__ explicit Particle(std::size_t index) : position_(static_cast<int>(index)) {}
  __device__ void leave_if_odd() {
    if (position_ % 2 != 0) dynasoar::destroy(this);
  }
};

int main() {
  if (!dynasoar::Executor::device_available()) {
    std::puts("built, but not run: there is no usable GPU");
    return 0;
  }
  using namespace dynasoar::literals;
  dynasoar::AllocatorHandle<Particles> handle({.heap_bytes = 16_MiB});
  handle.parallel_new<Particle>(1000);
  handle.parallel_do<&Particle::leave_if_odd>();
  return handle.statistics().objects() == 500 ? 0 : 1;
}
