// A C++ file of a CUDA target that was not handed to nvcc would get host memory and host loops.
#if defined(MISTAKE_plain_cpp_in_cuda_target)
// expect: this target uses the CUDA backend, but this file is compiled as plain C++. Call dynasoar_compile_as_cuda
#define DYNASOAR_TARGET_USES_CUDA
#endif
#include <dynasoar/platform/config.h>
