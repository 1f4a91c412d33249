#include "ranks.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include <dynasoar/base/number_text.h>

namespace dynasoar::detail {
namespace {

constexpr int kPart = 0, kResult = 1;  // tags

// A rank that announces that it will not take part may have sent messages before. They arrive within this time.
constexpr double kNoticeSeconds = 0.5;
// Fractions of the patience: after the first one, a rank announces that it waits. The second one is the patience in
// calls of all ranks: in such a call, ranks that exchange messages, and may know more, should end the run first.
constexpr double kSayThatItWaits = 0.05, kPatienceWithAll = 1.1;
// The time that another rank gets to end the run, after it has announced this.
constexpr double kSecondsToEnd = 5;
constexpr double kSlowestBytesPerSecond = 2e8;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const char* text(Notice notice) {
  switch (notice) {
    case Notice::destroyed: return "has destroyed its Communicator";
    case Notice::exception: return "has left the scope of its Communicator by an exception";
    case Notice::exit: return "has called exit() or returned from main()";
    default: return "";
  }
}

// Calls `visit(child)` for the ranks to which `rank` passes on data that `root` distributes, and returns the rank from
// which `rank` gets the data. A binomial tree: with ranks counted from the root, a parent has the number of the child
// without its lowest bit.
template <class F>
int visit_tree(int rank, int root, int size, const F& visit) {
  const int number = (rank - root + size) % size;
  int bit = 1;
  while (bit < size && (number & bit) == 0) bit *= 2;
  for (int step = bit / 2; step > 0; step /= 2) {
    if (number + step < size) visit((number + step + root) % size);
  }
  return number == 0 ? rank : (number - bit + root) % size;
}

}  // namespace

const char* name(Call call) {
  static constexpr const char* kNames[] = {"Communicator::Communicator",
                                           "sum of integers",
                                           "sum of real numbers",
                                           "minimum of integers",
                                           "minimum of real numbers",
                                           "maximum of integers",
                                           "maximum of real numbers",
                                           "broadcast",
                                           "gather",
                                           "exchange",
                                           "barrier",
                                           "agree",
                                           "check_same",
                                           "exit"};
  return kNames[static_cast<std::size_t>(call)];
}

std::string list_of_ranks(const std::vector<int>& ranks) {
  constexpr std::size_t kMost = 8;
  std::string list = ranks.size() == 1 ? "rank " : "ranks ";
  const std::size_t shown = std::min(ranks.size(), kMost);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) list += i + 1 == ranks.size() ? " and " : ", ";
    append_number(list, ranks[i]);
  }
  if (shown < ranks.size()) {
    list += " and ";
    append_number(list, ranks.size() - shown);
    list += " more";
  }
  return list;
}

void print_end(int rank, int size, const std::string& what) {
  std::string line = "dynasoar: rank ";
  append_number(line, rank);
  line += " of ";
  append_number(line, size);
  line += " on " + host_name() + " " + what + ". The run ends on all ranks.\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

std::string seconds_text(double seconds) {
  return number_text(static_cast<double>(static_cast<long long>(seconds * 10)) / 10) + " s";
}

// ---- Waiting

Wait::Wait(double quick_seconds) : quick_(quick_seconds), last_(now()) {}

void Wait::restart() {
  waited_ = 0;
  last_ = now();
}

void Wait::pause() {
  if (waited_ < quick_) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(waited_ / 100, 0.001)));
  }
  const double time = now();
  waited_ += std::min(time - last_, 0.1);
  last_ = time;
}

void Ranks::wait() {
  if (transport == nullptr) return;
  std::size_t bytes = 0;
  for (const Transport::Transfer& transfer : transport->under_way()) bytes += transfer.bytes;
  Wait waiting(0.02 + static_cast<double>(bytes) / kSlowestBytesPerSecond);
  const double patience = options.patience_seconds * (call == Call::exchange ? 1 : kPatienceWithAll);
  const double say_after = std::max(0.05, options.patience_seconds * kSayThatItWaits);
  bool has_said = false;
  double next_look = 0.01;
  while (!transport->under_way().empty()) {
    if (transport->progress()) {
      waiting.restart();
      next_look = 0.01;
      continue;
    }
    waiting.pause();
    if (waiting.seconds() < next_look) continue;
    next_look = waiting.seconds() + 0.01;
    look_at_notices(waiting);
    if (waiting.seconds() > say_after && !has_said) {
      say_that_it_waits(Notice::waits);
      has_said = true;
    }
    if (waiting.seconds() > patience) {
      end_run("has waited " + seconds_text(waiting.seconds()) + " in " + name(call) + " for " +
              list_of_ranks(missing()) +
              ", which was stopped or killed, hangs, or does something else for longer than "
              "CommunicatorOptions::patience_seconds");
    }
  }
  if (has_said) say_that_it_waits(Notice::none);
}

