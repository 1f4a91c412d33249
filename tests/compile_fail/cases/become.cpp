// Which objects can become which.
#include <cstddef>
#include <tuple>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

namespace becoming {

class Cell;
class Tumour;
class Signal;
class Rock;
class Grain;
class Moss;
class Lichen;
using AllocatorT = dynasoar::SoaAllocator<Cell, Tumour, Signal, Rock, Grain, Moss, Lichen>;

class Tissue : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Tissue, (age_, int))
  __device__ Tissue() : age_(0) {}
};
class Cell : public Tissue {
 public:
  using BaseClass = Tissue;
  DYNASOAR_FIELDS(Cell, (size_, int))
  __device__ Cell() : size_(1) {}
  __device__ explicit Cell(std::size_t) : Cell() {}
  __device__ bool is_mutated() { return size_ > 10; }
  __device__ void mutate();
  __device__ void look() const;
};
class Tumour : public Cell {
 public:
  using BaseClass = Cell;
  DYNASOAR_FIELDS(Tumour, (grade_, int))
  __device__ explicit Tumour(int grade) : grade_(grade) {}
};
class Signal : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Signal, (strength_, int))
  __device__ explicit Signal(int strength) : strength_(strength) {}
};

/// A base class without fields.
class Mineral : public dynasoar::SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Mineral)
};
class Rock : public Mineral {
 public:
  using BaseClass = Mineral;
  DYNASOAR_FIELDS(Rock, (mass_, int))
  __device__ explicit Rock(std::size_t) : mass_(1) {}
  __device__ void crumble();
};
class Grain : public Mineral {
 public:
  using BaseClass = Mineral;
  DYNASOAR_FIELDS(Grain, (mass_, int))
  __device__ Grain() : mass_(1) {}
};

class Cover : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Cover, (height_, int))
  __device__ Cover() : height_(0) {}
};
class Moss : public Cover {
 public:
  using BaseClass = Cover;
  DYNASOAR_FIELDS(Moss)
  __device__ void dry_out();
};
class Lichen : public Cover {
 public:
  using BaseClass = Cover;
  DYNASOAR_FIELDS(Lichen)
};

__device__ inline void Cell::mutate() {
#if defined(MISTAKE_become_unlisted)
  // expect: the class that the object is to become is not in the allocator's list
  // names: becoming::Tissue
  dynasoar::become<Tissue>(this);
#elif defined(MISTAKE_become_unrelated)
  // expect: have no base class with fields in common
  // names: becoming::Signal
  dynasoar::become<Signal>(this, 1);
#elif defined(MISTAKE_become_without_constructor)
  // expect: this class has no public constructor for these arguments
  // names: becoming::Tumour
  dynasoar::become<Tumour>(this);
#else
  dynasoar::become<Tumour>(this, 1);
#endif
}

__device__ inline void Cell::look() const {
#if defined(MISTAKE_become_of_const)
  // expect: this is a pointer to a const object
  dynasoar::become<Tumour>(this, 1);
#endif
}

__device__ inline void Rock::crumble() {
#if defined(MISTAKE_become_without_common_fields)
  // expect: have no base class with fields in common
  // names: becoming::Grain
  dynasoar::become<Grain>(this);
#elif defined(MISTAKE_become_same_class)
  // expect: the object is of this class already
  // names: becoming::Rock
  dynasoar::become<Rock>(this, std::size_t{1});
#else
  dynasoar::destroy(this);
#endif
}

__device__ inline void Moss::dry_out() {
#if defined(MISTAKE_become_placed)
  // expect: an object at a place cannot become one of another class
  // names: becoming::Lichen
  dynasoar::become<Lichen>(this);
#else
  dynasoar::destroy(this);
#endif
}

/// The condition of some loops.
struct IsMutated {
  __device__ bool operator()(Tissue*) const { return true; }
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  handle.parallel_do<&Rock::crumble>();
  handle.parallel_do<Moss, &Moss::dry_out>();
  handle.parallel_do<Cell, &Cell::mutate>();
#if defined(MISTAKE_objects_become_from_base)
  // expect: From is not in its allocator's list
  // names: becoming::Tissue
  handle.become<Tissue, Tumour>(IsMutated{}, std::tuple(1));
#elif defined(MISTAKE_objects_become_unlisted)
  // expect: the class that the object is to become is not in the allocator's list
  // names: becoming::Tissue
  handle.become<Cell, Tissue>(IsMutated{});
#elif defined(MISTAKE_objects_become_same_class)
  // expect: From and To are the same class
  // names: becoming::Cell
  handle.become<Cell, Cell>(IsMutated{});
#elif defined(MISTAKE_objects_become_without_constructor)
  // expect: this class has no public constructor for these arguments
  // names: becoming::Tumour
  handle.become<Cell, Tumour, &Cell::is_mutated>();
#elif defined(MISTAKE_objects_become_with_pointers_to_one_class)
  // expect: their class is no common base of From and To
  // names: becoming::Tumour
  handle.become<Tumour, Cell>(IsMutated{}, {}, dynasoar::pointers(static_cast<Tumour**>(nullptr), 0));
#else
  handle.become<Tumour, Cell>(IsMutated{}, {}, dynasoar::pointers(static_cast<Tissue**>(nullptr), 0));
  handle.become<Cell, Tumour, &Cell::is_mutated>(std::tuple(1));
#endif
#if defined(MISTAKE_objects_become_without_answer)
  // expect: the condition does not return a bool
  handle.become<Cell, Tumour, &Cell::mutate>(std::tuple(1));
#endif
}

class Clay;
class Pot;
using PiecesT = dynasoar::AosAllocator<dynasoar::BitmapMalloc, Clay, Pot>;
class Clay : public dynasoar::SoaBase<PiecesT> {
 public:
  DYNASOAR_FIELDS(Clay, (mass_, int))
  __device__ explicit Clay(std::size_t) : mass_(1) {}
  __device__ bool is_burnt() { return mass_ > 1; }
};
class Pot : public Clay {
 public:
  using BaseClass = Clay;
  DYNASOAR_FIELDS(Pot)
  __device__ Pot() : Clay(std::size_t{0}) {}
};

inline void use(dynasoar::AllocatorHandle<PiecesT>& handle) {
#if defined(MISTAKE_objects_become_in_pieces)
  // expect: which an AosAllocator cannot
  // names: becoming::Clay
  handle.become<Clay, Pot, &Clay::is_burnt>();
#else
  handle.parallel_new<Clay>(10);
#endif
}

}  // namespace becoming
