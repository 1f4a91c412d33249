// expect: the load function of device_reduce may capture nothing
// What is loaded of another object cannot depend on who looks at it.
#include <dynasoar/dynasoar.h>

namespace reduction_load_captures {

class Body;
using AllocatorT = dynasoar::SoaAllocator<Body>;

class Body : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Body, (mass_, float), (all_, float))

  __device__ auto weigh(float factor) {
    return dynasoar::device_reduce<Body>(
               0.0f, dynasoar::Plus{},
#if defined(MISTAKE)
               [factor](Body* other) { return other->mass_ * factor; }, [](float mass) { return mass; })
#else
               [](Body* other) { return other->mass_.get(); }, [factor](float mass) { return mass * factor; })
#endif
        .then([this](float sum) { all_ = sum; });
  }
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.parallel_do<&Body::weigh>(2.0f);
}

}  // namespace reduction_load_captures
