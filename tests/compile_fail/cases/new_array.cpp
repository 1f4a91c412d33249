// expect: 'new' cannot create an object of this allocator's classes
// names: new_array::
// An array of objects, in device code.
#include <dynasoar/dynasoar.h>

namespace new_array {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ Trout() : age_(0) {}
#if defined(MISTAKE)
  __device__ void spawn() {
    new Trout[3];
  }
#else
  __device__ void spawn() {
    dynasoar::make_new<Trout>();
  }
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_do<&Trout::spawn>();
#else
  handle.parallel_do<&Trout::spawn>();
#endif
}

}  // namespace new_array
