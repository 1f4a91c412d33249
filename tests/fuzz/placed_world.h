/// @file
/// PlacedWorld: a checkpoint with objects on two lattices, and what must be true of the objects after a changed one was
/// loaded or refused. Used by checkpoint_fuzz.cpp.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>

#include "fuzz.h"

namespace dynasoar::test {

inline std::string contents_of(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  require(file != nullptr, "a file cannot be read");
  std::string bytes(1 << 20, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  std::fclose(file);
  return bytes;
}

class PlacedWorld {
 public:
  class Grass;
  class Beast;
  class Wolf;
  class Bear;
  class Keeper;
  using AllocatorT = SoaAllocator<Grass, Beast, Wolf, Bear, Keeper>;

  class Grass final : public SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    DYNASOAR_FIELDS(Grass, (height_, std::uint8_t))
    __device__ Grass() : height_(1) {}
  };
  class Beast : public SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    static constexpr bool kOnePerPlace = true;
    DYNASOAR_FIELDS(Beast, (age_, std::uint32_t))
    __device__ Beast() : age_(2) {}
  };
  class Wolf final : public Beast {
   public:
    using BaseClass = Beast;
    DYNASOAR_FIELDS(Wolf)
  };
  class Bear final : public Beast {
   public:
    using BaseClass = Beast;
    DYNASOAR_FIELDS(Bear, (keeper_, Keeper*))
    __device__ Bear() : keeper_(nullptr) {}
  };
  class Keeper final : public SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Keeper, (age_, std::uint32_t))
    __device__ explicit Keeper(std::size_t) : age_(50) {}
  };

  PlacedWorld() {
    char folder[] = "/tmp/dynasoar-fuzz-XXXXXX";
    require(mkdtemp(folder) != nullptr, "there is no folder");
    good_ = folder + std::string("/placed");
    handle_.parallel_new<Keeper>(100);
    meadow_.parallel_new<Grass>(Every{3});
    wood_.parallel_new<Wolf>(Every{4});
    wood_.parallel_new<Bear>(Every{5});
    handle_.save(good_);
    file_ = contents_of(good_);
  }
  ~PlacedWorld() {
    ::unlink(good_.c_str());
    ::rmdir(good_.substr(0, good_.rfind('/')).c_str());
  }
  PlacedWorld(const PlacedWorld&) = delete;
  PlacedWorld& operator=(const PlacedWorld&) = delete;

  /// The file to start from.
  const std::string& file() const { return file_; }

  /// Loads a file, or finds out that it cannot. In either case the lattices are in order.
  void load_and_use(const std::string& path) {
    const std::uint64_t before = handle_.count<Grass>() + handle_.count<Beast>();
    try {
      handle_.load(path);
    } catch (const CheckpointError&) {
      require(handle_.count<Grass>() + handle_.count<Beast>() == before,
              "objects are lost although nothing was loaded");
    }
    check(handle_.count<Grass>(), handle_.count<Beast>());
    // The places without objects are free, and the others are not.
    meadow_.parallel_new<Grass>(Every{1});
    wood_.parallel_new<Wolf>(Every{2});
    wood_.parallel_new<Bear>(Every{1});
    check(meadow_.shape().size(), wood_.shape().size());
    handle_.parallel_do<Grass>([](Grass* grass) { destroy(grass); });
    handle_.parallel_do<Beast>([](Beast* beast) { destroy(beast); });
    check(0, 0);
  }

  void load_good_one() {
    handle_.load(good_);
    check((meadow_.shape().size() + 2) / 3,
          (wood_.shape().size() + 3) / 4 + (wood_.shape().size() + 4) / 5 - (wood_.shape().size() + 19) / 20);
  }

 private:
  /// Every nth place of a lattice.
  struct Every {
    std::uint64_t step;
    bool operator()(Place place) const { return place.slot() % 64 % step == 0; }
  };

  /// Places have so many objects, as loops over these and over places see it.
  void check(std::uint64_t grass, std::uint64_t beasts) {
    std::uint64_t found = 0;
    meadow_.parallel_for([&](Place place) { found += at<Grass>(place) != nullptr; });
    require(found == grass && handle_.count<Grass>() == grass, "the meadow has other grass than it should have");
    found = 0;
    wood_.parallel_for([&](Place place) {
      int here = 0;
      for_each_at<Beast>(place, [&here](Beast*) { ++here; });
      require(here <= 1, "two beasts are at a place");
      found += static_cast<std::uint64_t>(here);
    });
    require(found == beasts && handle_.count<Beast>() == beasts, "the wood has other beasts than it should have");
    found = 0;
    handle_.parallel_do<Beast>([&](Beast* beast) { found += at<Beast>(place_of(beast)) == beast; });
    require(found == beasts, "a beast is not where it says");
  }

  AllocatorHandle<AllocatorT> handle_{HandleOptions{.heap_bytes = std::size_t{1} << 17, .threads = 1}};
  Lattice<Grass> meadow_{handle_, {60, 3}};  // four slots of each block are no places
  Lattice<Wolf, Bear> wood_{handle_, {60, 5}};
  std::string good_;
  std::string file_;
};

}  // namespace dynasoar::test
