#include <dynasoar/write_file.h>

#include <dynasoar/platform/durable_file.h>

namespace dynasoar {

void write_file(const std::string& path, std::string_view contents) {
  detail::DurableFile file(path);
  file.write(contents.data(), contents.size());
  file.commit();
}

}  // namespace dynasoar
