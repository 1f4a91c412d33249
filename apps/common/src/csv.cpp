#include <app/csv.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <app/error.h>

namespace app {

CsvFile::CsvFile(std::string path, const std::vector<std::string>& columns) : path_(std::move(path)) {
  errno = 0;
  file_.open(path_, std::ios::trunc);
  if (file_) {
    fmt::print(file_, "{}\n", fmt::join(columns, ","));
    file_.flush();
  }
  if (!file_) throw UsageError(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
}

void CsvFile::row(const std::vector<std::string>& cells) {
  if (file_) fmt::print(file_, "{}\n", fmt::join(cells, ","));
}

void CsvFile::flush() {
  errno = 0;
  file_.flush();
  if (!file_) throw std::runtime_error(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
}

}  // namespace app
