/// @file
/// Ranks: lets the ranks of a Communicator wait for each other and agree on results. Each rank sends its data directly
/// to rank 0, so that rank 0 knows which ranks are missing. Results are distributed along a binomial tree. Used by
/// Communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <dynasoar/base/view.h>
#include <dynasoar/detail/communicator.h>
#include "transport.h"

namespace dynasoar::detail {

/// The collective calls, to detect that ranks call different ones.
enum class Call : std::uint32_t {
  construct,
  sum_of_integers,
  sum_of_reals,
  minimum_of_integers,
  minimum_of_reals,
  maximum_of_integers,
  maximum_of_reals,
  broadcast,
  gather,
  exchange,
  barrier,
  agree,
  check_same,
  exit
};

const char* name(Call call);

using Bytes = std::vector<char>;

/// Waits in poll loops: yields first, then sleeps for longer and longer. If the process was stopped for some time, this
/// time counts as 0.1 s at most.
class Wait {
 public:
  /// @param quick_seconds   the time for which it only yields
  explicit Wait(double quick_seconds);
  void pause();
  void restart();
  double seconds() const { return waited_; }

 private:
  double quick_, waited_ = 0, last_;
};

struct Ranks {
  Ranks(std::unique_ptr<Transport> messages, const CommunicatorOptions& chosen);

  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// All objects of this class in this process.
  static std::vector<Ranks*>& all_open();

  int rank() const { return transport == nullptr ? 0 : transport->rank(); }
  int size() const { return transport == nullptr ? 1 : transport->size(); }

  /// Begins a collective call.
  void begin(Call call);

  /// All ranks' bytes on `root`, in the order of ranks; nothing on the others.
  std::vector<Bytes> collect(int root, View<char> mine);

  /// Makes `bytes` of all ranks equal to that of `root`.
  void distribute(int root, Bytes& bytes);

  /// Rank 0 computes a result from the bytes of all ranks: `combine(const std::vector<Bytes>&)` returns Bytes. All
  /// ranks return this result or, if `combine` throws a CommunicatorError, throw it.
  template <class F>
  Bytes decide(Call call, View<char> mine, const F& combine);

  /// Waits until no transfers are under way. Ends the run if this takes longer than the patience, or if a rank will not
  /// take part.
  void wait();

  /// Tells the other ranks that may wait for this rank why it will not take part any more. Does not wait for them.
  void send_notices(Notice notice);

  /// Prints the text, with this rank's number, and ends the run on all ranks.
  [[noreturn]] void end_run(const std::string& text);

  std::unique_ptr<Transport> transport;  // null: this rank is alone
  CommunicatorOptions options;
  Call call = Call::construct;
  std::uint64_t calls = 0;
  std::vector<bool> partners;   // ranks that this one has exchanged messages with
  std::vector<Notice> notices;  // the last of each rank
  bool is_end_agreed = false;   // all ranks know that they throw
  int exceptions_at_construction;

 private:
  struct Packet;
  Packet packet(View<char> bytes) const;
  void send(int to, int tag, const Packet& first, View<char> all);
  void receive(int from, int tag, Packet& first);
  void receive_rest(int from, int tag, const Packet& first, Bytes& all);
  void look_at_notices(Wait& waiting);
  void say_that_it_waits(Notice notice);
  std::vector<int> missing() const;
  void encode(Bytes& result, const std::string* error) const;
  Bytes decoded(Bytes result);
};

/// "rank 2", "ranks 0, 1 and 3", "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 more".
std::string list_of_ranks(const std::vector<int>& ranks);

/// Prints what has happened to a rank, as the reason why the run ends.
void print_end(int rank, int size, const std::string& what);

/// "1.5 s"
std::string seconds_text(double seconds);

template <class F>
Bytes Ranks::decide(Call of, View<char> mine, const F& combine) {
  begin(of);
  const std::vector<Bytes> all = collect(0, mine);
  Bytes result;
  if (rank() == 0) {
    try {
      result = combine(all);
      encode(result, nullptr);
    } catch (const CommunicatorError& error) {
      const std::string text = error.what();
      encode(result, &text);
    }
  }
  distribute(0, result);
  return decoded(std::move(result));
}

}  // namespace dynasoar::detail
