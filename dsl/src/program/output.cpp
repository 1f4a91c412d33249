#include "output.h"

#include <exception>

#include <dynasoar/program/options.h>
#include <dynasoar/write_file.h>

namespace dynasoar::program {

void require_writable_file(const std::string& path) {
  try {
    dynasoar::check_output_path(path);
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

}  // namespace dynasoar::program
