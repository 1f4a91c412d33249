// expect: objects of an AosAllocator are addresses of one run, so they cannot be saved
// A checkpoint of objects that are ordinary memory.
#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

namespace save_with_other_allocator {

class Fish;
#if defined(MISTAKE)
using AllocatorT = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Fish>;
#else
using AllocatorT = dynasoar::SoaAllocator<Fish>;
#endif

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle, int step) {
  handle.save("fish.checkpoint", dynasoar::value("step", step));
}

}  // namespace save_with_other_allocator
