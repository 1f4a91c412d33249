// expect: this class has a data member that is not a SoaField
// An ordinary data member: an object has no bytes of its own.
#include <dynasoar/dynasoar.h>

namespace plain_data_member {

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
#if defined(MISTAKE)
  DYNASOAR_FIELDS(Fish, (age_, int))
  float size_;
#else
  DYNASOAR_FIELDS(Fish, (age_, int), (size_, float))
#endif
};

__device__ void use() {
  dynasoar::make_new<Fish>();
}

}  // namespace plain_data_member
