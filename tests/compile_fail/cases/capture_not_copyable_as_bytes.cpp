// expect: what this loop calls captures, or has as a member, something that is not trivially copyable
// A lambda that captures a std::vector.
#include <vector>

#include <dynasoar/dynasoar.h>

namespace capture_not_copyable_as_bytes {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  const std::vector<int> ages(10);
  handle.parallel_for(10, [ages] __device__(std::size_t i) { (void)ages[i]; });
#else
  const int* const ages = nullptr;
  handle.parallel_for(10, [ages] __device__(std::size_t i) { (void)ages[i]; });
#endif
}

}  // namespace capture_not_copyable_as_bytes
