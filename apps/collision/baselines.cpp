/// @file
/// The hand-written collision, for two layouts. The bodies are in arrays without gaps. If bodies have merged, the step
/// copies the remaining bodies to another array.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/dense_simulation.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/memory.h>

#include "bodies/all_pairs.h"
#include "bodies/layouts.h"
#include "collision.h"
#include "merging.h"

namespace collision {
namespace baselines {

using dynasoar::AtomicWord;
using dynasoar::Order;

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

/// The additional data of each body.
struct Meeting {
  std::uint32_t* target;             ///< the body that it asks, or kNone
  AtomicWord<std::uint64_t>* asker;  ///< least asker_rank of those that ask it
};

struct Found {
  std::uint64_t rank;
  std::uint32_t index;
};

/// For look_at_all: the heaviest of the heavier bodies nearby.
template <class Arrays>
struct Seek {
  struct alignas(16) Source {
    bodies::Vector position;
    std::uint64_t rank;
    std::uint32_t index;
  };
  using Result = Found;

  Arrays arrays;
  bodies::CountOnDevice count;
  Meeting meeting;

  __device__ std::uint32_t bodies() const { return count(); }
  __device__ Source source(std::uint32_t j) const {
    return {arrays.position(j), weight_rank(arrays.mass(j), arrays.id(j)), j};
  }
  __device__ Source here(std::uint32_t i) const { return source(i); }
  __device__ Result nothing() const { return {0, kNone}; }
  __device__ Result combined(const Source& here, const Result& found, const Source& other) const {
    const bool better = other.rank > here.rank && other.rank > found.rank &&
                        ::bodies::squared_length(other.position - here.position) < kMergeDistance * kMergeDistance;
    return better ? Found{other.rank, other.index} : found;
  }
  __device__ Result merged(const Result& a, const Result& b) const { return a.rank < b.rank ? b : a; }
  __device__ void finish(std::uint32_t i, const Result& found) const {
    meeting.target[i] = found.index;
    if (found.index == kNone) return;
    meeting.asker[found.index].fetch_min(asker_rank(arrays.mass(i), arrays.id(i)), Order::relaxed);
  }
};

/// Moves the body and resets its asker. The first body resets the count of the remaining bodies.
template <class Arrays>
struct Move {
  bodies::Move<Arrays, bodies::CountOnDevice> move;
  Meeting meeting;
  AtomicWord<std::uint32_t>* left;
  __device__ void operator()(std::size_t i) const {
    move(i);
    meeting.asker[i].store(std::uint64_t{kNoAsker}, Order::relaxed);
    if (i == 0) left->store(0, Order::relaxed);
  }
};

/// If the body's target accepts it, merges the body into the target, and marks the body as gone.
template <class Arrays>
struct Merge {
  Arrays arrays;
  bodies::CountOnDevice count;
  Meeting meeting;
  std::uint8_t* gone;

  __device__ Motion motion(std::uint32_t i) const { return {arrays.position(i), arrays.velocity(i), arrays.mass(i)}; }

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i >= count()) return;
    const std::uint32_t target = meeting.target[i];
    const bool accepted = target != kNone && meeting.target[target] == kNone &&
                          meeting.asker[target].load(Order::relaxed) == asker_rank(arrays.mass(i), arrays.id(i));
    gone[i] = accepted;
    if (!accepted) return;
    const Motion both = merged(motion(target), motion(i));
    arrays.position(target) = both.position;
    arrays.velocity(target) = both.velocity;
    arrays.mass(target) = both.mass;
  }
};

/// Copies the remaining bodies to other arrays.
template <class Arrays>
struct Compact {
  Arrays from;
  Arrays to;
  bodies::CountOnDevice count;
  const std::uint8_t* gone;
  AtomicWord<std::uint32_t>* left;

  __device__ void operator()(std::size_t index) const {
    const auto i = static_cast<std::uint32_t>(index);
    if (i >= count() || gone[i] != 0) return;
    const std::uint32_t place = left->fetch_add(1, Order::relaxed);
    to.id(place) = from.id(i);
    to.position(place) = from.position(i);
    to.velocity(place) = from.velocity(i);
    to.mass(place) = from.mass(i);
  }
};

template <class Storage>
class Dense final : public app::DenseSimulation<Simulation> {
 public:
  using Arrays = bodies::Arrays<Storage>;

  explicit Dense(const Parameters& parameters)
      : DenseSimulation(parameters, {"attract", "move", "seek", "merge", "leave"}),
        most_(static_cast<std::uint32_t>(parameters.initial.size())),
        storages_{Storage(most_), Storage(most_)},
        counts_{dynasoar::DeviceArray<std::uint32_t>(1), dynasoar::DeviceArray<std::uint32_t>(1)},
        targets_(most_),
        askers_(most_),
        gone_(most_),
        states_(most_) {
    counts_[0].upload({most_});
    states_.upload(parameters.initial);
    executor().for_each_index(most_, bodies::Unpack<Arrays>{{storages_[0].view()}, states_.data()});
    synchronize();
  }

  void step() override {
    begin_step();
    run_recorded([this] { submit_step(); }, now_in());
  }

  void submit_step() override {
    const Arrays arrays{storages_[1 - now_in()].view()};
    const Arrays others{storages_[now_in()].view()};
    const bodies::CountOnDevice count{counts_[1 - now_in()].data()};
    const Meeting meeting{targets_.data(), askers_.data()};
    auto* const left = reinterpret_cast<AtomicWord<std::uint32_t>*>(counts_[now_in()].data());
    bodies::look_at_all(executor(), most_, bodies::Attract<Arrays, bodies::CountOnDevice>{arrays, count});
    end_phase(0);
    executor().for_each_index(most_, Move<Arrays>{{arrays, count, kTimeStep}, meeting, left});
    end_phase(1);
    bodies::look_at_all(executor(), most_, Seek<Arrays>{arrays, count, meeting});
    end_phase(2);
    executor().for_each_index(most_, Merge<Arrays>{arrays, count, meeting, gone_.data()});
    end_phase(3);
    executor().for_each_index(most_, Compact<Arrays>{arrays, others, count, gone_.data(), left});
    end_phase(4);
  }

  std::vector<bodies::BodyState> bodies() override {
    synchronize();
    const std::uint32_t count = counts_[now_in()].download().front();
    executor().for_each_index(count, bodies::Pack<Arrays>{{storages_[now_in()].view()}, states_.data()});
    synchronize();
    std::vector<bodies::BodyState> states = states_.download();
    states.resize(count);
    std::sort(states.begin(), states.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    return states;
  }

 private:
  /// Index of the arrays that contain the bodies after this step.
  std::size_t now_in() const { return steps() % 2; }

  std::uint32_t most_;
  Storage storages_[2];
  dynasoar::DeviceArray<std::uint32_t> counts_[2];
  dynasoar::DeviceArray<std::uint32_t> targets_;
  dynasoar::DeviceArray<AtomicWord<std::uint64_t>> askers_;
  dynasoar::DeviceArray<std::uint8_t> gone_;
  dynasoar::DeviceArray<bodies::BodyState> states_;
};

}  // namespace baselines

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<baselines::Dense<bodies::SoaStorage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<baselines::Dense<bodies::AosStorage>>(parameters);
}

}  // namespace collision
