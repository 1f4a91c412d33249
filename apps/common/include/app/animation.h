/// @file
/// Animation: a sequence of pictures in one file. Only animation.cpp includes the encoder.
#pragma once

#include <memory>
#include <string>

#include <app/picture.h>

namespace app {

class Animation {
 public:
  /// @throws UsageError if `path` does not end in .webp or cannot be written, or the program was built without libwebp
  explicit Animation(std::string path);
  ~Animation();
  Animation(const Animation&) = delete;
  Animation& operator=(const Animation&) = delete;

  /// Adds a picture. Reduces its size if one of its sides is longer than 640 pixels. All pictures are fitted into the
  /// size of the first one. @throws std::runtime_error if it cannot be encoded
  void add(const Picture& picture);

  /// Writes the file. @throws std::runtime_error if it cannot be written
  void finish();

  const std::string& path() const { return path_; }

 private:
  class Encoder;

  std::string path_;
  std::unique_ptr<Encoder> encoder_;
};

}  // namespace app
