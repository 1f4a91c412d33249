/// @file
/// The switch of planted faults, which plant.py includes into every file that it compiles. The environment variable
/// DYNASOAR_FAULT says which fault this process has, if any. DYNASOAR_FAULTS_REACHED names a file in which one byte for
/// each fault says whether some process came to its place.
#pragma once

#if __cplusplus >= 202002L  // CMake's own checks are older programs
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <type_traits>

namespace dynasoar_faults {

inline constinit int active = 0;
inline constinit unsigned char* reached = nullptr;
inline constinit int count = 0;

// In every unit, before its own variables are initialized; all but the first repeat what that did.
[[gnu::constructor(101)]] static void begin() {
  if (const char* number = std::getenv("DYNASOAR_FAULT")) active = std::atoi(number);
  const char* path = std::getenv("DYNASOAR_FAULTS_REACHED");
  if (path == nullptr || reached != nullptr) return;
  const int file = open(path, O_RDWR | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return;
  void* bytes = mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return;
  count = static_cast<int>(status.st_size);
  reached = static_cast<unsigned char*>(bytes);
}

// Not in constant expressions, which are the same for all faults of a build.
constexpr bool is_active(int fault) {
  if (std::is_constant_evaluated()) return false;
  if (reached != nullptr && fault < count) __atomic_store_n(reached + fault, 1, __ATOMIC_RELAXED);
  return active == fault;
}

}  // namespace dynasoar_faults

// Macro-like name, because it stands in every namespace.
constexpr bool dynasoar_fault(int fault) {
  return dynasoar_faults::is_active(fault);
}
#endif
