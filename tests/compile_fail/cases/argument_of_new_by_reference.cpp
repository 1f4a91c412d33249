// expect: to which a reference must be one to const
// names: argument_of_new_by_reference::Trout
// A constructor that counts in an argument of parallel_new.
#include <dynasoar/dynasoar.h>

namespace argument_of_new_by_reference {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
#if defined(MISTAKE)
  __device__ Trout(std::size_t, int& trouts) : age_(++trouts) {}
#else
  __device__ Trout(std::size_t, const int& age) : age_(age) {}
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  int trouts = 0;
  handle.parallel_new<Trout>(10, trouts);
#else
  handle.parallel_new<Trout>(10, 1);
#endif
}

}  // namespace argument_of_new_by_reference
