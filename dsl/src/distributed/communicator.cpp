#include <dynasoar/detail/communicator.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include <dynasoar/base/number_text.h>
#include "../interrupt.h"
#include "ranks.h"
#include "transport.h"

namespace dynasoar {
namespace {

using detail::append_number;
using detail::Bytes;
using detail::Call;
using detail::Ranks;
using detail::View;

View<char> bytes_of(const void* data, std::size_t bytes) {
  return {static_cast<const char*>(data), bytes};
}

View<char> bytes_of(std::string_view text) {
  return {text.data(), text.size()};
}

std::string text_of(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

void check(const CommunicatorOptions& options) {
  if (!(options.patience_seconds > 0 && std::isfinite(options.patience_seconds))) {
    throw CommunicatorError("dynasoar: CommunicatorOptions::patience_seconds must be a time above 0");
  }
  if (options.piece_bytes < 1 || options.piece_bytes > INT_MAX) {
    throw CommunicatorError("dynasoar: CommunicatorOptions::piece_bytes must be from 1 to 2^31 - 1");
  }
}

void check_root(int root, int size) {
  if (root >= 0 && root < size) return;
  std::string text = "dynasoar: the root of a collective call is rank ";
  append_number(text, root);
  text += ", but there are only ranks 0 to ";
  append_number(text, size - 1);
  throw CommunicatorError(text);
}

// Replaces each value by the combined value of all ranks. `add(T& result, T value)` combines values in the order of
// ranks.
template <class T, class F>
void reduce(Ranks& ranks, Call call, detail::Values<T> values, const F& add) {
  const std::size_t bytes = values.size() * sizeof(T);
  const Bytes result = ranks.decide(call, bytes_of(values.data(), bytes), [&](const std::vector<Bytes>& all) {
    Bytes made = all[0];
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
      if (all[rank].size() != made.size()) {
        std::string text = "dynasoar: in a ";
        text += name(call);
        text += ", rank 0 passes ";
        append_number(text, made.size() / sizeof(T));
        text += " values and rank ";
        append_number(text, rank);
        text += " passes ";
        append_number(text, all[rank].size() / sizeof(T));
        throw CommunicatorError(text + "; all ranks must pass the same number");
      }
      for (std::size_t at = 0; at < made.size(); at += sizeof(T)) {
        T sum, value;
        std::memcpy(&sum, &made[at], sizeof(T));
        std::memcpy(&value, &all[rank][at], sizeof(T));
        add(sum, value);
        std::memcpy(&made[at], &sum, sizeof(T));
      }
    }
    return made;
  });
  if (bytes > 0) std::memcpy(values.data(), result.data(), bytes);
}

constexpr auto kSum = [](auto& result, auto value) { result += value; };
// NaN is kept.
constexpr auto kLeast = [](auto& result, auto value) {
  if (value < result || value != value) result = value;
};
constexpr auto kGreatest = [](auto& result, auto value) {
  if (value > result || value != value) result = value;
};

// Messages to this rank itself, in order for each tag.
void copy_to_itself(int rank, View<Communicator::Message> sent, View<Communicator::Message> received) {
  std::vector<bool> is_taken(sent.size());
  for (const Communicator::Message& to : received) {
    if (to.rank != rank) continue;
    std::size_t at = 0;
    while (at < sent.size() && (is_taken[at] || sent[at].rank != rank || sent[at].tag != to.tag)) ++at;
    if (at == sent.size() || sent[at].bytes != to.bytes) {
      std::string text = "dynasoar: rank ";
      append_number(text, rank);
      text += " expects a message of ";
      append_number(text, to.bytes);
      text += " bytes with tag ";
      append_number(text, to.tag);
      text += " from itself, but sends itself ";
      append_number(text, at == sent.size() ? 0 : sent[at].bytes);
      throw CommunicatorError(text);
    }
    is_taken[at] = true;
    if (to.bytes > 0) std::memcpy(to.data, sent[at].data, to.bytes);
  }
}

void check_messages(View<Communicator::Message> messages, int size) {
  for (const Communicator::Message& message : messages) {
    if (message.rank >= 0 && message.rank < size && message.tag >= 0 && message.tag <= Communicator::kGreatestTag) {
      continue;
    }
    std::string text = "dynasoar: a message has rank ";
    append_number(text, message.rank);
    text += " and tag ";
    append_number(text, message.tag);
    text += "; ranks are from 0 to ";
    append_number(text, size - 1);
    text += ", tags from 0 to ";
    append_number(text, Communicator::kGreatestTag);
    throw CommunicatorError(text);
  }
}

// A part of a long text around the character at `place`.
std::string quoted(const std::string& text, std::size_t place) {
  constexpr std::size_t kMost = 160;
  if (text.size() <= kMost) return "'" + text + "'";
  const std::size_t begin = place > kMost / 2 ? place - kMost / 2 : 0;
  return (begin > 0 ? "'..." : "'") + text.substr(begin, kMost) + (begin + kMost < text.size() ? "...'" : "'");
}

std::string difference(std::string_view what, const std::vector<Bytes>& all) {
  const std::string first = text_of(all[0]);
  std::vector<std::pair<std::string, std::vector<int>>> groups;
  std::size_t place = 0;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::string value = text_of(all[rank]);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& other) { return other.first == value; });
    if (group == groups.end()) {
      if (groups.size() == 1) {
        while (place < value.size() && place < first.size() && value[place] == first[place]) ++place;
      }
      group = groups.insert(groups.end(), {value, {}});
    }
    group->second.push_back(static_cast<int>(rank));
  }
  if (groups.size() == 1) return "";
  std::string text = "dynasoar: ranks do not have the same ";
  text += what;
  for (std::size_t i = 0; i < std::min<std::size_t>(groups.size(), 4); ++i) {
    text += i == 0 ? ": " : ", ";
    text += detail::list_of_ranks(groups[i].second);
    text += groups[i].second.size() == 1 ? " has " : " have ";
    text += quoted(groups[i].first, place);
  }
  return text + ". Start the same program with the same options on all ranks";
}

}  // namespace