void Ranks::look_at_notices(Wait& waiting) {
  for (auto next = transport->take_notice(); next.rank >= 0; next = transport->take_notice()) {
    notices[static_cast<std::size_t>(next.rank)] = next.notice;
    if (next.notice == Notice::ends_run) {  // that rank prints the reason; one rank is enough
      std::this_thread::sleep_for(std::chrono::duration<double>(kSecondsToEnd));
      transport->abort();
    }
    // In a call of all ranks, rank 0 knows best which ranks are missing. It takes part, and ends the run if necessary.
    if (next.rank == 0 && next.notice == Notice::waits && call != Call::exchange) waiting.restart();
  }
  if (waiting.seconds() < kNoticeSeconds) return;
  for (const Transport::Transfer& transfer : transport->under_way()) {
    const Notice notice = notices[static_cast<std::size_t>(transfer.rank)];
    if (notice == Notice::none || notice == Notice::waits) continue;
    std::string said = "waits in ";
    said += name(call);
    said += " for rank ";
    append_number(said, transfer.rank);
    end_run(said + ", which " + text(notice));
  }
}

void Ranks::say_that_it_waits(Notice notice) {
  if (rank() != 0) {
    transport->send_notice(0, notice);
    return;
  }
  const std::vector<int> absent = missing();
  for (int other = 1; other < size(); ++other) {
    if (std::find(absent.begin(), absent.end(), other) == absent.end()) transport->send_notice(other, notice);
  }
}

// The ranks for which this rank waits, except those that wait themselves. If all of them wait, returns all.
std::vector<int> Ranks::missing() const {
  std::vector<int> all, silent;
  for (const Transport::Transfer& transfer : transport->under_way()) {
    if (std::find(all.begin(), all.end(), transfer.rank) != all.end()) continue;
    all.push_back(transfer.rank);
    if (notices[static_cast<std::size_t>(transfer.rank)] != Notice::waits) silent.push_back(transfer.rank);
  }
  std::sort(all.begin(), all.end());
  std::sort(silent.begin(), silent.end());
  return silent.empty() ? all : silent;
}

void Ranks::send_notices(Notice notice) {
  if (transport == nullptr) return;
  std::vector<bool> told(static_cast<std::size_t>(size()));
  told[static_cast<std::size_t>(rank())] = true;
  const auto tell = [&](int other) {
    if (told[static_cast<std::size_t>(other)]) return;
    told[static_cast<std::size_t>(other)] = true;
    transport->send_notice(other, notice);
  };
  tell(0);
  for (int step = 1; step < size(); step *= 2) {  // parents and children in the trees of all roots
    tell((rank() + step) % size());
    tell((rank() - step + size()) % size());
  }
  for (int other = 0; other < size(); ++other) {
    if (partners[static_cast<std::size_t>(other)]) tell(other);
  }
}

void Ranks::end_run(const std::string& what) {
  print_end(rank(), size(), what);
  send_notices(Notice::ends_run);
  // The launcher needs some time to pass the printed text on to the terminal.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  transport->abort();
  std::abort();  // not reached
}

// ---- Calls

// The beginning of a message: its call and length, and as many of its bytes as there is room for.
struct Ranks::Packet {
  static constexpr std::size_t kRoom = 232;
  std::uint32_t call;
  std::uint32_t unused;
  std::uint64_t calls;
  std::uint64_t bytes;
  char first[kRoom];

  std::size_t first_bytes() const { return std::min<std::size_t>(bytes, kRoom); }
  std::size_t packet_bytes() const { return sizeof(Packet) - kRoom + first_bytes(); }
};

