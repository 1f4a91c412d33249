#include <dynasoar/detail/halo_exchange.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <dynasoar/base/number_text.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/error.h>

namespace dynasoar {

namespace detail {

namespace {

constexpr std::size_t kBefore = 0, kBehind = 1;  // sides
constexpr std::size_t kReasonBytes = 1024, kIdentityBytes = 128;

/// The time for which loops wait for a neighbour. Other ranks may wait for this rank in the Communicator meanwhile.
/// This time is less than the patience of the Communicator, so that they learn the reason.
double patience_of(const Communicator& communicator) {
  return 0.8 * communicator.patience_seconds();
}

/// The number of a word in a layer, counted from the first in memory.
std::uint64_t first_word(const Ghosts& ghosts, std::size_t layer) {
  return layer * ghosts.shape().words_of_layer();
}

std::string with_rank(std::string text, int rank) {
  text += "rank ";
  append_number(text, rank);
  return text;
}

}  // namespace

HaloExchange::HaloExchange(const HaloContext& context, const Ghosts& ghosts, Transport wanted,
                           std::shared_ptr<DeviceMessages> messages)
    : context_(context),
      executor_(context.executor),
      ghosts_(ghosts),
      neighbours_{ghosts.partition().before(ghosts.rank()), ghosts.partition().after(ghosts.rank())},
      halo_(ghosts.partition().halo()),
      sides_((has_neighbour(kBefore) ? 1u : 0u) + (has_neighbour(kBehind) ? 1u : 0u)),
      messages_(std::move(messages)),
      exceptions_at_construction_(std::uncaught_exceptions()) {
  context.on_all([&] {
    if (sides_ > 0) make_tables();
  });
  choose(wanted);
  context.on_all([&] {
    if (sides_ > 0) make_areas();
  });
  context.attachments.add(*this);
}

HaloExchange::~HaloExchange() {
  context_.attachments.remove(*this);
  if (windows_ && std::uncaught_exceptions() > exceptions_at_construction_) windows_->abort();
  // Before memory is freed, which waits for the device without a time limit.
  if (watch_) watch_->stop();
  messages_.reset();
}

// ---- Tables of copies

void HaloExchange::make_tables() {
  const std::vector<PlacedClass>& classes = ghosts_.classes();
  const std::vector<Ghosts::Part> parts = ghosts_.parts(halo_);
  std::vector<HaloClass> table;
  std::vector<PlaceField> fields;
  std::uint64_t unit = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const PlacedState& state = classes[i].state;
    const Ghosts::Part& part = parts[i];
    HaloClass of{};
    of.first_unit = unit;
    of.seen_words = (part.seen_end - part.seen) / sizeof(std::uint64_t);
    of.seen_at = part.seen;
    of.blocks_at = part.blocks;
    of.seen = state.seen;
    of.base = state.base;
    of.block_bytes = classes[i].info->block_bytes;
    if (state.seen != nullptr && state.shares_claims()) {
      of.claims = state.claims;
      of.sets_claims = std::none_of(table.begin(), table.end(),
                                    [&](const HaloClass& other) { return other.claims == state.claims; });
    }
    of.first_field = static_cast<std::uint32_t>(fields.size());
    for (const FieldInfo& field : classes[i].info->fields) {
      if (field.places == 0) continue;
      fields.push_back({static_cast<std::uint32_t>(field.offset), static_cast<std::uint32_t>(field.count),
                        static_cast<std::uint32_t>(field.stride), static_cast<std::uint32_t>(field.bytes)});
    }
    of.fields = static_cast<std::uint32_t>(fields.size()) - of.first_field;
    table.push_back(of);
    unit += of.seen_words + (part.end - part.blocks) / sizeof(HaloUnit);
  }
  bytes_ = parts.back().end;
  HaloTables tables{};
  tables.number = static_cast<std::uint32_t>(table.size());
  const std::size_t firsts = std::min<std::size_t>(table.size(), HaloTables::kFirst);
  std::copy_n(table.begin(), firsts, tables.first_classes);
  table.erase(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(firsts));
  classes_ = DeviceArray<HaloClass>(table.size());
  classes_.upload(table);
  fields_ = DeviceArray<PlaceField>(fields.size());
  fields_.upload(fields);
  const auto shape_of = [&](std::size_t side) {
    return has_neighbour(side) ? ghosts_.partition().shape(neighbours_[side]) : ghosts_.shape();
  };
  shapes_ = DeviceArray<LatticeShape>(3);
  shapes_.upload({ghosts_.shape(), shape_of(kBefore), shape_of(kBehind)});

