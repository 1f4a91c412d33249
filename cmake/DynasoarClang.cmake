# dynasoar_clang: clang's libraries, of which dynasoar-coalesce is built. There is no such target where they are not
# installed (Debian, Ubuntu: apt-get install libclang-14-dev llvm-14-dev). Their interface changes with each version.

find_path(DYNASOAR_CLANG_INCLUDE_DIR clang/Tooling/Tooling.h HINTS /usr/lib/llvm-14/include)
find_path(DYNASOAR_LLVM_INCLUDE_DIR llvm/Support/CommandLine.h HINTS /usr/lib/llvm-14/include)
file(GLOB _resources /usr/lib/llvm-14/lib/clang/14.*)
find_path(DYNASOAR_CLANG_RESOURCES include/stddef.h HINTS ${_resources})
find_library(DYNASOAR_CLANG_LIBRARY NAMES libclang-cpp.so.14 HINTS /usr/lib/llvm-14/lib)
find_library(DYNASOAR_LLVM_LIBRARY NAMES LLVM-14 libLLVM-14.so HINTS /usr/lib/llvm-14/lib)
mark_as_advanced(DYNASOAR_CLANG_INCLUDE_DIR DYNASOAR_LLVM_INCLUDE_DIR DYNASOAR_CLANG_RESOURCES DYNASOAR_CLANG_LIBRARY
  DYNASOAR_LLVM_LIBRARY)
if(DYNASOAR_CLANG_INCLUDE_DIR AND DYNASOAR_LLVM_INCLUDE_DIR AND DYNASOAR_CLANG_RESOURCES AND DYNASOAR_CLANG_LIBRARY AND
   DYNASOAR_LLVM_LIBRARY)
  add_library(dynasoar_clang INTERFACE)
  target_include_directories(dynasoar_clang SYSTEM INTERFACE "${DYNASOAR_CLANG_INCLUDE_DIR}" "${DYNASOAR_LLVM_INCLUDE_DIR}")
  target_link_libraries(dynasoar_clang INTERFACE "${DYNASOAR_CLANG_LIBRARY}" "${DYNASOAR_LLVM_LIBRARY}")
  target_compile_definitions(dynasoar_clang INTERFACE DYNASOAR_CLANG_RESOURCES="${DYNASOAR_CLANG_RESOURCES}")
endif()
