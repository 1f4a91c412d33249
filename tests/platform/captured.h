/// @file
/// Captured: what is written to one of the program's standard streams.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <string>

namespace dynasoar::test {

/// Catches what is written to `stdout` or `stderr` while one lives.
class Captured {
 public:
  explicit Captured(std::FILE* stream) : stream_(stream) {
    std::fflush(stream_);
    before_ = dup(fileno(stream_));
    dup2(fileno(file_), fileno(stream_));
  }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  ~Captured() {
    restore();
    std::fclose(file_);
  }

  /// Ends it.
  std::string text() {
    restore();
    std::rewind(file_);
    std::string text;
    for (int character; (character = std::fgetc(file_)) != EOF;) text += static_cast<char>(character);
    return text;
  }

 private:
  void restore() {
    if (before_ < 0) return;
    std::fflush(stream_);
    dup2(before_, fileno(stream_));
    close(before_);
    before_ = -1;
  }

  std::FILE* stream_;
  std::FILE* file_ = std::tmpfile();
  int before_;
};

}  // namespace dynasoar::test
