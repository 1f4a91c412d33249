#include "losses.h"

#include <algorithm>

#include <fmt/format.h>

#include "messages.h"

namespace dynasoar::program {

void Losses::add(const std::string& output, const std::string& what) {
  ++find(output).count;
  warn(output, what);
}

void Losses::warn(const std::string& output, const std::string& what) {
  Output& trouble = find(output);
  if (!trouble.is_known) print_error(fmt::format("{}: {}: {}\n", program_, output, what));
  trouble.is_known = true;
}

void Losses::end_trouble(const std::string& output) {
  find(output).is_known = false;
}

bool Losses::empty() const {
  return std::all_of(outputs_.begin(), outputs_.end(), [](const Output& output) { return output.count == 0; });
}

std::string Losses::text() const {
  std::string text;
  for (const Output& output : outputs_) {
    if (output.count == 0) continue;
    text += (text.empty() ? "" : ", ") + output.name;
    if (output.count > 1) text += fmt::format(" ({} times)", output.count);
  }
  return text;
}

Losses::Output& Losses::find(const std::string& name) {
  const auto same = [&name](const Output& output) { return output.name == name; };
  const auto found = std::find_if(outputs_.begin(), outputs_.end(), same);
  if (found != outputs_.end()) return *found;
  outputs_.push_back({name});
  return outputs_.back();
}

}  // namespace dynasoar::program
