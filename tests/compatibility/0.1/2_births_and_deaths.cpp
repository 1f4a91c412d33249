/// @file
/// Objects create and delete objects in parallel code: cells divide at the ages of 2 and 4, and die at 5.
///
/// Prints:
///     step 2: 2000 cells
///     step 4: 4000 cells
///     step 6: 6000 cells
///     step 8: 10000 cells
///     12000 were born, 2000 died
#include <cstddef>
#include <cstdio>

#include <dynasoar/dynasoar.h>

class Cell;
using AllocatorT = dynasoar::SoaAllocator<Cell>;

class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (age_, int));

  __device__ explicit Cell(std::size_t) : age_(0) {}

  __device__ void live() {
    age_ += 1;
    if (age_ == 2 || age_ == 4)
      dynasoar::make_new<Cell>(std::size_t{0});  // null if the heap is full; the next loop visits it
    if (age_ == 5) dynasoar::destroy(this);      // nobody may use it from now on
  }
};

int main() {
  using namespace dynasoar::literals;
  // A fixed size. If it did not suffice, synchronize(), count() and the like would throw an AllocationError.
  dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = 1_MiB});
  handle.parallel_new<Cell>(1000);
  for (int step = 1; step <= 8; ++step) {
    handle.parallel_do<&Cell::live>();
    if (step % 2 == 0) std::printf("step %d: %d cells\n", step, static_cast<int>(handle.count<Cell>()));
  }
  const dynasoar::Statistics statistics = handle.statistics();
  std::printf("%d were born, %d died\n", static_cast<int>(statistics.created()),
              static_cast<int>(statistics.deleted()));
}
