#include "ranks.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/distributed.h>
#include <dynasoar/dynasoar.h>
#include <dynasoar/step_value.h>

#include "wa_tor/placed_agents.h"
#include "wa_tor/simulation.h"

namespace benchmarks {
namespace exchanged {

class Cell;
using CellAllocator = dynasoar::SoaAllocator<Cell>;

/// A byte at every place: a layer has as many bytes as places.
class Cell final : public dynasoar::SoaBase<CellAllocator> {
 public:
  static constexpr bool kPlaced = true, kAtEveryPlace = true;
  DYNASOAR_FIELDS(Cell, (value_, std::uint8_t));
  __device__ Cell() : value_(0) {}
};

}  // namespace exchanged

namespace {

using dynasoar::Transport;
using exchanged::Cell;
using exchanged::CellAllocator;

Transport transport_of(const std::string& name) {
  for (const Transport transport : {Transport::peer, Transport::nccl, Transport::staged}) {
    if (name == name_of(transport)) return transport;
  }
  return Transport::automatic;
}

dynasoar::DistributedLatticeOptions options_with(const std::string& transport, std::size_t halo) {
  dynasoar::DistributedLatticeOptions options;
  options.halo = halo;
  options.divides_for_one_rank = true;  // so that one rank pays for its ghosts, too
  options.transport = transport_of(transport);
  return options;
}

/// Seconds of `work(times)`, on the slowest rank, one value per repetition; the first runs are not counted.
template <class Work, class Wait>
std::vector<double> seconds_of(dynasoar::Communicator& ranks, const Settings& settings, const Work& work,
                               const Wait& wait) {
  std::vector<double> seconds;
  for (int i = 0; i < settings.warm_up + settings.repetitions; ++i) {
    wait();
    ranks.barrier();
    const auto begin = std::chrono::steady_clock::now();
    work();
    wait();
    double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ranks.maximum({&time, 1});
    if (i >= settings.warm_up) seconds.push_back(time);
  }
  return seconds;
}

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

constexpr bool may_record(Transport transport) {
  return !dynasoar::kCudaBackend || transport != Transport::staged;
}

namespace wa_tor_model {

using namespace wa_tor;
using namespace wa_tor::placed;

/// An ocean whose halo is 6 rows; a step needs one exchange.
class Ocean6 {
 public:
  /// @param transport   empty: loops visit no ghosts, and there is no exchange
  Ocean6(dynasoar::Communicator& ranks, const std::string& transport, std::size_t width, std::size_t height)
      : exchanges_(!transport.empty()),
        handle_(ranks, {.heap_bytes = AllocatorT::least_heap_bytes()}),
        lattice_(handle_, {width, height}, options_with(transport, 6)),
        now_(handle_.local().executor(), 0) {
    const Parameters parameters;
    lattice_.parallel_for({}, Populate{seed_, Thresholds::of(parameters.fish, parameters.sharks)});
  }

  void step() {
    now_.add(1);
    const Ocean ocean{seed_, now_.view()};
    if (exchanges_) {
      lattice_.exchange();
      lattice_.parallel_do<&Fish::ask>({.reads = 1}, ocean);
      lattice_.parallel_for_free_if({.reads = 1, .writes = 1}, dynasoar::AskedFrom<Fish, &Fish::choice_>{},
                                    Take<Fish>{ocean, Decision::fish_accept});
      lattice_.parallel_do<&Shark::ask>({.reads = 1}, ocean);
      lattice_.parallel_for_free_if<Shark>({.reads = 1, .writes = 1}, dynasoar::AskedFrom<Shark, &Shark::choice_>{},
                                           Take<Shark>{ocean, Decision::shark_accept});
      return;
    }
    auto& own = lattice_.local();
    handle_.local().parallel_do<&Fish::ask>(ocean);
    own.parallel_for_free_if(dynasoar::AskedFrom<Fish, &Fish::choice_>{}, Take<Fish>{ocean, Decision::fish_accept});
    handle_.local().parallel_do<&Shark::ask>(ocean);
    own.parallel_for_free_if<Shark>(dynasoar::AskedFrom<Shark, &Shark::choice_>{},
                                    Take<Shark>{ocean, Decision::shark_accept});
  }

  dynasoar::DistributedHandle<AllocatorT>& handle() { return handle_; }
  Transport transport() const { return lattice_.transport(); }

