// expect: this class is not in its allocator's list. Add it to SoaAllocator
// make_new of a class that was forgotten in the list.
#include <dynasoar/dynasoar.h>

namespace class_not_listed {

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
};

__device__ void use() {
  dynasoar::make_new<Crab>();
}

}  // namespace class_not_listed
