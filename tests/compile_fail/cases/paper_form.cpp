// Fields that are declared as in the paper.
#include <dynasoar/dynasoar.h>

namespace paper_form {

class Fish;
class Trout;
class Shark;
using AllocatorT = dynasoar::SoaAllocator<Fish, Trout, Shark>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  using FieldTypes = std::tuple<int, float>;
#if defined(MISTAKE_field_names_too_few)
  // expect: field_names of this class has more or fewer names than its FieldTypes has types
  static constexpr auto field_names = dynasoar::field_names("age_");
#else
  static constexpr auto field_names = dynasoar::field_names("age_", "energy_");
#endif
  dynasoar::SoaField<Fish, 0> age_;
#if defined(MISTAKE_field_index_out_of_range)
  // expect: field index out of range: SoaField<C, I> needs 0 <= I < number of types in C::FieldTypes
  dynasoar::SoaField<Fish, 2> energy_;
#elif defined(MISTAKE_field_missing)
  // expect: this class has fewer fields than FieldTypes lists
#else
  dynasoar::SoaField<Fish, 1> energy_;
#endif
};

class Trout : public Fish {
 public:
  using BaseClass = Fish;
  using FieldTypes = std::tuple<int>;
#if defined(MISTAKE_field_of_another_class)
  // expect: a field of this class is declared for another class. Write SoaField<ThisClass, index>
  dynasoar::SoaField<Fish, 0> spots_;
#else
  dynasoar::SoaField<Trout, 0> spots_;
#endif
};

class Shark : public Fish {
 public:
  using BaseClass = Fish;
#if defined(MISTAKE_field_types_forgotten_in_paper_form)
  // expect: the class has no FieldTypes of its own and inherits those of its base: declare them
#else
  using FieldTypes = std::tuple<>;
#endif
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  (void)handle.count<Fish>();
  (void)handle.count<Trout>();
  (void)handle.count<Shark>();
}

}  // namespace paper_form
