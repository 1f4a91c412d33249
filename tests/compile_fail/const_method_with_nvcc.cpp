// A const method as template argument: nvcc writes host code for it that does not compile.
#include <dynasoar/dynasoar.h>

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
  __device__ void draw() const {}
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE_const_method)
  // expect: nvcc cannot pass a const method to a kernel at compile time
  handle.parallel_do<&Fish::draw>();
#else
  handle.parallel_do<Fish>([] __device__(Fish * fish) { fish->draw(); });
#endif
}
