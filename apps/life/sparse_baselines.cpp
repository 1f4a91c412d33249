/// @file
/// The hand-written baselines with lists: the algorithm of cells.cpp without objects and without allocation. Agents
/// are entries of a list in a plain array. Every step copies the agents that are still needed to another list. The two
/// baselines differ only in their layout: a structure of arrays or an array of structures.
///
/// A step has two loops over the list. First, agents *act* as they have decided: some alive cells die, and some
/// candidates come alive. This changes the bytes of the cells around (cell_bytes.h) and appends new candidates to the
/// list. Then, agents *look* at their cells' bytes, decide the next state of their cell, and go to the other list. In
/// this loop, only agents that leave the list change a byte. An agent keeps its entry when its cell is born or dies, so
/// one list is enough, and all entries run the same code.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <app/layout.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/platform/warp.h>

#include "cell_bytes.h"
#include "census.h"
#include "dynamics.h"
#include "frame_baseline.h"
#include "lattice.h"
#include "simulation.h"
#include "start.h"

namespace life {
namespace sparse {

/// The number of workers of a loop. The host does not know how long a list is, so loops have a fixed number of workers,
/// which share its entries: on a GPU about one for each thread that it can run, on CPUs a few for each thread.
inline constexpr std::uint32_t kWorkers = dynasoar::kCudaBackend ? 1u << 18 : 512;

/// Entries that a worker appends at a time. On a GPU, the lanes of a warp append together.
inline constexpr std::uint32_t kBatch = dynasoar::kCudaBackend ? 1 : 64;

/// An entry for a cell that may change: alive, dying, or dead with alive neighbours.
struct alignas(8) Agent {
  std::uint32_t cell;
  std::uint16_t state;
  std::uint16_t next;  ///< the state in the next step
};

/// How many agents a list has.
///
/// A thread that appends an agent takes its index from an atomic counter. The order is relaxed, because indices only
/// have to be unique: only the next loop reads the entries and their number.
struct Counts {
  using Word = dynasoar::AtomicWord<std::uint32_t>;

  Word settled;    ///< agents from the other list; changes only while that list's agents look
  Word newcomers;  ///< new candidates after these; changes only while this list's agents act
};

/// A list of agents, as the device sees it. There is at most one agent for a cell.
///
/// @tparam Layout   where entries lie: `cell(i)`, `state(i)`, `next(i)` and `put(i, agent)`
template <class Layout>
struct List {
  Layout agents;
  Counts* counts;

  __device__ std::uint32_t settled() const { return counts->settled.load(dynasoar::Order::relaxed); }
  __device__ std::uint32_t size() const { return settled() + counts->newcomers.load(dynasoar::Order::relaxed); }
};

/// The items of a loop that one worker processes: on a GPU every n-th item, so that neighbouring threads read adjacent
/// memory; on CPUs consecutive items.
struct Share {
  std::uint32_t begin;
  std::uint32_t end;
  std::uint32_t stride;

  /// @param count   of items, below 2^31
  __device__ static Share of(std::size_t worker, std::uint32_t workers, std::uint32_t count) {
    if constexpr (dynasoar::kCudaBackend) {
      return {static_cast<std::uint32_t>(worker), count, workers};
    } else {
      return {static_cast<std::uint32_t>(worker * count / workers),
              static_cast<std::uint32_t>((worker + 1) * count / workers), 1};
    }
  }
};

/// Takes `n` consecutive numbers from a counter and returns the first. Lanes that call with the same n share one atomic
/// addition.
__device__ inline std::uint32_t take_numbers(Counts::Word& counter, std::uint32_t n) {
  const auto group = dynasoar::PlatformWarp().coalesce().matching(n);
  std::uint32_t first = 0;
  if (group.rank() == 0) {
    first = counter.fetch_add(n * static_cast<std::uint32_t>(group.size()), dynasoar::Order::relaxed);
  }
  return group.broadcast(first) + n * static_cast<std::uint32_t>(group.rank());
}

/// Processes a worker's items and appends agents to a list.
///
/// @param counter    the list's, for these agents
/// @param agent_of   `agent_of(i, agent)` sets the agent for item i, or returns false if there is none
template <class Layout, class F>
__device__ void append(Share share, const Layout& list, Counts::Word& counter, F agent_of) {
  for (std::uint32_t i = share.begin; i < share.end;) {
    Agent batch[kBatch];
    std::uint32_t n = 0;
    for (std::uint32_t k = 0; k < kBatch && i < share.end; ++k, i += share.stride) n += agent_of(i, batch[n]) ? 1 : 0;
    if (n == 0) continue;
    const std::uint32_t first = take_numbers(counter, n);
    for (std::uint32_t k = 0; k < n; ++k) list.put(first + k, batch[k]);
  }
}

/// Creates an agent for every cell that is not dead at the start. The cell gets its state when the agent first acts.
/// One index per worker.
template <class Layout>
struct Populate {
  CellBytes cells;
  StartView start;
  List<Layout> list;
  std::uint32_t workers;

