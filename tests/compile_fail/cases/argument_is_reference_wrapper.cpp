// expect: an argument of this loop is a std::ref
// names: argument_is_reference_wrapper::Trout
// std::ref would let all threads change a variable of the caller.
#include <functional>

#include <dynasoar/dynasoar.h>

namespace argument_is_reference_wrapper {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ void count(int& trouts) { ++trouts; }
  __device__ void grow(int years) { age_ += years; }
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  int trouts = 0;
  handle.parallel_do<&Trout::count>(std::ref(trouts));
#else
  int trouts = 0;
  handle.parallel_do<&Trout::grow>(trouts);
#endif
}

}  // namespace argument_is_reference_wrapper
