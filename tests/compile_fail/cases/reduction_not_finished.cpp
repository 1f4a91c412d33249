// expect: returns a device_reduce without saying what becomes of the result
// A method that computes something and drops it.
#include <dynasoar/dynasoar.h>

namespace reduction_not_finished {

class Body;
using AllocatorT = dynasoar::SoaAllocator<Body>;

class Body : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Body, (mass_, float), (all_, float))

  __device__ auto weigh() {
    return dynasoar::device_reduce<Body>(0.0f, dynasoar::Plus{}, [](Body* other) { return other->mass_.get(); })
#if !defined(MISTAKE)
        .then([this](float sum) { all_ = sum; })
#endif
        ;
  }
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.parallel_do<&Body::weigh>();
}

}  // namespace reduction_not_finished
