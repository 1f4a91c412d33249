// expect: this class has no public constructor for these arguments
// parallel_new of a class whose constructor does not take the object's number.
#include <cstddef>

#include <dynasoar/dynasoar.h>

namespace constructor_without_number {

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (age_, int))
#if defined(MISTAKE)
  __device__ Fish() : age_(0) {}
#else
  __device__ explicit Fish(std::size_t) : age_(0) {}
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.parallel_new<Fish>(10);
}

}  // namespace constructor_without_number
