# dynasoar_warnings: the warnings that our own code is compiled with; users of the library do not get them.

add_library(dynasoar_warnings INTERFACE)
set(_warnings -Wall -Wextra)
target_compile_options(dynasoar_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${_warnings} -Wpedantic>)
# -Wpedantic is not for code that nvcc generates.
target_compile_options(dynasoar_warnings INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
if(DYNASOAR_WERROR)
  target_compile_options(dynasoar_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
endif()
