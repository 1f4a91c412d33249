// expect: is a reference to something that is not const
// names: argument_of_lambda_by_reference::Trout
// The same with a lambda; generic ones and callable classes are no exception.
#include <dynasoar/dynasoar.h>

namespace argument_of_lambda_by_reference {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_do<Trout>([] __device__(Trout*, auto& trouts) { ++trouts; }, 1);
#else
  handle.parallel_do<Trout>([] __device__(Trout * trout, const auto& age) { trout->age_ = age; }, 1);
#endif
}

}  // namespace argument_of_lambda_by_reference
