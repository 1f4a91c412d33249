// expect: the class has no FieldTypes of its own and inherits those of its base: declare them
// The same in the paper's form.
#include <dynasoar/dynasoar.h>

namespace field_types_forgotten_raw {

class Fish;
class Trout;
using AllocatorT = dynasoar::SoaAllocator<Fish, Trout>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<int>;
  dynasoar::SoaField<Fish, 0> age_;
};
class Trout : public Fish {
 public:
  using BaseClass = Fish;
#if !defined(MISTAKE)
  using FieldTypes = std::tuple<>;
#endif
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.count<Trout>();
}

}  // namespace field_types_forgotten_raw
