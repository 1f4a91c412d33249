// expect: 'new' cannot create an object of this allocator's classes
// names: new_expression::
// new in host code.
#include <dynasoar/dynasoar.h>

namespace new_expression {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ explicit Trout(std::size_t) : age_(0) {}
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.synchronize();
  new Trout(std::size_t{1});
#else
  handle.parallel_new<Trout>(1);
#endif
}

}  // namespace new_expression
