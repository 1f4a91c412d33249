// Prints objects, and stops where gdb can look at them: see gdb_test.py, which compares the two.
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

namespace gdb_test {

/// gdb stops here.
template <class T>
[[gnu::noinline]] void look_at([[maybe_unused]] T* object) {
  asm volatile("" : : "r"(object) : "memory");
}

/// The same classes over two allocators.
template <template <class...> class Allocator>
struct World {
  class Cell;
  class Agent;
  class Shark;
  class Tiny;
  class Even;
  class Marker;
  template <class T, int n>
  class Box;
  using AllocatorT = Allocator<Cell, Shark, Tiny, Even, Marker, Box<std::array<std::uint8_t, 3>, 7>>;

  class Cell : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Cell, (number_, std::uint16_t));
    explicit Cell(int number) : number_(static_cast<std::uint16_t>(number)) {}
  };
  class Agent : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Agent, (flag_, bool), (place_, Cell*), (self_, Agent*), (nobody_, Agent*),
                    (short_place_, dynasoar::CompressedPointer<Cell, AllocatorT>),
                    (short_self_, dynasoar::CompressedPointer<Agent, AllocatorT>),
                    (short_nobody_, dynasoar::CompressedPointer<Agent, AllocatorT>));
    explicit Agent(Cell* cell)
        : flag_(true),
          place_(cell),
          self_(this),
          nobody_(nullptr),
          short_place_(cell),
          short_self_(this),
          short_nobody_(nullptr) {}
  };
  class Shark : public Agent {
   public:
    using BaseClass = Agent;
    using Bites = std::array<short, 3>;
    DYNASOAR_FIELDS(Shark, (energy_, double), (bites_, Bites), (sign_, std::int8_t), (speed_, float));
    explicit Shark(Cell* cell) : Agent(cell), energy_(-2.5), bites_(Bites{7, -8, 9}), sign_(-3), speed_(0.25f) {}
  };
  /// Bytes, which share lines.
  class Tiny : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Tiny, (a_, std::uint8_t), (long_, std::int64_t), (b_, std::uint8_t), (c_, std::uint8_t));
    explicit Tiny(int number) : a_(1), long_(number), b_(2), c_(3) {}
  };
  /// Blocks of which exactly a tenth is padding, which is not enough to share lines.
  class Even : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Even, (a_, std::uint8_t), (long_, std::int64_t), (b_, std::uint8_t), (wide_, std::int64_t));
    explicit Even(int number) : a_(1), long_(number), b_(2), wide_(-number) {}
  };
  class Marker : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Marker);
  };
  template <class T, int n>
  class Box : public dynasoar::SoaBase<AllocatorT> {
   public:
    using FieldTypes = std::tuple<T, int>;
    dynasoar::SoaField<Box, 0> content_;
    dynasoar::SoaField<Box, 1> number_;
    static constexpr auto field_names = dynasoar::field_names("content_", "number_");
    explicit Box(T content) : content_(content), number_(n) {}
  };

  template <class T>
  static void show(T* object) {
    dynasoar::print(object);
    look_at(object);
  }
  struct ShowAll {
    void operator()(std::size_t) const {
      Cell* cell = nullptr;
      for (int i = 0; i < 70; ++i) cell = dynasoar::make_new<Cell>(i);
      for (int i = 0; i < 3; ++i) show<Agent>(dynasoar::make_new<Shark>(cell));
      for (int i = 0; i < 200; ++i) {
        auto* const tiny = dynasoar::make_new<Tiny>(i);
        if (i % 66 == 65) show(tiny);
      }
      dynasoar::make_new<Even>(1);
      show(dynasoar::make_new<Even>(2));
      show(dynasoar::make_new<Box<std::array<std::uint8_t, 3>, 7>>(std::array<std::uint8_t, 3>{4, 5, 6}));
      for (int i = 0; i < 200; ++i) {
        auto* const marker = dynasoar::make_new<Marker>();
        if (i % 66 == 65) show(marker);
      }
      show<const Cell>(cell);
    }
  };
  static void run() {
    dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
    handle.parallel_for(1, ShowAll{});
  }
};

template <class... Ts>
using Soa = dynasoar::SoaAllocator<Ts...>;
template <class... Ts>
using Aos = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Ts...>;

/// Classes whose objects are on a lattice, and one that is not.
template <template <class...> class Allocator>
struct Land {
  class Tree;
  class Spot;
  class Owner;
  using AllocatorT = Allocator<Tree, Spot, Owner>;

  class Tree : public dynasoar::SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    using Marks = std::array<std::uint16_t, 2>;
    DYNASOAR_FIELDS(Tree, (age_, float), (marks_, Marks), (owner_, Owner*), (spot_, Spot*), (is_old_, bool));
    explicit Tree(int number)
        : age_(static_cast<float>(number)), marks_(Marks{1, 2}), owner_(nullptr), spot_(nullptr), is_old_(true) {}
  };
  class Spot : public dynasoar::SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    DYNASOAR_FIELDS(Spot, (shade_, std::uint8_t));
    explicit Spot(int number) : shade_(static_cast<std::uint8_t>(number)) {}
  };
  class Owner : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Owner, (tree_, Tree*));
    explicit Owner(Tree* tree) : tree_(tree) {}
  };

  struct ShowAll {
    void operator()(std::size_t) const {
      const dynasoar::LatticeShape& shape = dynasoar::lattice_of<Tree>();
      for (int i = 0; i < 3; ++i) {
        const dynasoar::Place place = shape.place({100 * i + 7, i, 0});
        auto* const tree = dynasoar::make_new_at<Tree>(place, i);
        tree->spot_ = dynasoar::make_new_at<Spot>(place, 50 + i);
        tree->owner_ = dynasoar::make_new<Owner>(tree);
        World<Soa>::template show<Tree>(tree);
        World<Soa>::template show<Spot>(tree->spot_);
        World<Soa>::template show<Owner>(tree->owner_);
      }
    }
  };
  static void run() {
    dynasoar::AllocatorHandle<AllocatorT> handle({.heap_bytes = std::size_t{4} << 20, .threads = 1});
    const dynasoar::Lattice<Tree, Spot> lattice(handle, {300, 4});
    handle.parallel_for(1, ShowAll{});
  }
};

}  // namespace gdb_test

int main() {
  gdb_test::World<gdb_test::Soa>::run();
  gdb_test::World<gdb_test::Aos>::run();
  gdb_test::Land<gdb_test::Soa>::run();
  gdb_test::Land<gdb_test::Aos>::run();
}
