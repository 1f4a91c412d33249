// Fields, and how they are declared.
#include <array>
#include <atomic>

#include <dynasoar/dynasoar.h>

namespace fields {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;
using Ages = std::array<int, 4>;

struct Name {
#if defined(MISTAKE_field_not_trivially_copyable)
  // expect: a field's type is not trivially copyable. Fields are copied as bytes
  Name() {}
  Name(const Name& other) : first(other.first) {}
  char first = 'x';
#else
  char first;
#endif
};

class Trout : public dynasoar::SoaBase<AllocatorT> {
#if defined(MISTAKE_private_fields)
  // expect: the fields of this class are private
  // names: fields::Trout
#else
 public:
#endif
#if defined(MISTAKE_c_array_field)
  // expect: a field's type is a C array
  // names: fields::Trout
  DYNASOAR_FIELDS(Trout, (ages_, int[4]))
#elif defined(MISTAKE_reference_field)
  // expect: a field's type is a reference
  // names: fields::Trout
  DYNASOAR_FIELDS(Trout, (age_, int&))
#elif defined(MISTAKE_atomic_field)
  // expect: a field's type cannot be copied or assigned
  // names: fields::Trout
  DYNASOAR_FIELDS(Trout, (age_, std::atomic<unsigned>))
#elif defined(MISTAKE_signed_atomic_word)
  // expect: an AtomicWord holds an unsigned integer of 4 or 8 bytes
  DYNASOAR_FIELDS(Trout, (age_, dynasoar::AtomicWord<int>))
#elif defined(MISTAKE_field_class_left_out)
  // expect: DYNASOAR_FIELDS begins with the class
  DYNASOAR_FIELDS((age_, int))
#elif defined(MISTAKE_field_without_parentheses)
  // expect: DYNASOAR_FIELDS(Trout, ...) takes each field as (name, type)
  DYNASOAR_FIELDS(Trout, age_, int)
#elif defined(MISTAKE_name_and_type_swapped)
  // expect: DYNASOAR_FIELDS(Trout, ...) takes each field as (name, type)
  DYNASOAR_FIELDS(Trout, (int, age_))
#elif defined(MISTAKE_fields_forgotten)
  // expect: this class does not say what its fields are
  // names: fields::Trout
  int age_;
#elif defined(MISTAKE_plain_data_member)
  // expect: this class has a data member that is not a SoaField
  DYNASOAR_FIELDS(Trout, (age_, int))
  float size_;
#elif defined(MISTAKE_compressed_pointer_to_unlisted_class)
  // expect: neither this class nor a class derived from it is in its allocator's list, so a CompressedPointer
  // names: fields::Name
  DYNASOAR_FIELDS(Trout, (name_, CompressedPointer<Name>))
#else
  DYNASOAR_FIELDS(Trout, (age_, dynasoar::AtomicWord<unsigned>), (ages_, Ages), (name_, Name),
                  (next_, CompressedPointer<Trout>))
#endif

#if defined(MISTAKE_virtual_function)
  // expect: this class has a virtual function. Objects in SOA layout have no virtual table; leave out
  __device__ virtual void swim() {}
#else
  __device__ void swim() {}
#endif
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  (void)handle.count<Trout>();
  (void)handle.columns<Trout>();
}

}  // namespace fields
