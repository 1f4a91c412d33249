// expect: field_names of this class has more or fewer names than its FieldTypes has types. Name each of the class's own
// fields once A field was added in the paper's form, but not its name.
#include <dynasoar/dynasoar.h>

namespace field_names_too_few {

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<int, float>;
#if defined(MISTAKE)
  static constexpr auto field_names = dynasoar::field_names("age_");
#else
  static constexpr auto field_names = dynasoar::field_names("age_", "energy_");
#endif
  dynasoar::SoaField<Fish, 0> age_;
  dynasoar::SoaField<Fish, 1> energy_;
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.count<Fish>();
}

}  // namespace field_names_too_few
