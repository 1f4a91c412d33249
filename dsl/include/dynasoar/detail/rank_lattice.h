/// @file
/// RankLattice: the part of a DistributedLattice on one rank. Used by DistributedLattice.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator_handle.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/detail/communicator.h>
#include <dynasoar/detail/device_messages.h>
#include <dynasoar/detail/distributed_errors.h>
#include <dynasoar/detail/ghosts.h>
#include <dynasoar/detail/halo_exchange.h>
#include <dynasoar/detail/loop_names.h>
#include <dynasoar/detail/partition.h>
#include <dynasoar/detail/rank_agreement.h>
#include <dynasoar/lattice.h>

namespace dynasoar::detail {

/// The rank's part of a DistributedLattice, its ghosts, and their exchange. The functions have the contracts of
/// DistributedLattice's functions.
///
/// @tparam Options   DistributedLatticeOptions
/// @tparam Ts        the classes of the lattice
template <class Options, class... Ts>
class RankLattice {
 public:
  using Allocator = typename Lattice<Ts...>::Allocator;

  /// Collective.
  RankLattice(Communicator& communicator, AllocatorHandle<Allocator>& handle, const std::vector<std::size_t>& sizes,
              const Options& options)
      : communicator_(communicator), handle_(handle), sizes_(sizes), options_(options) {
    check_same(options.layers);
    on_all(communicator_, [&] { make(options.layers); });
    connect(nullptr);
  }
  RankLattice(const RankLattice&) = delete;
  RankLattice& operator=(const RankLattice&) = delete;
  ~RankLattice() = default;

  Lattice<Ts...>& local() { return *local_; }
  const Lattice<Ts...>& local() const { return *local_; }

  /// The exchange of ghosts; empty if the lattice is not divided, or was lost when `divide` failed.
  std::optional<HaloExchange>& halo() { return halo_; }
  const std::optional<HaloExchange>& halo() const { return halo_; }

  void exchange();
  void divide(const std::vector<std::size_t>& layers);

  /// Submits a loop that visits the rank's own places, and as many layers of ghosts as its reach allows.
  /// @tparam F   names the loop in errors
  template <class F, class Submit>
  void run(int reads, int writes, const Submit& submit);

 private:
  /// Checks that all ranks got the same arguments.
  void check_same(const std::vector<std::size_t>& layers) const {
    communicator_.check_same("the lattice", text_of_lattice(sizes_, options_.periodic, options_.halo, layers) +
                                                ", transport " + name_of(options_.transport));
  }

  void make(const std::vector<std::size_t>& layers);
  void connect(std::shared_ptr<DeviceMessages> messages);

  /// The words of the rank's own layers and of up to `layers` layers of ghosts on each side.
  WordRange words_with_ghosts(int layers) const {
    const LatticeShape& shape = local_->shape();
    const WordRange& own = shape.own_words();
    if (own.words == 0) return own;
    const std::uint64_t more = static_cast<std::uint64_t>(layers) * shape.words_of_layer();
    const std::uint64_t first = own.first - std::min(own.first, more);
    return {first, std::min(own.first + own.words + more, shape.words()) - first};
  }

  Communicator& communicator_;
  AllocatorHandle<Allocator>& handle_;
  std::vector<std::size_t> sizes_;
  Options options_;
  std::optional<Partition> partition_;  // if it is divided
  std::optional<Lattice<Ts...>> local_;
  std::optional<Ghosts> ghosts_;      // if it is divided
  std::optional<HaloExchange> halo_;  // the same
};

template <class Options, class... Ts>
void RankLattice<Options, Ts...>::make(const std::vector<std::size_t>& layers) {
  if (communicator_.size() == 1 && !options_.divides_for_one_rank) {
    local_.emplace(handle_, sizes_, LatticeOptions{options_.periodic});
    return;
  }
  const ClassTable& classes = class_table_v<Allocator>;
  const auto index = []<class T>(std::type_identity<T>) {
    return static_cast<std::size_t>(Allocator::template index_of<T>);
  };
  (check_has_no_pointers(classes[index(std::type_identity<Ts>{})]), ...);
  const Partition partition(sizes_, options_.periodic, communicator_.size(), options_.halo, layers);
  halo_.reset();
  ghosts_.reset();
  local_.reset();
  partition_ = partition;
  local_.emplace(handle_, partition.shape(communicator_.rank()));
  const auto& placed = handle_.loops().placed();
  ghosts_.emplace(handle_.executor(), communicator_.rank(), partition,
                  std::vector<PlacedClass>{
                      {&classes[index(std::type_identity<Ts>{})], placed.state(index(std::type_identity<Ts>{}))}...});
}

/// Connects the ranks, after all of them have made their parts.
template <class Options, class... Ts>
void RankLattice<Options, Ts...>::connect(std::shared_ptr<DeviceMessages> messages) {
  if (!partition_) return;
  const auto on_all_ranks = [this](const std::function<void()>& function) { on_all(communicator_, function); };
  halo_.emplace(HaloContext{communicator_, handle_.executor(), handle_.loops().attachments(), on_all_ranks,
                            &why_no_device_messages, &connect_devices},
                *ghosts_, options_.transport, std::move(messages));
}

template <class Options, class... Ts>
void RankLattice<Options, Ts...>::exchange() {
  if (!partition_) return;
  if (!halo_) throw_lost_lattice();
  handle_.executor().check_may_submit();
  halo_->check_may_exchange();
  handle_.loops().placed().refresh();
  // While a step is recorded, this rank must not wait for its device. It must not wait for other ranks either, because
  // they need not record the step again when this rank does.
  const bool is_audited = kChecked && !handle_.executor().is_recording();
  const std::string difference = halo_->exchange(is_audited ? static_cast<std::size_t>(halo_->valid()) : 0);
  halo_->set_valid(static_cast<int>(options_.halo));
  if (is_audited) {
    on_all(communicator_, [&] {
      halo_->check_neighbours();
      if (!difference.empty()) throw_stale_ghost(difference);
    });
  }
}

template <class Options, class... Ts>
void RankLattice<Options, Ts...>::divide(const std::vector<std::size_t>& layers) {
  if (!partition_) return;
  check_same(layers);
  std::optional<MovingLayers> moving;
  on_all(communicator_, [&] {
    if (!halo_) throw_lost_lattice();
    handle_.executor().check_may_wait();
    const Partition next(sizes_, options_.periodic, communicator_.size(), options_.halo, layers);
    handle_.loops().placed().refresh();
    moving.emplace(*ghosts_, *partition_, next, communicator_.rank());
    halo_->check_neighbours();  // the device is idle now
  });
  communicator_.exchange(moving->sent(), moving->received());
  std::shared_ptr<DeviceMessages> messages = halo_->take_messages();
  on_all(communicator_, [&] {
    make(layers);
    moving->write(*ghosts_);
  });
  connect(std::move(messages));
}

template <class Options, class... Ts>
template <class F, class Submit>
void RankLattice<Options, Ts...>::run(int reads, int writes, const Submit& submit) {
  if (!partition_) return submit();
  if (!halo_) throw_lost_lattice();
  const int valid = halo_->valid(), looks = std::max(reads, writes);
  if (reads < 0 || writes < 0 || looks + writes > valid)
    throw_reaches_too_far(CallName<F>::text(), reads, writes, valid);
  const int visited = valid - looks;
  halo_->set_valid(visited - writes);
  struct Range {
    Lattice<Ts...>& lattice;
    ~Range() { lattice.set_range(lattice.shape().own_words()); }
  } const range{*local_};
  local_->set_range(words_with_ghosts(visited));
  submit();
}

}  // namespace dynasoar::detail
