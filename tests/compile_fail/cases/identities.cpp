// Looking objects up by number.
#include <cstddef>
#include <cstdint>

#include <dynasoar/dynasoar.h>
#include <dynasoar/identity.h>

namespace identities {

class Cell;
using AllocatorT = dynasoar::SoaAllocator<Cell>;

class Cell : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Cell, (identity_, dynasoar::Identity), (number_, std::uint64_t))
  __device__ explicit Cell(std::size_t index) : identity_(dynasoar::first_identity({1}, index)), number_(index) {}
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE_index_of_numbers)
  // expect: an IdentityIndex looks at a field of type dynasoar::Identity, and this field is of another type
  dynasoar::IdentityIndex<&Cell::number_> index(handle);
#else
  dynasoar::IdentityIndex<&Cell::identity_> index(handle);
#endif
  index.rebuild();
}

}  // namespace identities
