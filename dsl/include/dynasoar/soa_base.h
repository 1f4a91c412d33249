/// @file
/// SoaBase: the root of every class whose objects live in an allocator's blocks.
#pragma once

#include <dynasoar/platform/config.h>

namespace dynasoar {

/// Base of user classes. `class Fish : public SoaBase<AllocatorT>`, or from a class that derives from it.
///
/// A class declares its fields with DYNASOAR_FIELDS, or with `using FieldTypes = std::tuple<...>` and one SoaField per
/// entry; a subclass of another SOA class also says `using BaseClass = ThatClass;`. It has no other data members, no
/// virtual functions, and one base. Objects are made by make_new, never on the stack.
///
/// @tparam AllocatorT   the allocator, as in SoaAllocator<Cell, Fish, Shark>
template <class AllocatorT>
class SoaBase {
 public:
  using Allocator = AllocatorT;
  using BaseClass = void;

  SoaBase(const SoaBase&) = delete;
  SoaBase& operator=(const SoaBase&) = delete;

 protected:
  __device__ SoaBase() {}
  ~SoaBase() = default;

 private:
  // Never read or written. Fields lie behind it, because g++ does not see that a first member's address is the
  // object's.
  char place_;
};

}  // namespace dynasoar
