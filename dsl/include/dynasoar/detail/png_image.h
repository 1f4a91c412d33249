/// @file
/// png_image: pictures in shades of grey as the bytes of a PNG file, and back. Used by raster.h in programs that are
/// linked to dynasoar::png.
///
/// libpng reports errors by calling longjmp, which must not skip destructors. Therefore functions with setjmp have no
/// variables with destructors; everything that they own is a member of an object of the caller.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <png.h>

#include <dynasoar/platform/error.h>

namespace dynasoar::detail {

/// A picture in shades of grey.
struct GreyImage {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<std::uint8_t> values;  // row by row
};

/// The state of libpng while it reads or writes a picture.
class PngTask {
 public:
  PngTask() = default;
  PngTask(const PngTask&) = delete;
  PngTask& operator=(const PngTask&) = delete;
  ~PngTask() {
    if (is_reading_) png_destroy_read_struct(&png_, &info_, nullptr);
    if (!is_reading_ && png_ != nullptr) png_destroy_write_struct(&png_, &info_);
  }

  /// @return whether it succeeded
  bool read(std::string_view file, GreyImage& to) {
    is_reading_ = true;
    rest_ = file;
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, note_problem, ignore_warning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp)
    png_set_read_fn(png_, this, take);
    png_read_info(png_, info_);
    if (png_get_color_type(png_, info_) != PNG_COLOR_TYPE_GRAY || png_get_bit_depth(png_, info_) > 8 ||
        png_get_valid(png_, info_, PNG_INFO_tRNS) != 0) {
      note("it has colours, transparency or 16 bits a pixel; save it in shades of grey, with 8 bits a pixel");
      return false;
    }
    // zlib expands a byte to at most 1032 bytes. So a short file that claims to be a large picture is refused here.
    const double pixels = static_cast<double>(png_get_image_width(png_, info_)) * png_get_image_height(png_, info_);
    if (pixels * png_get_bit_depth(png_, info_) / 8 > 1100.0 * static_cast<double>(file.size())) {
      note("it is too short for the size of its picture");
      return false;
    }
    png_set_expand_gray_1_2_4_to_8(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    to.width = png_get_image_width(png_, info_);
    to.height = png_get_image_height(png_, info_);
    to.values.resize(to.width * to.height);
    for (int pass = 0; pass < passes; ++pass) {
      for (std::size_t y = 0; y < to.height; ++y) png_read_row(png_, &to.values[y * to.width], nullptr);
    }
    png_read_end(png_, nullptr);
    return true;
  }

  bool write(std::size_t width, std::size_t height, const std::uint8_t* values, std::string& to) {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, note_problem, ignore_warning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;  // NOLINT(cert-err52-cpp)
    png_set_write_fn(png_, &to, append, nullptr);
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), 8, PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png_, info_);
    for (std::size_t y = 0; y < height; ++y) png_write_row(png_, values + y * width);
    png_write_end(png_, info_);
    return true;
  }

  /// Why it failed.
  const char* problem() const { return problem_; }

 private:
  /// Allocates nothing: no exception may pass through libpng's functions, which are on the stack.
  void note(const char* problem) { std::snprintf(problem_, sizeof(problem_), "%s", problem); }

  [[noreturn]] static void note_problem(png_structp png, png_const_charp problem) {
    static_cast<PngTask*>(png_get_error_ptr(png))->note(problem);
    png_longjmp(png, 1);
  }
  static void ignore_warning(png_structp, png_const_charp) {}
  static void take(png_structp png, png_bytep data, std::size_t size) {
    std::string_view& rest = static_cast<PngTask*>(png_get_io_ptr(png))->rest_;
    if (rest.size() < size) png_error(png, "the file ends too early");
    std::memcpy(data, rest.data(), size);
    rest.remove_prefix(size);
  }
  static void append(png_structp png, png_bytep data, std::size_t size) {
    bool has_memory = true;
    try {
      static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(data), size);
    } catch (const std::exception&) {
      has_memory = false;
    }
    if (!has_memory) png_error(png, "there is no memory");
  }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  bool is_reading_ = false;
  std::string_view rest_;  // unread part of the file
  char problem_[200] = "there is no memory";
};

/// @throws Error if it is not a PNG file in shades of grey. @param path   for messages
inline GreyImage read_grey_image(const std::string& path, std::string_view file) {
  GreyImage image;
  PngTask task;
  if (!task.read(file, image)) throw Error("dynasoar: cannot read " + path + ": " + task.problem());
  return image;
}

/// @param values   row by row. @throws Error if there are none, or too many for a picture
inline std::string bytes_of_grey_image(std::size_t width, std::size_t height, const std::uint8_t* values) {
  std::string bytes;
  PngTask task;
  if (!task.write(width, height, values, bytes)) {
    throw Error("dynasoar: cannot make a picture of " + std::to_string(width) + " x " + std::to_string(height) +
                " pixels: " + task.problem());
  }
  return bytes;
}

}  // namespace dynasoar::detail
