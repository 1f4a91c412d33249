#include <app/saved_options.h>

#include <charconv>
#include <sstream>

#include <app/error.h>

namespace app {

namespace {

constexpr char kSum = '#';

template <class T>
std::string line_of(std::string_view option, T value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return std::string(option) + '\t' + std::string(digits, end) + '\n';
}

}  // namespace

SavedOptions::SavedOptions(const std::vector<char>& text) : text_(text.begin(), text.end()) {}

SavedOptions& SavedOptions::add_number(std::string_view option, float value) {
  text_ += line_of(option, value);
  return *this;
}
SavedOptions& SavedOptions::add_number(std::string_view option, double value) {
  text_ += line_of(option, value);
  return *this;
}
SavedOptions& SavedOptions::add_number(std::string_view option, std::int64_t value) {
  text_ += line_of(option, value);
  return *this;
}
SavedOptions& SavedOptions::add_number(std::string_view option, std::uint64_t value) {
  text_ += line_of(option, value);
  return *this;
}

SavedOptions& SavedOptions::add(std::string_view option, const InputSum& sum) {
  text_ += std::string(option) + '\t' + kSum + std::to_string(sum.value()) + '\n';
  return *this;
}

std::vector<char> SavedOptions::text() const {
  return {text_.begin(), text_.end()};
}

void SavedOptions::check_same(const SavedOptions& saved, const std::string& path) const {
  std::istringstream lines(text_);
  std::istringstream saved_lines(saved.text_);
  for (std::string line, other; std::getline(lines, line);) {
    if (!std::getline(saved_lines, other)) other.clear();
    if (line == other) continue;
    const std::string option = line.substr(0, line.find('\t'));
    const std::string value = line.substr(option.size() + 1);
    throw UsageError(option + ": the run in " + path +
                     (value.front() == kSum ? " is of something else; give its options again"
                                            : " has " + other.substr(other.find('\t') + 1) + ", not " + value));
  }
}

}  // namespace app
