// expect: this would copy a field of an object, which is nothing outside of the object
// A lambda without a return type returns a field, which is nothing outside of its object.
#include <dynasoar/dynasoar.h>

namespace field_copied {

class Fish;
using AllocatorT = dynasoar::SoaAllocator<Fish>;

class Fish : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Fish, (hungry_, bool))
};

#if defined(MISTAKE)
inline std::uint64_t count(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  return handle.count_if<Fish>([] __device__(Fish * fish) { return fish->hungry_; });
}
#else
inline std::uint64_t count(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  return handle.count_if<Fish>([] __device__(Fish * fish) -> bool { return fish->hungry_; });
}
#endif

}  // namespace field_copied