Ranks::Ranks(std::unique_ptr<Transport> messages, const CommunicatorOptions& chosen)
    : transport(std::move(messages)),
      options(chosen),
      partners(static_cast<std::size_t>(size())),
      notices(static_cast<std::size_t>(size())),
      exceptions_at_construction(std::uncaught_exceptions()) {
  all_open().push_back(this);
}

Ranks::~Ranks() {
  std::vector<Ranks*>& all = all_open();
  all.erase(std::find(all.begin(), all.end(), this));
}

std::vector<Ranks*>& Ranks::all_open() {
  static auto* const all = new std::vector<Ranks*>;  // functions that exit() calls use it
  return *all;
}

void Ranks::begin(Call next) {
  call = next;
  ++calls;
  is_end_agreed = false;
}

Ranks::Packet Ranks::packet(View<char> bytes) const {
  Packet made{};
  made.call = static_cast<std::uint32_t>(call);
  made.calls = calls;
  made.bytes = bytes.size();
  if (!bytes.empty()) std::memcpy(made.first, bytes.data(), made.first_bytes());
  return made;
}

void Ranks::send(int to, int tag, const Packet& first, View<char> all) {
  transport->send(to, tag, reinterpret_cast<const char*>(&first), first.packet_bytes());
  const View<char> rest = all.without_first(first.first_bytes());
  if (!rest.empty()) transport->send(to, tag, rest.data(), rest.size());
}

void Ranks::receive(int from, int tag, Packet& first) {
  transport->receive(from, tag, reinterpret_cast<char*>(&first), sizeof first, Transport::Length::at_most);
}

void Ranks::receive_rest(int from, int tag, const Packet& first, Bytes& all) {
  if (first.call != static_cast<std::uint32_t>(call) || first.calls != calls) {
    std::string said = "calls ";
    said += name(call);
    said += " as collective call number ";
    append_number(said, calls);
    said += ", but rank ";
    append_number(said, from);
    said += " calls ";
    said += name(static_cast<Call>(first.call));
    said += " as number ";
    append_number(said, first.calls);
    end_run(said + ": all ranks must make the same calls in the same order");
  }
  all.resize(first.bytes);
  const std::size_t done = first.first_bytes();
  if (done > 0) std::memcpy(all.data(), first.first, done);
  if (done < all.size()) {
    transport->receive(from, tag, all.data() + done, all.size() - done, Transport::Length::exact);
  }
}

std::vector<Bytes> Ranks::collect(int root, View<char> mine) {
  std::vector<Bytes> all;
  if (rank() != root) {
    partners[static_cast<std::size_t>(root)] = true;
    const Packet first = packet(mine);
    send(root, kPart, first, mine);
    wait();
    return all;
  }
  all.resize(static_cast<std::size_t>(size()));
  std::vector<Packet> firsts(all.size());
  for (int other = 0; other < size(); ++other) {
    if (other != root) receive(other, kPart, firsts[static_cast<std::size_t>(other)]);
  }
  wait();
  for (int other = 0; other < size(); ++other) {
    Bytes& bytes = all[static_cast<std::size_t>(other)];
    if (other == root) {
      bytes.assign(mine.begin(), mine.end());
    } else {
      receive_rest(other, kPart, firsts[static_cast<std::size_t>(other)], bytes);
    }
  }
  wait();
  return all;
}

void Ranks::distribute(int root, Bytes& bytes) {
  if (size() == 1) return;
  std::vector<int> children;
  const int parent = visit_tree(rank(), root, size(), [&](int child) { children.push_back(child); });
  Packet first;
  if (rank() == root) {
    first = packet(bytes);
  } else {
    receive(parent, kResult, first);
    wait();
    receive_rest(parent, kResult, first, bytes);
    wait();
  }
  for (const int child : children) send(child, kResult, first, bytes);
  wait();
}

// The last byte of a result says whether it is an error.
void Ranks::encode(Bytes& result, const std::string* error) const {
  if (error != nullptr) result.assign(error->begin(), error->end());
  result.push_back(error != nullptr ? 1 : 0);
}

Bytes Ranks::decoded(Bytes result) {
  const bool is_error = result.back() != 0;
  result.pop_back();
  if (!is_error) return result;
  is_end_agreed = true;
  throw CommunicatorError(std::string(result.begin(), result.end()));
}

}  // namespace dynasoar::detail
