// expect: is a reference to something that is not const
// names: argument_of_called_method_by_reference::Trout
// The same with a method that subclasses override.
#include <dynasoar/dynasoar.h>

namespace argument_of_called_method_by_reference {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ void count(int& trouts) { ++trouts; }
  __device__ void grow(int years) { age_ += years; }
};

DYNASOAR_METHOD(Count, count);
DYNASOAR_METHOD(Grow, grow);

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_do<Trout>(Count{}, 1);
#else
  handle.parallel_do<Trout>(Grow{}, 1);
#endif
}

}  // namespace argument_of_called_method_by_reference
