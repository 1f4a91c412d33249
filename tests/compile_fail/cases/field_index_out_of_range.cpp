// expect: field index out of range: SoaField<C, I> needs 0 <= I < number of types in C::FieldTypes
// The second field has an index that FieldTypes does not have.
#include <dynasoar/dynasoar.h>

namespace field_index_out_of_range {

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<int, float>;
  dynasoar::SoaField<Fish, 0> age_;
#if defined(MISTAKE)
  dynasoar::SoaField<Fish, 2> size_;
#else
  dynasoar::SoaField<Fish, 1> size_;
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.count<Fish>();
}

}  // namespace field_index_out_of_range