  const std::size_t own = ghosts_.ghosts_before(), end = own + ghosts_.partition().slab(ghosts_.rank()).length;
  tables.other_classes = classes_.data();
  tables.fields = fields_.data();
  tables.shapes = shapes_.data();
  tables.units = unit;
  tables.first_side = has_neighbour(kBefore) ? 0 : 1;
  pack_.tables = unpack_.tables = tables;
  pack_.tables.first_words[kBefore] = first_word(ghosts_, own);
  pack_.tables.first_words[kBehind] = first_word(ghosts_, end - halo_);
  unpack_.tables.first_words[kBefore] = has_neighbour(kBefore) ? first_word(ghosts_, own - halo_) : 0;
  unpack_.tables.first_words[kBehind] = first_word(ghosts_, end);
}

void HaloExchange::make_areas() {
  for (std::size_t side : {kBefore, kBehind}) {
    if (!has_neighbour(side)) continue;
    if (windows_) {
      pack_.to[side] = windows_->outgoing(static_cast<int>(side));
      unpack_.from[side] = windows_->incoming(static_cast<int>(side));
    } else if (transport_ == Transport::nccl) {
      for (const Area area : {kOutgoing, kIncoming}) on_device_[area][side] = DeviceArray<char>(bytes_);
      pack_.to[side] = on_device_[kOutgoing][side].data();
      unpack_.from[side] = on_device_[kIncoming][side].data();
      sent_[side] = {neighbours_[side], pack_.to[side], bytes_};
      received_[side] = {neighbours_[side], unpack_.from[side], bytes_};
    } else {
      for (const Area area : {kOutgoing, kIncoming}) on_host_[area][side] = HostBuffer(bytes_);
      pack_.to[side] = on_host_[kOutgoing][side].data();  // device code can access it
      unpack_.from[side] = on_host_[kIncoming][side].data();
    }
  }
  if (transport_ == Transport::nccl) {
    watch_.emplace(*messages_, patience_of(context_.communicator));
    pack_.begun = watch_->begun();
    unpack_.ended = watch_->ended();
  }
  if (!windows_) return;
  pack_.stride = unpack_.stride = windows_->stride();
  unpack_.epoch = windows_->epoch();
  windows_->load<PackHalo, UnpackHalo>();
}

// ---- Choice of the transport

void HaloExchange::choose(Transport wanted) {
  std::string mine;
  context_.on_all([&] { mine = device_identity(); });
  identities_ = of_all(mine, kIdentityBytes);
  for (const Transport transport : {Transport::peer, Transport::nccl, Transport::staged}) {
    const bool is_tried =
        wanted == Transport::automatic ? kCudaBackend || transport == Transport::staged : wanted == transport;
    if (!is_tried) continue;
    const std::string reason = connect(transport);
    if (reason.empty()) {
      transport_ = transport;
      return;
    }
    if (wanted == Transport::automatic) continue;
    throw TransportError(wanted, reason);
  }
}

std::string HaloExchange::connect(Transport transport) {
  if (transport == Transport::peer) return connect_peers();
  if (transport == Transport::nccl) return connect_nccl();
  return "";
}

/// Texts of all ranks, padded with zeros. Collective.
std::vector<std::string> HaloExchange::of_all(std::string mine, std::size_t bytes) const {
  mine.resize(bytes);
  Communicator& communicator = context_.communicator;
  std::string all;
  for (const std::vector<char>& text : communicator.gather(mine.data(), bytes, 0)) all.append(text.data(), bytes);
  all.resize(bytes * static_cast<std::size_t>(communicator.size()));
  communicator.broadcast(all.data(), all.size(), 0);
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += bytes) texts.push_back(all.substr(at, bytes));
  return texts;
}

