#include <dynasoar/program/display.h>

#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace dynasoar::program {

std::string NumberedFiles::file_of(std::uint64_t step) const {
  return (folder / fmt::format("{}-{:06}{}", stem, step, ending)).string();
}

std::optional<std::uint64_t> NumberedFiles::step_of(const std::string& name) const {
  const std::size_t begin = stem.size() + 1;
  if (name.size() < begin + ending.size()) return std::nullopt;
  std::uint64_t step = 0;
  if (std::from_chars(name.data() + begin, name.data() + name.size() - ending.size(), step).ec != std::errc()) {
    return std::nullopt;
  }
  const bool is_one = step <= steps && step % every == 0 && (folder / name).string() == file_of(step);
  return is_one ? std::optional(step) : std::nullopt;
}

}  // namespace dynasoar::program
