// expect: is a reference to something that is not const
// names: argument_by_reference::Trout
// A method that wants to change an argument of the loop, which every thread copies.
#include <dynasoar/dynasoar.h>

namespace argument_by_reference {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ void count(int& trouts) { ++trouts; }
  __device__ void count_by_value(int trouts) { age_ += trouts; }
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_do<&Trout::count>(1);
#else
  handle.parallel_do<&Trout::count_by_value>(1);
#endif
}

}  // namespace argument_by_reference
