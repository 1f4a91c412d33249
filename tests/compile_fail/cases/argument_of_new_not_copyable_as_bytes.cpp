// expect: an argument of this loop is not trivially copyable
// names: argument_of_new_not_copyable_as_bytes::Trout
// Objects that are created with a std::string.
#include <string>

#include <dynasoar/dynasoar.h>

namespace argument_of_new_not_copyable_as_bytes {

class Trout;
using AllocatorT = dynasoar::SoaAllocator<Trout>;

class Trout : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Trout, (age_, int))
  __device__ explicit Trout(std::size_t) : age_(0) {}
  __device__ Trout(std::size_t, const std::string&) : age_(0) {}
};

void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
#if defined(MISTAKE)
  handle.parallel_new<Trout>(10, std::string("brown"));
#else
  handle.parallel_new<Trout>(10);
#endif
}

}  // namespace argument_of_new_not_copyable_as_bytes
