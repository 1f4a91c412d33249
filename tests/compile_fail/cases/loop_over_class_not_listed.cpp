// expect: neither this class nor a class derived from it is in its allocator's list
// A loop over a class of which there can be no objects.
#include <dynasoar/dynasoar.h>

namespace loop_over_class_not_listed {

class Fish;
class Crab;
#if defined(MISTAKE)
using AllocatorT = dynasoar::SoaAllocator<Fish>;
#else
using AllocatorT = dynasoar::SoaAllocator<Fish, Crab>;
#endif

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
};
class Crab : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Crab, (claws_, int))
  __device__ void walk() {}
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.parallel_do<&Crab::walk>();
}

}  // namespace loop_over_class_not_listed