std::string detail::launcher_of_several() {
  for (const char* variable :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE"}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && std::strtol(value, nullptr, 10) > 1) return std::string(variable) + "=" + value;
  }
  return "";
}

Communicator::Communicator(const CommunicatorOptions& options) : Communicator(nullptr, 0, options) {}

Communicator::Communicator(const void* communicator, std::size_t handle_bytes, const CommunicatorOptions& options) {
  check(options);
  ranks_ = std::make_unique<Ranks>(detail::connect(communicator, handle_bytes, options), options);
  rank_ = ranks_->rank();
  size_ = ranks_->size();
  if (size_ == 1) return;
  const std::string host = detail::host_name();
  const Bytes places = ranks_->decide(Call::construct, bytes_of(host), [](const std::vector<Bytes>& all) {
    Bytes made(all.size() * 2 * sizeof(int));
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      const auto end = all.begin() + static_cast<std::ptrdiff_t>(rank);
      const int numbers[2] = {static_cast<int>(std::count(all.begin(), end, all[rank])),
                              static_cast<int>(std::count(all.begin(), all.end(), all[rank]))};
      std::memcpy(&made[rank * sizeof numbers], numbers, sizeof numbers);
    }
    return made;
  });
  int numbers[2];
  std::memcpy(numbers, &places[static_cast<std::size_t>(rank_) * sizeof numbers], sizeof numbers);
  local_rank_ = numbers[0];
  local_size_ = numbers[1];
  check_same("CommunicatorOptions::piece_bytes", detail::number_text(options.piece_bytes));
}

Communicator::~Communicator() {
  if (size_ == 1) return;
  if (ranks_->is_end_agreed || std::uncaught_exceptions() <= ranks_->exceptions_at_construction) {
    ranks_->send_notices(detail::Notice::destroyed);
    return;
  }
  ranks_->send_notices(detail::Notice::exception);
  std::fprintf(stderr,
               "dynasoar: an exception has left the scope of the Communicator of rank %d of %d. The run ends on all "
               "ranks.\n",
               rank_, size_);
  std::fflush(stderr);
  detail::remember_exception();
}

double Communicator::patience_seconds() const {
  return ranks_->options.patience_seconds;
}

std::string Communicator::description() const {
  return detail::transport_description();
}

void Communicator::sum(detail::Values<std::uint64_t> values) {
  reduce(*ranks_, Call::sum_of_integers, values, kSum);
}

void Communicator::sum(detail::Values<double> values) {
  reduce(*ranks_, Call::sum_of_reals, values, kSum);
}

void Communicator::minimum(detail::Values<std::uint64_t> values) {
  reduce(*ranks_, Call::minimum_of_integers, values, kLeast);
}

void Communicator::minimum(detail::Values<double> values) {
  reduce(*ranks_, Call::minimum_of_reals, values, kLeast);
}

