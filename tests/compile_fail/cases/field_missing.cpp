// expect: this class has fewer fields than FieldTypes lists
// A type was added to FieldTypes, but no field.
#include <dynasoar/dynasoar.h>

namespace field_missing {

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<int, float>;
  dynasoar::SoaField<Fish, 0> age_;
#if !defined(MISTAKE)
  dynasoar::SoaField<Fish, 1> size_;
#endif
};

__device__ void use() {
  dynasoar::make_new<Fish>();
}

}  // namespace field_missing
