// expect: 'delete' cannot destroy an object of this allocator's classes
// expect of nvcc: deleted function
// delete this.
#include <dynasoar/dynasoar.h>

namespace delete_this {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
#if defined(MISTAKE)
  __device__ void die() {
    delete this;
  }
#else
  __device__ void die() {
    dynasoar::destroy(this);
  }
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_do<&Trout::die>();
#else
  handle.parallel_do<&Trout::die>();
#endif
}

}  // namespace delete_this
