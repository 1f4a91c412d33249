/// @file
/// ForeignLocale: a program whose locales, of C and of C++, write 1234.5 as "1.234,5". For tests that files are the
/// same in all of them.
#pragma once

#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <locale>
#include <string>

#include <doctest/doctest.h>

namespace dynasoar::test {

/// Sets both while it lives. Of C's only if `localedef` can make it, which it says otherwise.
class ForeignLocale {
 public:
  ForeignLocale() : before_(std::locale::global(std::locale(std::locale::classic(), new Numbers))) {
    std::string folder = (std::filesystem::temp_directory_path() / "dynasoar-locale-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    const std::string command = "localedef -i de_DE -f UTF-8 '" + folder + "/de_DE.UTF-8' >/dev/null 2>&1";
    if (std::system(command.c_str()) == 0) {
      setenv("LOCPATH", folder.c_str(), 1);
      std::setlocale(LC_ALL, "de_DE.UTF-8");
      unsetenv("LOCPATH");
    }
    std::filesystem::remove_all(folder);
    char text[8];
    std::snprintf(text, sizeof text, "%.1f", 0.5);
    if (std::string(text) != "0,5") {
      MESSAGE("not tested with a C locale that has a decimal comma: localedef (package locales) cannot make de_DE");
    }
  }
  ForeignLocale(const ForeignLocale&) = delete;
  ForeignLocale& operator=(const ForeignLocale&) = delete;
  ~ForeignLocale() {
    std::setlocale(LC_ALL, "C");
    std::locale::global(before_);
  }

 private:
  struct Numbers : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    char do_decimal_point() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };

  std::locale before_;
};

}  // namespace dynasoar::test