 private:
  Seed seed_{7};
  bool exchanges_;
  dynasoar::DistributedHandle<AllocatorT> handle_;
  dynasoar::DistributedLattice<Fish, Shark> lattice_;
  dynasoar::StepValue<std::uint32_t> now_;
};

}  // namespace wa_tor_model

/// Those that are possible here. Rank 0 prints why others are not.
std::vector<std::string> possible_transports(dynasoar::Communicator& ranks) {
  std::vector<std::string> possible;
  dynasoar::DistributedHandle<CellAllocator> handle(ranks, {.heap_bytes = CellAllocator::least_heap_bytes()});
  const std::size_t layers = 4 * static_cast<std::size_t>(ranks.size());
  for (const Transport transport : {Transport::peer, Transport::nccl, Transport::staged}) {
    try {
      dynasoar::DistributedLattice<Cell> lattice(handle, {64, layers}, options_with(name_of(transport), 1));
      possible.emplace_back(name_of(transport));
    } catch (const dynasoar::CommunicatorError&) {
      throw;
    } catch (const dynasoar::Error& error) {  // on all ranks
      if (ranks.rank() == 0) std::printf("not measured: %s\n", error.what());
    }
  }
  return possible;
}

std::vector<Record> run_exchange(dynasoar::Communicator& ranks, const std::string& transport,
                                 const Settings& settings) {
  std::vector<std::size_t> sizes{64, 4096, 65536, 262144, 1048576, 4194304, 67108864};
  if (settings.small) sizes = {64, 4096};
  std::vector<Record> records;
  dynasoar::DistributedHandle<CellAllocator> handle(ranks, {.heap_bytes = CellAllocator::least_heap_bytes()});
  for (const std::size_t bytes : sizes) {
    const int times = settings.small ? 5 : bytes <= 262144 ? 200 : 40, in_step = times / 5;
    dynasoar::DistributedLattice<Cell> lattice(handle, {bytes, 4 * static_cast<std::size_t>(ranks.size())},
                                               options_with(transport, 1));
    const auto wait = [&] { handle.local().synchronize(); };
    const auto exchange = [&lattice](int n) {
      for (int i = 0; i < n; ++i) lattice.exchange();
    };
    const auto add = [&](const std::string& how, const std::vector<double>& seconds) {
      records.push_back({"exchange",
                         transport + how,
                         {{"ranks", ranks.size()}, {"bytes_per_neighbour", static_cast<std::int64_t>(bytes)}},
                         "time per exchange",
                         "us",
                         scaled(seconds, 1e6 / times)});
    };
    add("", seconds_of(
                ranks, settings, [&] { exchange(times); }, wait));
    if (!may_record(lattice.transport())) continue;
    auto step = handle.local().record([&] { exchange(in_step); });
    const auto replay = [&] {
      for (int i = 0; i < 5; ++i) step();
    };
    add(", recorded", seconds_of(ranks, settings, replay, wait));
  }
  return records;
}

/// An ocean for all ranks together, or for each rank.
struct OceanSize {
  const char* name;
  std::size_t width, height;
  bool is_of_each_rank;
  int steps;
};

std::vector<Record> run_wa_tor(dynasoar::Communicator& ranks, const std::string& transport, const Settings& settings) {
  std::vector<Record> records;
  std::vector<OceanSize> sizes{{"wa_tor weak", 4096, 4096, true, 100},
                               {"wa_tor strong", 8192, 8192, false, 100},
                               {"wa_tor weak, large", 32768, 32768, true, 10},
                               {"wa_tor strong, small", 4096, 4096, false, 100}};
  if (settings.small) sizes = {{"wa_tor weak", 128, 128, true, 3}, {"wa_tor strong", 256, 256, false, 3}};
  for (const auto& [name, width, rows, is_of_each_rank, steps] : sizes) {
    const std::size_t height = is_of_each_rank ? rows * static_cast<std::size_t>(ranks.size()) : rows;
    wa_tor_model::Ocean6 ocean(ranks, transport, width, height);
    const auto wait = [&] { ocean.handle().local().synchronize(); };
    const auto add = [&, &name = name, &width = width, &steps = steps](const std::string& how,
                                                                       const std::vector<double>& seconds) {
      records.push_back({name,
                         (transport.empty() ? "no exchange, no ghosts" : transport) + how,
                         {{"ranks", ranks.size()},
                          {"width", static_cast<std::int64_t>(width)},
                          {"height", static_cast<std::int64_t>(height)}},
                         "time per step",
                         "ms",
                         scaled(seconds, 1e3 / steps)});
    };
    const auto run = [&] {
      for (int i = 0; i < steps; ++i) ocean.step();
    };
    add("", seconds_of(ranks, settings, run, wait));
    if (!transport.empty() && !may_record(ocean.transport())) continue;
    auto step = ocean.handle().local().record([&] { ocean.step(); });
    const auto replay = [&] {
      for (int i = 0; i < steps; ++i) step();
    };
    add(", recorded", seconds_of(ranks, settings, replay, wait));
  }
  return records;
}

}  // namespace

std::vector<Record> run_on_ranks(const std::vector<std::string>& names, const Settings& settings) {
  dynasoar::Communicator ranks;
  std::vector<Record> records;
  const auto add = [&](const std::vector<Record>& measured) {
    if (ranks.rank() == 0) records.insert(records.end(), measured.begin(), measured.end());
  };
  const std::vector<std::string> transports = possible_transports(ranks);
  for (const std::string& name : names) {
    if (name == "wa_tor") add(run_wa_tor(ranks, "", settings));
    for (const std::string& transport : transports)
      add(name == "wa_tor" ? run_wa_tor(ranks, transport, settings) : run_exchange(ranks, transport, settings));
  }
  return records;
}

}  // namespace benchmarks
