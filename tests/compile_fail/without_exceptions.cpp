// expect: dynasoar: errors are reported as exceptions, which this file is compiled without. Remove -fno-exceptions
// Compiled with that option, or without it.
#include <dynasoar/platform/config.h>
