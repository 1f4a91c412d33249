// Defaults of the sanitizers for the test programs that link this file.
extern "C" {
const char* __asan_default_options();
const char* __tsan_default_options();

// Some tests ask for more memory than there is and expect the library's error, so the sanitizers' allocators must
// return null, as the real one does, instead of ending the program.
const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
}
