// expect: a field of this class is declared for another class. Write SoaField<ThisClass, index>
// A field in the paper's form that was copied from another class.
#include <dynasoar/dynasoar.h>

namespace field_of_another_class {

class Fish;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Shark>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<int>;
  dynasoar::SoaField<Fish, 0> age_;
};
class Shark : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<int>;
#if defined(MISTAKE)
  dynasoar::SoaField<Fish, 0> age_;
#else
  dynasoar::SoaField<Shark, 0> age_;
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.count<Shark>();
}

}  // namespace field_of_another_class