  __device__ void operator()(std::size_t worker) const {
    const Share share = Share::of(worker, workers, cells.lattice.cells());
    append(share, list.agents, list.counts->settled, [&](std::uint32_t c, Agent& agent) {
      const std::uint32_t state = start.state(c);
      if (state == kDead) return false;
      cells.claim(c);
      agent = {c, kDead, static_cast<std::uint16_t>(state)};
      return true;
    });
  }
};

/// Notes births and deaths. One index per worker.
template <class Layout>
struct Act {
  CellBytes cells;
  List<Layout> present;
  List<Layout> other;
  std::uint32_t workers;

  __device__ void operator()(std::size_t worker) const {
    // This count is not needed now: its list is that of the step before.
    if (worker == 0) other.counts->settled.store(0, dynasoar::Order::relaxed);
    const Share share = Share::of(worker, workers, present.settled());
    for (std::uint32_t i = share.begin; i < share.end; i += share.stride) {
      const bool is_alive = present.agents.state(i) == kAlive;
      const bool becomes_alive = present.agents.next(i) == kAlive;
      if (is_alive == becomes_alive) continue;
      if (becomes_alive) {
        appear(present.agents.cell(i));
      } else {
        disappear(present.agents.cell(i));
      }
    }
  }

  /// Called when a cell comes alive: its neighbours count it, and those without an agent get one.
  __device__ void appear(std::uint32_t c) const {
    std::uint32_t alone = 0;  // a bit per neighbour that had no agent
    for (std::uint32_t which = 0; which < kNeighbors; ++which) {
      const std::uint32_t neighbor = cells.lattice.neighbor(c, which);
      if (neighbor == kOutside) continue;
      cells.add_neighbor(neighbor);
      if (!cells.has_agent(neighbor)) alone |= 1u << which;
    }
    if (alone != 0) add_candidates(c, alone);
  }

  /// Several births can meet at a cell: the first to claim it makes its candidate.
  __device__ void add_candidates(std::uint32_t c, std::uint32_t alone) const {
    std::uint32_t claimed = 0;
    std::uint32_t n = 0;
    for (std::uint32_t which = 0; which < kNeighbors; ++which) {
      if ((alone >> which & 1) == 0 || !cells.claim(cells.lattice.neighbor(c, which))) continue;
      claimed |= 1u << which;
      ++n;
    }
    if (n == 0) return;
    std::uint32_t at = present.settled() + take_numbers(present.counts->newcomers, n);
    for (std::uint32_t which = 0; which < kNeighbors; ++which) {
      if ((claimed >> which & 1) != 0) present.agents.put(at++, {cells.lattice.neighbor(c, which), kDead, kDead});
    }
  }

  __device__ void disappear(std::uint32_t c) const {
    for (std::uint32_t which = 0; which < kNeighbors; ++which) {
      const std::uint32_t neighbor = cells.lattice.neighbor(c, which);
      if (neighbor != kOutside) cells.remove_neighbor(neighbor);
    }
  }
};

/// Decides the next step, and copies the agents to the other list, except those of dead cells without alive neighbours.
/// One index per worker.
template <class Layout>
struct Look {
  CellBytes cells;
  List<Layout> present;
  List<Layout> other;
  std::uint32_t workers;

  __device__ void operator()(std::size_t worker) const {
    // This count is not needed now: the other list's agents act in the next step.
    if (worker == 0) other.counts->newcomers.store(0, dynasoar::Order::relaxed);
    const Share share = Share::of(worker, workers, present.size());
    append(share, other.agents, other.counts->settled, [&](std::uint32_t i, Agent& agent) {
      const std::uint32_t c = present.agents.cell(i);
      const std::uint32_t state = present.agents.next(i);
      const std::uint32_t neighbors = cells.alive_neighbors(c);
      if (state == kDead && neighbors == 0) {
        cells.leave(c);
        return false;
      }
      const std::uint32_t next = next_state(cells.rule, state, neighbors);
      agent = {c, static_cast<std::uint16_t>(state), static_cast<std::uint16_t>(next)};
      return true;
    });
  }
};

/// Counts agents for the census. One index per worker.
template <class Layout>
struct Count {
  List<Layout> list;
  CensusSums sums;
  std::uint32_t workers;

