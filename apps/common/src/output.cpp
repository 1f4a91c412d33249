#include <app/output.h>

#include <exception>

#include <app/error.h>
#include <dynasoar/output_path.h>

namespace app {

void require_writable_file(const std::string& path) {
  try {
    dynasoar::check_output_path(path);
  } catch (const std::exception& error) {
    throw UsageError(error.what());
  }
}

}  // namespace app