/// The reason of the first rank that has one. Collective.
std::string HaloExchange::reason_of_all(const std::string& mine) const {
  const std::vector<std::string> all = of_all(mine, kReasonBytes);
  const auto found = std::find_if(all.begin(), all.end(), [](const std::string& text) { return text[0] != '\0'; });
  if (found == all.end()) return "";
  return with_rank("", static_cast<int>(found - all.begin())) + ": " + found->c_str();
}

/// Two ranks that use the same device, as a text; empty if there are none.
std::string HaloExchange::shared_device() const {
  for (std::size_t rank = 0; rank < identities_.size(); ++rank) {
    const auto first = std::find(identities_.begin(), identities_.end(), identities_[rank]);
    const auto other = static_cast<std::size_t>(first - identities_.begin());
    if (other == rank) continue;
    return with_rank("", static_cast<int>(other)) + " and " + with_rank("", static_cast<int>(rank)) + " both use " +
           identities_[rank].c_str();
  }
  return "";
}

/// The reason why loops cannot write into the neighbours' memory; empty if they can. Ranks cannot share a GPU, because
/// the exchanges of two ranks might each occupy multiprocessors that the other needs.
std::string HaloExchange::why_no_peers() const {
  if (const std::string reason = kCudaBackend ? shared_device() : ""; !reason.empty()) return reason;
  for (const int neighbour : neighbours_) {
    if (neighbour < 0 || neighbour == ghosts_.rank()) continue;
    const std::string reason = why_unreachable(identities_[static_cast<std::size_t>(neighbour)].c_str());
    if (!reason.empty()) return with_rank("its neighbour is ", neighbour) + ", and " + reason;
  }
  return "";
}

std::string HaloExchange::connect_peers() {
  const auto reason_of = [&](const auto& function) {
    std::string mine;
    try {
      mine = function();
    } catch (const Error& error) {
      mine = error.what();
    }
    return reason_of_all(mine);
  };
  std::string reason = reason_of([&] { return why_no_peers(); });
  if (!reason.empty()) return reason;
  reason = reason_of([&] {
    if (sides_ > 0) windows_.emplace(executor_, bytes_, patience_of(context_.communicator));
    return "";
  });
  const std::vector<std::string> names = of_all(windows_ ? windows_->name() : "", PeerWindows::kNameBytes);
  PeerWindows::free_retired();  // all ranks have reached this point, and have closed the windows
  if (reason.empty()) {
    reason = reason_of([&] {
      for (const std::size_t side : {kBefore, kBehind}) {
        if (has_neighbour(side))
          windows_->connect(static_cast<int>(side), names[static_cast<std::size_t>(neighbours_[side])]);
      }
      return "";
    });
  }
  if (windows_) windows_->forget_name();
  if (!reason.empty()) windows_.reset();
  return reason;
}

std::string HaloExchange::why_no_nccl() const {
  if (!kCudaBackend) return "loops run on the CPU";
  if (const std::string reason = context_.why_no_device_messages(); !reason.empty()) return reason;
  return shared_device();
}

std::string HaloExchange::connect_nccl() {
  if (std::string reason = reason_of_all(why_no_nccl()); !reason.empty()) return reason;
  if (messages_ != nullptr) return "";  // taken over from an exchange that has not failed: see take_messages
  try {
    messages_ = context_.connect_devices(context_.communicator);
  } catch (const CommunicatorError&) {
    throw;
  } catch (const Error& error) {  // on all ranks
    return error.what();
  }
  return "";
}

// ---- Exchanges

void HaloExchange::check_may_exchange() const {
  if (!kCudaBackend || transport_ != Transport::staged || executor_.may_wait()) return;
  throw Error(
      "dynasoar: exchange() of a DistributedLattice cannot be part of a recorded step, because ghosts are copied "
      "through the host's memory here (Transport::staged), and the host waits for that. Call exchange() in front of "
      "the step, or run with a GPU for each rank, so that ghosts are exchanged by Transport::peer or Transport::nccl");
}

