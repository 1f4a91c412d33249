# Sets DYNASOAR_VERSION, as in 0.2.0, from dynasoar/version.h.

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../dsl/include/dynasoar/version.h" _dynasoar_lines
  REGEX "^#define DYNASOAR_VERSION_(MAJOR|MINOR|PATCH) [0-9]+$")
list(TRANSFORM _dynasoar_lines REPLACE ".* " "")
list(JOIN _dynasoar_lines "." DYNASOAR_VERSION)
