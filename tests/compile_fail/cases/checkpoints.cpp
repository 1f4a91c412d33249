// Checkpoints.
#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

namespace checkpoints {

class Fish;
#if defined(MISTAKE_save_with_other_allocator)
// expect: objects of an AosAllocator are addresses of one run, so they cannot be saved
using AllocatorT = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Fish>;
#else
using AllocatorT = dynasoar::SoaAllocator<Fish>;
#endif

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE_load_into_constant)
  // expect: load takes the results of value(name, variable) and array(name, elements) for variables that can be changed
  const int step = 0;
#else
  int step = 0;
#endif
  handle.save("fish.checkpoint", dynasoar::value("step", step));
  handle.load("fish.checkpoint", dynasoar::value("step", step));
}

}  // namespace checkpoints
