/// @file
/// Properties of lambdas that depend on the compiler. Used by the rules for callables of loops.
#pragma once

namespace dynasoar::detail {

/// nvcc wraps a `__host__ __device__` lambda in a class that is not copied as bytes.
#if defined(__CUDACC_EXTENDED_LAMBDA__)
template <class F>
inline constexpr bool is_wrapped_lambda_v = __nv_is_extended_host_device_lambda_closure_type(F);
#else
template <class F>
inline constexpr bool is_wrapped_lambda_v = false;
#endif

}  // namespace dynasoar::detail
