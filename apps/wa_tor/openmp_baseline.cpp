/// @file
/// The hand-written OpenMP baseline for CPUs. The algorithm and the arrays are those of baselines.cpp: agents ask, and
/// cells accept one of the agents that ask for them. A thread processes whole rows, in strips of cells. In a loop
/// without branches, which compilers vectorize, it finds the candidates of all cells of a strip, with a bit for each
/// direction. Then it visits the cells that have candidates, and skips eight cells at a time if none of them has any.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <app/openmp_simulation.h>

#include "rules.h"
#include "simulation.h"
#include "torus.h"

namespace wa_tor {
namespace {

using app::kStrip;

// The byte of a cell in the first loop of a half. Values below kDirections ask for the neighbour in that direction.
constexpr std::uint8_t kAsksNothing = 4;
constexpr std::uint8_t kOffersWater = 5;
constexpr std::uint8_t kOffersFish = 6;
constexpr std::uint8_t kDies = 7;

/// A strip of cells in one array of bytes, and its neighbours.
struct Strip {
  const std::uint8_t* here;
  const std::uint8_t* above;
  const std::uint8_t* below;
  int count;

  /// For each cell the directions to neighbours with these values. Inlined, so that equal values are a constant.
  [[gnu::always_inline]] void find(const std::uint8_t (&value)[kDirections], std::uint8_t* directions) const {
    for (int i = 0; i < count; ++i) {
      directions[i] = static_cast<std::uint8_t>((here[i - 1] == value[0] ? 1 : 0) | (above[i] == value[1] ? 2 : 0) |
                                                (here[i + 1] == value[2] ? 4 : 0) | (below[i] == value[3] ? 8 : 0));
    }
  }
};

/// Calls `f(i)` for the elements that are not 0. @param bytes   followed by seven more that may be read
template <class F>
void for_each_set(const std::uint8_t* bytes, int count, const F& f) {
  for (int first = 0; first < count; first += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + first, 8);
    if (eight == 0) continue;
    for (int i = first; i < std::min(first + 8, count); ++i) {
      if (bytes[i] != 0) f(i);
    }
  }
}

class OpenMpOcean final : public app::OpenMpSimulation<Simulation, Population> {
 public:
  explicit OpenMpOcean(const Parameters& parameters)
      : OpenMpSimulation(parameters, {"fish ask", "fish move", "sharks ask", "sharks move"}),
        width_(parameters.width),
        height_(parameters.height),
        torus_(Torus::of(parameters)),
        seed_{parameters.seed},
        kinds_(width_, height_),
        requests_(width_, height_),
        born_(new std::uint32_t[torus_.cells]),
        starves_(new std::uint32_t[torus_.cells]) {
    const Thresholds thresholds = Thresholds::of(parameters.fish, parameters.sharks);
    in_parallel(height_, [&](int y) {
      for (int x = 0; x < width_; ++x) {
        const InitialCell initial = initial_cell(seed_, thresholds, number(x, y));
        kinds_.row(y)[x] = initial.kind;
        requests_.row(y)[x] = kAsksNothing;
        born_[number(x, y)] = 0 - initial.age;
        starves_[number(x, y)] = kInitialEnergy;
      }
      kinds_.close_ring(y);
    });
  }

