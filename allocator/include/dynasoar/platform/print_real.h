/// @file
/// print_real: prints a floating-point number from device code. Used by print_object.h.
#pragma once

#include <cstdio>

#include <dynasoar/platform/config.h>

#if !DYNASOAR_CUDA_BACKEND
#include <charconv>
#include <string>

#include <dynasoar/base/number_text.h>
#endif

namespace dynasoar::detail {

/// Prints a line: the text and the number, with 7 or 15 digits and a decimal point.
template <bool kIsShort>
__device__ void print_real(const char* text, double value) {
#if DYNASOAR_CUDA_BACKEND
  std::printf(kIsShort ? "%s%.7g\n" : "%s%.15g\n", text, value);  // the driver formats it, independently of the locale
#else
  const std::string number = number_text(value, std::chars_format::general, kIsShort ? 7 : 15);
  std::printf("%s%s\n", text, number.c_str());
#endif
}

}  // namespace dynasoar::detail