  __device__ void operator()(std::size_t worker) const {
    const Share share = Share::of(worker, workers, list.settled());
    Tally tally;
    for (std::uint32_t i = share.begin; i < share.end; i += share.stride) count_cell(tally, list.agents.state(i), true);
    sums.add(worker, tally);
  }
};

/// Writes the agents' states into a frame of dead cells. One index per worker.
template <class Layout>
struct Paint {
  List<Layout> list;
  std::uint16_t* frame;
  std::uint32_t workers;

  __device__ void operator()(std::size_t worker) const {
    const Share share = Share::of(worker, workers, list.settled());
    for (std::uint32_t i = share.begin; i < share.end; i += share.stride) {
      frame[list.agents.cell(i)] = list.agents.state(i);
    }
  }
};

class SoaStorage : app::StructureOfArrays<&Agent::cell, &Agent::state, &Agent::next> {
 public:
  struct Layout : View {
    __device__ std::uint32_t cell(std::uint32_t i) const { return at<&Agent::cell>(i); }
    __device__ std::uint16_t state(std::uint32_t i) const { return at<&Agent::state>(i); }
    __device__ std::uint16_t next(std::uint32_t i) const { return at<&Agent::next>(i); }
    __device__ void put(std::uint32_t i, Agent agent) const {
      at<&Agent::cell>(i) = agent.cell;
      at<&Agent::state>(i) = agent.state;
      at<&Agent::next>(i) = agent.next;
    }
  };

  using StructureOfArrays::StructureOfArrays;

  Layout layout() const { return {view()}; }
};

// Not an app::ArrayOfStructures: its views do not tell the compiler how entries are aligned. With the alignment, it
// reads two states at once.
class AosStorage {
 public:
  struct Layout {
    Agent* agents;

    __device__ std::uint32_t cell(std::uint32_t i) const { return agents[i].cell; }
    __device__ std::uint16_t state(std::uint32_t i) const { return agents[i].state; }
    __device__ std::uint16_t next(std::uint32_t i) const { return agents[i].next; }
    __device__ void put(std::uint32_t i, Agent agent) const { agents[i] = agent; }
  };

  explicit AosStorage(std::uint32_t capacity) : agents_(capacity) {}

  Layout layout() const { return {agents_.data()}; }

 private:
  dynasoar::DeviceArray<Agent> agents_;
};

/// @tparam Storage   owns the entries of a list: constructible from their number; `layout()` is the device's view, a
///                   Layout as in List
template <class Storage>
class SparseLife final : public FrameBaseline {
 public:
  explicit SparseLife(const Parameters& parameters)
      : FrameBaseline(parameters, {"agents act", "agents look"}),
        workers_(std::min(lattice().cells(), kWorkers)),
        words_((std::size_t{lattice().cells()} + 3) / 4),
        counts_(2),
        even_(lattice().cells()),
        odd_(lattice().cells()) {
    words_.fill_bytes(0);
    counts_.fill_bytes(0);
    const Start start(parameters);
    executor().for_each_index(workers_, Populate<Layout>{cells(), start.view(), list(1 - now_in()), workers_});
    act();
    look();
    synchronize();
  }

  void step() override {
    begin_step();
    run_recorded([this] { submit_step(); }, now_in());
  }

  void submit_step() override {
    act();
    end_phase(0);
    look();
    end_phase(1);
  }

  void record() override {
    executor().for_each_index(workers_, Count<Layout>{list(now_in()), next_census(), workers_});
  }

 private:
  using Layout = typename Storage::Layout;

  void write_states(std::uint16_t* frame) override {
    executor().for_each_index(workers_, Paint<Layout>{list(now_in()), frame, workers_});
  }

  CellBytes cells() const { return {lattice(), rule(), words_.data()}; }

  /// Which list has all agents after this step.
  std::size_t now_in() const { return steps() % 2; }

  List<Layout> list(std::size_t which) const {
    return {which == 0 ? even_.layout() : odd_.layout(), counts_.data() + which};
  }

  void act() {
    executor().for_each_index(workers_, Act<Layout>{cells(), list(1 - now_in()), list(now_in()), workers_});
  }

  void look() {
    executor().for_each_index(workers_, Look<Layout>{cells(), list(1 - now_in()), list(now_in()), workers_});
  }

  std::uint32_t workers_;
  dynasoar::DeviceArray<CellBytes::Word> words_;
  dynasoar::DeviceArray<Counts> counts_;
  Storage even_;
  Storage odd_;
};

}  // namespace sparse

std::unique_ptr<Simulation> make_soa_baseline(const Parameters& parameters) {
  return std::make_unique<sparse::SparseLife<sparse::SoaStorage>>(parameters);
}

std::unique_ptr<Simulation> make_aos_baseline(const Parameters& parameters) {
  return std::make_unique<sparse::SparseLife<sparse::AosStorage>>(parameters);
}

}  // namespace life