  std::vector<CellState> cells() override {
    std::vector<CellState> cells;
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < width_; ++x) cells.push_back(state(x, y));
    }
    return cells;
  }

 private:
  void advance() override {
    for_each_row(0, height_, [this](int y) {
      for_each_strip(kinds_, y, [&](int x, const Strip& strip) { fish_ask(x, y, strip); });
      requests_.close_ring(y);
    });
    for_each_row(1, height_, [this](int y) {
      for_each_strip(requests_, y, [&](int x, const Strip& strip) { fish_move(x, y, strip); });
    });
    for_each_row(2, height_, [this](int y) {
      for_each_strip(kinds_, y, [&](int x, const Strip& strip) { sharks_ask(x, y, strip); });
      requests_.close_ring(y);
    });
    for_each_row(3, height_, [this](int y) {
      for_each_strip(requests_, y, [&](int x, const Strip& strip) { sharks_move(x, y, strip); });
    });
  }

  template <class F>
  void for_each_strip(const app::GhostRows<std::uint8_t>& rows, int y, const F& f) const {
    const std::uint8_t* const above = rows.row(y > 0 ? y - 1 : height_ - 1);
    const std::uint8_t* const below = rows.row(y < height_ - 1 ? y + 1 : 0);
    for (int x = 0; x < width_; x += kStrip) {
      f(x, Strip{rows.row(y) + x, above + x, below + x, std::min(kStrip, width_ - x)});
    }
  }

  void fish_ask(int x, int y, const Strip& kinds) const {
    std::uint8_t* const requests = requests_.row(y) + x;
    std::uint8_t candidates[kStrip + 8];
    kinds.find({kFree, kFree, kFree, kFree}, candidates);
    for (int i = 0; i < kinds.count; ++i) {
      requests[i] = kinds.here[i] == kFree ? kOffersWater : kAsksNothing;
      candidates[i] = kinds.here[i] == kFish ? candidates[i] : 0;
    }
    for_each_set(candidates, kinds.count,
                 [&](int i) { requests[i] = asked(candidates[i], Decision::fish_move, number(x + i, y)); });
  }

  void fish_move(int x, int y, const Strip& requests) const {
    std::uint8_t askers[kStrip + 8];
    find_askers(requests, kOffersWater, kOffersWater, askers);
    for_each_set(askers, requests.count, [&](int i) {
      const std::uint32_t c = number(x + i, y);
      const std::uint32_t origin =
          torus_.neighbor(c, choose(DirectionSet(askers[i]), seed_, Decision::fish_accept, c, now()));
      const std::uint32_t born = born_[origin];
      const bool spawns = now() - born > kSpawnAge;
      put(c, kFish);
      born_[c] = spawns ? now() : born;
      if (spawns) {
        born_[origin] = now() - draw(seed_, Decision::fish_birth, origin, now(), kNewbornAges);
      } else {
        put(origin, kFree);
      }
    });
  }

  void sharks_ask(int x, int y, const Strip& kinds) const {
    std::uint8_t* const requests = requests_.row(y) + x;
    std::uint8_t fish[kStrip], water[kStrip], sharks[kStrip + 8];
    kinds.find({kFish, kFish, kFish, kFish}, fish);
    kinds.find({kFree, kFree, kFree, kFree}, water);
    for (int i = 0; i < kinds.count; ++i) {
      requests[i] = kinds.here[i] == kFree ? kOffersWater : kOffersFish;
      sharks[i] = kinds.here[i] == kShark ? 1 : 0;
    }
    for_each_set(sharks, kinds.count, [&](int i) {
      const std::uint32_t c = number(x + i, y);
      const std::uint8_t candidates = fish[i] != 0 ? fish[i] : water[i];
      requests[i] = starves_[c] == now() ? kDies
                    : candidates == 0    ? kAsksNothing
                                         : asked(candidates, Decision::shark_move, c);
    });
  }

  void sharks_move(int x, int y, const Strip& requests) const {
    std::uint8_t askers[kStrip + 8];
    find_askers(requests, kOffersWater, kOffersFish, askers);
    for (int i = 0; i < requests.count; ++i) {
      askers[i] = requests.here[i] == kDies ? kNobody : askers[i];
    }
    for_each_set(askers, requests.count, [&](int i) {
      const std::uint32_t c = number(x + i, y);
      if (askers[i] == kNobody) {
        put(c, kFree);
      } else {
        move_shark(c, torus_.neighbor(c, choose(DirectionSet(askers[i]), seed_, Decision::shark_accept, c, now())),
                   requests.here[i] == kOffersFish ? kFishEnergy : 0);
      }
    });
  }

  void move_shark(std::uint32_t c, std::uint32_t origin, std::uint32_t eaten) const {
    const std::uint32_t born = born_[origin];
    const bool spawns = now() - born > kSpawnAge;
    put(c, kShark);
    born_[c] = spawns ? now() : born;
    starves_[c] = starves_[origin] + eaten;
    if (spawns) {
      born_[origin] = now() - draw(seed_, Decision::shark_birth, origin, now(), kNewbornAges);
      starves_[origin] = now() + kInitialEnergy;
    } else {
      put(origin, kFree);
    }
  }

  /// For each cell with one of these two offers, the directions to the agents that ask for it; 0 for other cells.
  static void find_askers(const Strip& requests, std::uint8_t offer, std::uint8_t other, std::uint8_t* askers) {
    requests.find({opposite(0), opposite(1), opposite(2), opposite(3)}, askers);
    for (int i = 0; i < requests.count; ++i) {
      askers[i] = (requests.here[i] == offer) | (requests.here[i] == other) ? askers[i] : 0;
    }
  }

  std::uint8_t asked(std::uint8_t candidates, Decision decision, std::uint32_t c) const {
    return static_cast<std::uint8_t>(choose(DirectionSet(candidates), seed_, decision, c, now()));
  }

  /// Writes the contents of a cell, and the copies beyond the ends of its row.
  void put(std::uint32_t c, std::uint8_t kind) const {
    const auto y = static_cast<int>(c / torus_.width), x = static_cast<int>(c % torus_.width);
    std::uint8_t* const row = kinds_.row(y);
    row[x] = kind;
    if (x == 0) row[width_] = kind;
    if (x == width_ - 1) row[-1] = kind;
  }

  CellState state(int x, int y) const {
    const std::uint8_t kind = kinds_.row(y)[x];
    if (kind == kFree) return {};
    const std::uint32_t c = number(x, y);
    return {kind, now() - born_[c], kind == kShark ? starves_[c] - now() : 0};
  }

  Population census() const override {
    std::uint64_t fish = 0, sharks = 0;
#pragma omp parallel for num_threads(threads()) schedule(static) reduction(+ : fish, sharks)
    for (int y = 0; y < height_; ++y) {
      const std::uint8_t* const row = kinds_.row(y);
      for (int x = 0; x < width_; ++x) {
        fish += row[x] == kFish ? 1 : 0;
        sharks += row[x] == kShark ? 1 : 0;
      }
    }
    return {fish, sharks};
  }

  std::uint32_t number(int x, int y) const {
    return static_cast<std::uint32_t>(y * width_ + x);
  }

  static constexpr std::uint8_t kNobody = 16;  ///< in place of directions: the cell's shark dies

  int width_, height_;
  Torus torus_;
  Seed seed_;
  app::GhostRows<std::uint8_t> kinds_, requests_;
  std::unique_ptr<std::uint32_t[]> born_, starves_;
};

}  // namespace

std::unique_ptr<Simulation> make_openmp_baseline(const Parameters& parameters) {
  return std::make_unique<OpenMpOcean>(parameters);
}

}  // namespace wa_tor