void Communicator::maximum(detail::Values<std::uint64_t> values) {
  reduce(*ranks_, Call::maximum_of_integers, values, kGreatest);
}

void Communicator::maximum(detail::Values<double> values) {
  reduce(*ranks_, Call::maximum_of_reals, values, kGreatest);
}

void Communicator::broadcast(void* data, std::size_t bytes, int root) {
  check_root(root, size_);
  if (size_ == 1) return;
  ranks_->begin(Call::broadcast);
  Bytes copy;
  const View<char> mine = bytes_of(data, bytes);
  if (rank_ == root) copy.assign(mine.begin(), mine.end());
  ranks_->distribute(root, copy);
  if (copy.size() != bytes) {
    std::string text = "dynasoar: in a broadcast, rank ";
    append_number(text, root);
    text += " passes ";
    append_number(text, copy.size());
    text += " bytes and rank ";
    append_number(text, rank_);
    text += " passes ";
    append_number(text, bytes);
    throw CommunicatorError(text + "; all ranks must pass the same number");
  }
  if (rank_ != root && bytes > 0) std::memcpy(data, copy.data(), bytes);
}

std::vector<std::vector<char>> Communicator::gather(const void* data, std::size_t bytes, int root) {
  check_root(root, size_);
  ranks_->begin(Call::gather);
  return ranks_->collect(root, bytes_of(data, bytes));
}

void Communicator::exchange(View<Message> sent, View<Message> received) {
  check_messages(sent, size_);
  check_messages(received, size_);
  copy_to_itself(rank_, sent, received);
  if (size_ == 1) return;
  // Restore the number of collective calls, because not all ranks need to have messages.
  const Call before = std::exchange(ranks_->call, Call::exchange);
  constexpr int kFirstTag = 16;
  for (const Message& message : received) {
    if (message.rank == rank_) continue;
    ranks_->partners[static_cast<std::size_t>(message.rank)] = true;
    ranks_->transport->receive(message.rank, kFirstTag + message.tag, message.data, message.bytes,
                               detail::Transport::Length::exact);
  }
  for (const Message& message : sent) {
    if (message.rank == rank_) continue;
    ranks_->partners[static_cast<std::size_t>(message.rank)] = true;
    ranks_->transport->send(message.rank, kFirstTag + message.tag, message.data, message.bytes);
  }
  ranks_->wait();
  ranks_->call = before;
  if (const std::string error = ranks_->transport->take_error(); !error.empty()) throw CommunicatorError(error);
}

void Communicator::barrier() {
  ranks_->decide(Call::barrier, {}, [](const std::vector<Bytes>&) { return Bytes(); });
}

Communicator::Status Communicator::agree(const Status& mine) {
  enum { kError, kStop, kGrow, kFlags };
  Bytes said = {mine.error, mine.stop || detail::interrupted(), mine.grow};
  if (mine.error) said.insert(said.end(), mine.message.begin(), mine.message.end());
  const Bytes all_said = ranks_->decide(Call::agree, said, [](const std::vector<Bytes>& all) {
    Bytes made = all[0];
    int rank = made[kError] ? 0 : -1;
    for (std::size_t other = 1; other < all.size(); ++other) {
      if (all[other][kError] && !made[kError]) {
        rank = static_cast<int>(other);
        made.insert(made.end(), all[other].begin() + kFlags, all[other].end());
      }
      for (int flag = 0; flag < kFlags; ++flag) made[flag] |= all[other][flag];
    }
    const char* bytes = reinterpret_cast<const char*>(&rank);
    made.insert(made.end(), bytes, bytes + sizeof rank);
    return made;
  });
  Status status;
  status.error = all_said[kError] != 0;
  status.stop = all_said[kStop] != 0;
  status.grow = all_said[kGrow] != 0;
  const std::size_t end = all_said.size() - sizeof status.rank;
  std::memcpy(&status.rank, &all_said[end], sizeof status.rank);
  status.message.assign(all_said.data() + kFlags, end - kFlags);
  ranks_->is_end_agreed = status.error;
  return status;
}

void Communicator::catch_signals() {
  detail::catch_interrupts();
}

void Communicator::check_same(std::string_view what, std::string_view value) {
  ranks_->decide(Call::check_same, bytes_of(value), [&](const std::vector<Bytes>& all) {
    if (const std::string text = difference(what, all); !text.empty()) throw CommunicatorError(text);
    return Bytes();
  });
}

}  // namespace dynasoar
