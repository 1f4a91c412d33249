// Reductions, by the host and in device code.
#include <vector>

#include <dynasoar/dynasoar.h>

namespace reductions {

class Body;
using AllocatorT = dynasoar::SoaAllocator<Body>;

class Body : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Body, (mass_, float), (all_, float), (heavy_, bool))
  __device__ auto weigh_all(float factor) {
    return dynasoar::device_reduce<Body>(
               0.0f, dynasoar::Plus{},
#if defined(MISTAKE_reduction_load_captures)
               // expect: the load function of device_reduce must capture nothing
               [factor](Body* other) { return other->mass_ * factor; }, [](float mass) { return mass; })
#else
               [](Body* other) { return other->mass_.get(); }, [factor](float mass) { return mass * factor; })
#endif
        .then([this](float sum) { all_ = sum; });
  }
  __device__ auto weigh() {
    return dynasoar::device_reduce<Body>(0.0f, dynasoar::Plus{}, [](Body* other) { return other->mass_.get(); })
#if defined(MISTAKE_reduction_not_finished)
        // expect: returns a device_reduce without a function for the result
        ;
#else
        .then([this](float sum) { all_ = sum; });
#endif
  }
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.parallel_do<&Body::weigh_all>(2.0f);
  handle.parallel_do<&Body::weigh>();
#if defined(MISTAKE_reduction_captures_vector)
  // expect: the callable of this loop captures, or has as a member, a value that is not trivially copyable
  // names: reductions::Body
  const std::vector<float> masses(10);
  handle.count_if<Body>([masses] __device__(Body * body) { return body->mass_ > masses[0]; });
#elif defined(MISTAKE_field_copied)
  // expect: this would copy a field of an object, which has no meaning outside of the object
  handle.count_if<Body>([] __device__(Body * body) { return body->heavy_; });
#else
  handle.count_if<Body>([] __device__(Body * body) -> bool { return body->heavy_; });
#endif
}

}  // namespace reductions
