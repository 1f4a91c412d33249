/// @file
/// app::Allocator: where the objects of a DSL variant live. A variant is compiled once for every allocator that the
/// build has (dynasoar_object_variants in apps/CMakeLists.txt), each time in a namespace of that allocator's name.
#pragma once

#include <dynasoar/dynasoar.h>

// Set by CMake; a DynaSOAr heap if not. DYNASOAR_APP_MALLOC is a DeviceMalloc.
#if !defined(DYNASOAR_APP_ALLOCATOR)
#define DYNASOAR_APP_ALLOCATOR soa
#endif
#if defined(DYNASOAR_APP_MALLOC)
#include <dynasoar/malloc/aos_allocator.h>
#include DYNASOAR_APP_MALLOC_HEADER
#endif

namespace app {
inline namespace DYNASOAR_APP_ALLOCATOR {

#if defined(DYNASOAR_APP_MALLOC)
template <class... Ts>
using Allocator = dynasoar::AosAllocator<dynasoar::DYNASOAR_APP_MALLOC, Ts...>;
#else
template <class... Ts>
using Allocator = dynasoar::SoaAllocator<Ts...>;
#endif

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace app
