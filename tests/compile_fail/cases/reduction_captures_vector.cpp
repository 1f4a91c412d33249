// expect: what this loop calls captures, or has as a member, something that is not trivially copyable
// names: reduction_captures_vector::Trout
// A predicate that captures a std::vector.
#include <vector>

#include <dynasoar/dynasoar.h>

namespace reduction_captures_vector {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  const std::vector<int> ages(10);
  handle.count_if<Trout>([ages] __device__(Trout * trout) { return trout->age_ > ages[0]; });
#else
  handle.count_if<Trout>([] __device__(Trout * trout) { return trout->age_ > 3; });
#endif
}

}  // namespace reduction_captures_vector