std::string HaloExchange::exchange(std::size_t audited) {
  if (sides_ == 0) return "";
  if (windows_) {
    windows_->exchange(pack_.tables.units, pack_, unpack_, audited == 0);
    if (audited == 0) return "";
  } else {
    executor_.for_each_index(units(), pack_);
  }
  if (transport_ == Transport::nccl) messages_->exchange(sent_, received_, stream_of(executor_));
  if (transport_ == Transport::staged) {
    executor_.wait();
    std::vector<Communicator::Message> sent, received;
    for (const std::size_t side : {kBefore, kBehind}) {
      if (!has_neighbour(side)) continue;
      const int tag = static_cast<int>(side);  // the side to which the message goes
      sent.push_back({neighbours_[side], tag, pack_.to[side], bytes_});
      received.push_back({neighbours_[side], 1 - tag, unpack_.from[side], bytes_});
    }
    context_.communicator.exchange(sent, received);
  }
  std::string found;
  if (audited > 0) found = difference(audited);
  executor_.for_each_index(units(), unpack_);
  return found;
}

std::vector<char> HaloExchange::received(std::size_t side) const {
  std::vector<char> bytes(bytes_);
  if (transport_ == Transport::staged) {
    std::copy_n(unpack_.from[side], bytes_, bytes.data());
    return bytes;
  }
  std::uint64_t epoch = 0;
  if (windows_) copy_from_device(&epoch, windows_->epoch(), sizeof epoch);
  copy_from_device(bytes.data(), unpack_.from[side] + epoch % 2 * unpack_.stride, bytes_);
  return bytes;
}

std::string HaloExchange::difference(std::size_t audited) const {
  executor_.wait();
  if (is_over()) return "";  // no message has arrived
  const std::size_t own = ghosts_.ghosts_before(), end = own + ghosts_.partition().slab(ghosts_.rank()).length;
  std::string found;
  if (has_neighbour(kBefore)) {
    found = ghosts_.difference(own - halo_, halo_, halo_ - audited, halo_, received(kBefore), neighbours_[kBefore]);
  }
  if (has_neighbour(kBehind) && found.empty())
    found = ghosts_.difference(end, halo_, 0, audited, received(kBehind), neighbours_[kBehind]);
  return found;
}

void HaloExchange::set_valid(int layers) {
  valid_ = layers;
  is_outside_ = executor_.may_wait();
}

Shortage HaloExchange::loops_done() {
  check_neighbours();
  return {};
}

/// Whether nothing can be exchanged any more.
bool HaloExchange::is_over() const {
  return (windows_ && windows_->missing_side() >= 0) || (watch_ && watch_->end() != ExchangeWatch::End::none);
}

void HaloExchange::check_neighbours() const {
  if (!is_over()) return;
  if (watch_ && watch_->end() == ExchangeWatch::End::failed) throw CommunicatorError(watch_->failure());
  std::string text = with_rank("dynasoar: ", ghosts_.rank());
  text += " has waited ";
  append_number(text, patience_of(context_.communicator));
  text += " s in DistributedLattice::exchange for ";
  if (windows_) {
    text = with_rank(text, neighbours_[static_cast<std::size_t>(windows_->missing_side())]);
  } else {
    const bool has_two = has_neighbour(kBefore) && has_neighbour(kBehind) && neighbours_[0] != neighbours_[1];
    text = with_rank(text, neighbours_[has_neighbour(kBefore) ? kBefore : kBehind]);
    if (has_two) text = with_rank(text + " or ", neighbours_[kBehind]);
  }
  throw CommunicatorError(text +
                          ", whose ghosts have not arrived. All ranks must exchange equally often; if that rank "
                          "needs longer, choose a longer CommunicatorOptions::patience_seconds");
}

}  // namespace detail
}  // namespace dynasoar
