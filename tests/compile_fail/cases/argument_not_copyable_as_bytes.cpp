// expect: an argument of this loop is not trivially copyable
// names: argument_not_copyable_as_bytes::Trout
// A method that takes a std::vector.
#include <vector>

#include <dynasoar/dynasoar.h>

namespace argument_not_copyable_as_bytes {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ void choose(std::vector<int> ages) { age_ = ages[0]; }
  __device__ void look_up(const int* ages) { age_ = ages[0]; }
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_do<&Trout::choose>(std::vector<int>(10));
#else
  handle.parallel_do<&Trout::look_up>(static_cast<const int*>(nullptr));
#endif
}

}  // namespace argument_not_copyable_as_bytes
