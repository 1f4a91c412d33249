#include <app/text.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include <fmt/format.h>

namespace app {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kPiece = std::size_t{1} << 16;
constexpr int kSecondsForWriter = 5;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Compression {
  std::string_view magic;
  const char* name;
};
constexpr std::array<Compression, 9> kCompressions = {{{"\x1F\x8B"sv, "gzip"},
                                                       {"PK\x03\x04"sv, "zip"},
                                                       {"PK\x05\x06"sv, "zip"},
                                                       {"\xFD\x37zXZ\0"sv, "xz"},
                                                       {"\x28\xB5\x2F\xFD"sv, "zstd"},
                                                       {"BZh"sv, "bzip2"},
                                                       {"7z\xBC\xAF\x27\x1C"sv, "7-Zip"},
                                                       {"\x04\x22\x4D\x18"sv, "lz4"},
                                                       {"\x1F\x9D"sv, "compress"}}};

// @param text   the beginning of it, at least
void require_text(std::string_view text, const std::string& name) {
  for (const Compression& compression : kCompressions) {
    if (!text.starts_with(compression.magic)) continue;
    throw UsageError(fmt::format("{} is compressed with {}: unpack it first", shown(name, kPiece), compression.name));
  }
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    throw UsageError(fmt::format("{} is text in UTF-16: save it as UTF-8", shown(name, kPiece)));
  }
  if (text.substr(0, kPiece).find('\0') != std::string_view::npos) {
    throw UsageError(fmt::format("{} is not a text file: it has bytes that are 0", shown(name, kPiece)));
  }
}

[[noreturn]] void fail_to_read(const std::string& path) {
  throw UsageError(fmt::format("cannot read {}: {}", shown(path, kPiece), std::strerror(errno)));
}

/// Waits for a limited time until a program has opened a FIFO to write to it. @return whether one has
bool wait_for_writer(int descriptor, std::FILE* file) {
  constexpr int kPause = 50;  // milliseconds
  for (int waited = 0; waited < kSecondsForWriter * 1000; waited += kPause) {
    char first = 0;
    const ssize_t size = ::read(descriptor, &first, 1);
    if (size > 0) std::ungetc(static_cast<unsigned char>(first), file);
    if (size != 0) return true;  // it has written, or has not yet: reading waits for that
    ::poll(nullptr, 0, kPause);
  }
  return false;
}

/// Opens a file for reading. @throws UsageError also if it is a FIFO to which no program writes
std::FILE* open_to_read(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // does not wait for a writer
  if (descriptor < 0) fail_to_read(path);
  std::FILE* const file = ::fdopen(descriptor, "rb");
  if (file == nullptr) fail_to_read(path);
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) && !wait_for_writer(descriptor, file)) {
    std::fclose(file);
    throw UsageError(fmt::format("cannot read {}: it is a FIFO, and no program has opened it for writing for {} s",
                                 shown(path, kPiece), kSecondsForWriter));
  }
  ::fcntl(descriptor, F_SETFL, 0);  // makes reads wait
  return file;
}

}  // namespace

std::string read_text(const std::string& path) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(open_to_read(path), close);
  std::string text;
  for (bool is_first = true;; is_first = false) {
    const std::size_t size = text.size();
    text.resize(size + kPiece);
    text.resize(size + std::fread(text.data() + size, 1, kPiece, file.get()));
    if (std::ferror(file.get()) != 0) fail_to_read(path);
    if (is_first) require_text(text, path);  // before all of a large file, or of an endless one, is read
    if (text.size() == size) return plain_text(std::move(text), path);
  }
}

std::string plain_text(std::string text, const std::string& name) {
  require_text(text, name);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (text.find('\r') == std::string::npos) return text;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    text[kept++] = text[i] == '\r' ? '\n' : text[i];
  }
  text.resize(kept);
  return text;
}

bool take_line(std::string_view& rest, std::string_view& line) {
  if (rest.empty()) return false;
  const std::size_t end = std::min(rest.find('\n'), rest.size());
  line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return true;
}

std::string at_place(const std::string& file, std::size_t line, std::size_t column, const std::string& message) {
  return fmt::format("{}:{}:{}: {}", shown(file, kPiece), line, column, message);
}

bool is_tiny(std::string_view number) {
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::string_view digits = number.substr(0, mark);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  std::string_view exponent = number.substr(std::min(mark + 1, number.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  long long power = 0;
  const auto [end, error] = std::from_chars(exponent.data(), exponent.data() + exponent.size(), power);
  if (error == std::errc::result_out_of_range) return exponent.starts_with('-');
  // The number of places of the first digit before the point, negative after it. It may be wrong by one, because
  // numbers out of range are far from 1.
  const long long place = static_cast<long long>(point) - static_cast<long long>(first);
  return power < -place;
}

}  // namespace app
