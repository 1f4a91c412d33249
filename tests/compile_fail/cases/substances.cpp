// Mistakes with substances.
#include <array>

#include <dynasoar/dynasoar.h>
#include <dynasoar/lattice.h>
#include <dynasoar/substance.h>

namespace substances {

struct Vector {
  float x, y;
};

class Cell;
class Tree;
using AllocatorT = dynasoar::SoaAllocator<Cell, Tree>;

class Cell final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  static constexpr bool kAtEveryPlace = true;
  using Pair = std::array<float, 2>;
  DYNASOAR_FIELDS(Cell, (scent_, float), (count_, int), (pair_, Pair));
  __device__ Cell() : scent_(0.0f), count_(0) { pair_.fill(0); }
};

class Tree final : public dynasoar::SoaBase<AllocatorT> {
 public:
  static constexpr bool kPlaced = true;
  DYNASOAR_FIELDS(Tree, (smoke_, float));
  __device__ Tree() : smoke_(0.0f) {}
};

inline void use(dynasoar::AllocatorHandle<AllocatorT>& handle) {
  dynasoar::Lattice<Cell> ground(handle, {8, 8});
  dynasoar::Lattice<Tree> forest(handle, {8, 8});
  const dynasoar::SubstanceOptions<Vector> options{.lower = {0, 0}, .upper = {8, 8}};
  dynasoar::Substance<&Cell::scent_, Vector> scent(ground, options);
  scent.diffuse({.diffusion = 0.1, .step = 1});

#if defined(MISTAKE_substance_not_at_every_place)
  // expect: a Substance needs a cell at every place of its lattice
  dynasoar::Substance<&Tree::smoke_, Vector> smoke(forest, options);
#endif

#if defined(MISTAKE_substance_of_integers)
  // expect: the concentration of a Substance is a float or a double
  dynasoar::Substance<&Cell::count_, Vector> count(ground, options);
#endif

#if defined(MISTAKE_substance_of_an_array)
  // expect: are for fields that are numbers
  dynasoar::Substance<&Cell::pair_, Vector> pair(ground, options);
#endif

#if defined(MISTAKE_substance_on_another_lattice)
  // expect: the class of this substance's cells is not one of the lattice's: name it in Lattice<...>
  dynasoar::Substance<&Cell::scent_, Vector> other(forest, options);
#endif
}

}  // namespace substances
