/// @file
/// app::Allocator: the allocator for the objects of a DSL variant. A variant is compiled once for every allocator of
/// the build (dynasoar_object_variants in cmake/DynasoarAllocators.cmake), each time in a namespace with the name of
/// that allocator.
#pragma once

#include <dynasoar/dynasoar.h>

// Set by CMake; if it is not set, the allocator is a SoaAllocator. DYNASOAR_APP_MALLOC is a DeviceMalloc, whose name
// for users is DYNASOAR_APP_ALLOCATOR_NAME.
#if !defined(DYNASOAR_APP_ALLOCATOR)
#define DYNASOAR_APP_ALLOCATOR soa
#endif
#if defined(DYNASOAR_APP_MALLOC)
#include <string_view>

#include <dynasoar/malloc/aos_allocator.h>
#include DYNASOAR_APP_MALLOC_HEADER

static_assert(dynasoar::detail::check_device_malloc<DYNASOAR_APP_MALLOC>());
static_assert(std::string_view(DYNASOAR_APP_MALLOC::kProperties.name) == DYNASOAR_APP_ALLOCATOR_NAME,
              "dynasoar: CMake knows this allocator as '" DYNASOAR_APP_ALLOCATOR_NAME
              "'; use the same name in its kProperties and in dynasoar_add_allocator()");
#endif

namespace app {
inline namespace DYNASOAR_APP_ALLOCATOR {

#if defined(DYNASOAR_APP_MALLOC)
template <class... Ts>
using Allocator = dynasoar::AosAllocator<DYNASOAR_APP_MALLOC, Ts...>;
#else
template <class... Ts>
using Allocator = dynasoar::SoaAllocator<Ts...>;
#endif

}  // namespace DYNASOAR_APP_ALLOCATOR
}  // namespace app
