// expect: the method does not take these arguments
// A loop that gives a method fewer arguments than it takes.
#include <dynasoar/dynasoar.h>

namespace method_with_other_arguments {

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
  __device__ void swim(int, float) {}
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_do<&Fish::swim>(1);
#else
  handle.parallel_do<&Fish::swim>(1, 2.0f);
#endif
}

}  // namespace method_with_other_arguments
