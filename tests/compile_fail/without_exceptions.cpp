#if defined(MISTAKE_without_exceptions)  // compiled with -fno-exceptions
// expect: dynasoar: errors are reported as exceptions, which this file is compiled without. Remove -fno-exceptions
#endif
#include <dynasoar/platform/config.h>
