/// @file
/// Objects that point to one another: heat flows along a ring of rods. A step is recorded and submitted as a whole.
///
/// Prints:
///     at first: 100 in all, at most 100.0
///     after 1000 steps: 100 in all, at most 1.8
#include <cstddef>
#include <cstdio>

#include <dynasoar/dynasoar.h>

class Rod;
using AllocatorT = dynasoar::SoaAllocator<Rod>;

class Rod : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Rod, (index_, std::size_t), (left_, Rod*), (right_, Rod*), (heat_, double), (next_heat_, double));

  /// Enters itself into an array, so that others find it.
  __device__ Rod(std::size_t index, Rod** rods) : index_(index), heat_(index == 0 ? 100 : 0) { rods[index] = this; }

  /// All rods exist now: a loop ends before the next one begins.
  __device__ void look_around(Rod** rods, std::size_t count) {
    left_ = rods[(index_ + count - 1) % count];
    right_ = rods[(index_ + 1) % count];
  }

  // Two loops, because who reads its neighbours' heat must not meet one that has its new heat already: a loop reads
  // what another loop wrote, and in one loop every field has one writer. So there is no race, and no lock.
  __device__ void exchange() { next_heat_ = 0.25 * left_->heat_ + 0.5 * heat_ + 0.25 * right_->heat_; }
  __device__ void take() { heat_ = next_heat_; }
};

int main() {
  constexpr std::size_t kRods = 1000;
  dynasoar::AllocatorHandle<AllocatorT> handle;
  const dynasoar::DeviceArray<Rod*> rods(kRods);  // in the memory of the device that runs the loops
  handle.parallel_new<Rod>(kRods, rods.data());
  handle.parallel_do<&Rod::look_around>(rods.data(), kRods);
  const auto report = [&](const char* when) {
    std::printf("%s: %.0f in all, at most %.1f\n", when, handle.sum<&Rod::heat_>(), *handle.maximum<&Rod::heat_>());
  };
  report("at first");
  auto step = handle.record([&] {
    handle.parallel_do<&Rod::exchange>();
    handle.parallel_do<&Rod::take>();
  });
  for (int i = 0; i < 1000; ++i) step();
  report("after 1000 steps");
}
