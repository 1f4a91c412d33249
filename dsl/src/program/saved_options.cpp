#include <dynasoar/program/simulation.h>

#include <charconv>
#include <sstream>

#include <dynasoar/program/format.h>
#include <dynasoar/program/options.h>

namespace dynasoar::program {

namespace {

constexpr char kSum = '#';
constexpr std::string_view kProgram = "program";

std::string running_program;  // lines as in SavedOptions, like the next variables
std::string running_options;

// The value of the option in the first line, if it is this one.
std::string first_value(const std::string& text, std::string_view option) {
  const std::string line = text.substr(0, text.find('\n'));
  const bool is_it = line.starts_with(option) && line.substr(option.size(), 1) == "\t";
  return is_it ? line.substr(option.size() + 1) : std::string();
}

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

SavedOptions& SavedOptions::add(std::string_view option, const std::string& text) {
  text_ += std::string(option) + '\t' + shown(text, text.size()) + '\n';
  return *this;
}

std::vector<char> SavedOptions::text() const {
  return {text_.begin(), text_.end()};
}

SavedOptions SavedOptions::with_program() const {
  SavedOptions all(*this);
  all.text_ = running_program + (text_.empty() ? running_options : text_);
  return all;
}

void SavedOptions::check_same(const SavedOptions& saved, const std::string& path) const {
  const std::string program = first_value(text_, kProgram);
  const std::string other_program = first_value(saved.text_, kProgram);
  if (program != other_program) {
    throw UsageError("--restore: " + path + " is a checkpoint of " +
                     (other_program.empty() ? "another program, or of an older version of this one"
                                            : "the program " + shown(other_program)) +
                     ", not of " + program);
  }
  std::istringstream lines(text_);
  std::istringstream saved_lines(saved.text_);
  for (std::string line, other; std::getline(lines, line);) {
    if (!std::getline(saved_lines, other)) other.clear();
    if (line == other) continue;
    const std::string option = line.substr(0, line.find('\t'));
    const std::string value = line.substr(option.size() + 1);
    throw UsageError(option + ": the run in " + path +
                     (value.front() == kSum ? " is of something else; give its options again"
                                            : " has " + shown(other.substr(other.find('\t') + 1)) + ", not " + value));
  }
}

void set_running_program(const std::string& program, const std::string& variant, const SavedOptions& options) {
  running_program = std::string(kProgram) + '\t' + program + "\n--variant\t" + variant + '\n';
  const std::vector<char> text = options.text();
  running_options.assign(text.begin(), text.end());
}

}  // namespace dynasoar::program
