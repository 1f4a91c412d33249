// expect: must not be 'mutable'
// names: mutable_lambda::Trout
// A lambda that counts in its own capture.
#include <dynasoar/dynasoar.h>

namespace mutable_lambda {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  int trouts = 0;
  handle.parallel_do<Trout>([trouts] __device__(Trout*) mutable { ++trouts; });
#else
  handle.parallel_do<Trout>([] __device__(Trout * trout) { ++trout->age_; });
#endif
}

}  // namespace mutable_lambda
