// expect: 'new' cannot create an object of this allocator's classes
// names: placement_new::
// new at an address; the forms with std::nothrow and alignment are refused likewise.
#include <new>

#include <dynasoar/dynasoar.h>

namespace placement_new {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ explicit Trout(std::size_t) : age_(0) {}
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  (void)handle;
  alignas(16) static char place[64];
  new (place) Trout(std::size_t{1});
#else
  (void)handle;
#endif
}

}  // namespace placement_new
