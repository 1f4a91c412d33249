// expect: this class has a virtual function. Objects in SOA layout have no virtual table; leave out
// A virtual function: an object has no place for the pointer to its table.
#include <dynasoar/dynasoar.h>

namespace virtual_function {

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
#if defined(MISTAKE)
  __device__ virtual void swim() {}
#else
  __device__ void swim() {}
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.parallel_do<&Fish::swim>();
}

}  // namespace virtual_function
