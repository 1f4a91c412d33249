// expect: is a reference to something that is not const
// parallel_for with a lambda that takes the index by reference.
#include <dynasoar/dynasoar.h>

namespace index_by_reference {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_for(10, [] __device__(std::size_t & i) { ++i; });
#else
  handle.parallel_for(10, [] __device__(std::size_t) {});
#endif
}

}  // namespace index_by_reference
