/// @file
/// Communicator, DistributedHandle and DistributedLattice: for models on lattices that several processes run together.
/// See docs/how-to/many-gpus.md. Needs the target dynasoar::distributed. Not included by dynasoar.h, because many
/// programs do not need it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator_handle.h>
#include <dynasoar/classes/class_table.h>
#include <dynasoar/columns.h>
#include <dynasoar/detail/communicator.h>
#include <dynasoar/detail/distributed_checkpoint.h>
#include <dynasoar/detail/distributed_errors.h>
#include <dynasoar/detail/field_values.h>
#include <dynasoar/detail/halo_exchange.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/detail/rank_agreement.h>
#include <dynasoar/detail/rank_columns.h>
#include <dynasoar/detail/rank_lattice.h>
#include <dynasoar/detail/raster_calls.h>
#include <dynasoar/handle_options.h>
#include <dynasoar/lattice.h>
#include <dynasoar/platform/host_threads.h>

namespace dynasoar {

/// Owns the AllocatorHandle of a rank, and combines the results of all ranks.
///
/// All member functions except `local` and `communicator` are collective: all ranks must call them, in the same order.
/// If a rank fails in one of them (refused objects, misuse, an exception), all ranks throw. That rank throws its own
/// exception, and the others throw an Error that names the rank. Catch Error to handle both.
///
/// @tparam AllocatorT   as for AllocatorHandle; the same on all ranks
template <class AllocatorT>
class DistributedHandle {
 public:
  /// Creates the handle of this rank. Unless the program has selected a GPU with cudaSetDevice, the rank uses GPU
  /// number local_rank() modulo the number of GPUs. So ranks of one host share a GPU only if there are fewer GPUs than
  /// ranks.
  ///
  /// @param options   if `threads` is 0, the ranks of a host share its processors, unless mpirun has bound them to some
  /// @throws Error as the constructor of AllocatorHandle, on all ranks; CommunicatorError if the ranks have different
  ///         classes
  explicit DistributedHandle(Communicator& communicator, const HandleOptions& options = {})
      : communicator_(communicator) {
    on_all([&] {
      Executor::choose_device(communicator.local_rank());
      local_ = &own_.emplace(with_threads(options, communicator.local_size()));
    });
    check_same_classes();
  }

  /// Uses a handle that this rank has made. @pre `local` outlives this object
  DistributedHandle(Communicator& communicator, AllocatorHandle<AllocatorT>& local)
      : communicator_(communicator), local_(&local) {
    check_same_classes();
  }

  /// The handle of this rank, for loops over objects in its heap. Loops over placed classes are run by their
  /// DistributedLattice.
  AllocatorHandle<AllocatorT>& local() { return *local_; }

  Communicator& communicator() { return communicator_; }

  /// Ends a step: waits for the loops of all ranks.
  /// @param stop   whether this rank wants to end the run
  /// @return       whether any rank wants to end it, or has received a signal: see Communicator::catch_signals
  /// @throws Error on all ranks if objects were refused, or misused, on any
  bool synchronize(bool stop = false) {
    const auto wait = [&](Communicator::Status& mine) {
      mine.stop = stop;
      local_->synchronize();
    };
    return detail::agreed(communicator_, wait).stop;
  }

  /// As AllocatorHandle::retry_with_growth. Returns true if the heap of any rank has grown.
  bool retry_with_growth() {
    const auto retry = [&](Communicator::Status& mine) { mine.grow = local_->retry_with_growth(); };
    return detail::agreed(communicator_, retry).grow;
  }

  /// Number of objects of T and its subclasses on all ranks, without ghosts.
  template <class T>
  std::uint64_t count() {
    return detail::total(communicator_, [&] { return local_->template count<T>(); });
  }
  template <class T, class F>
  std::uint64_t count_if(F predicate) {
    return detail::total(communicator_, [&] { return local_->template count_if<T>(predicate); });
  }

  /// As AllocatorHandle::sum. Real numbers are added in the order of ranks.
  template <auto kField>
  requires detail::MemberObjectPointer<decltype(kField)>
  auto sum() {
    using Sum = typename detail::FieldValue<kField>::Sum;
    return detail::combined(communicator_, Sum{}, Plus{}, [&] { return local_->template sum<kField>(); });
  }

  /// As AllocatorHandle::reduce; the results of ranks are combined in the order of ranks.
  template <class T, class R, class Op, class F>
  R reduce(R init, Op op, F f) {
    return detail::combined(communicator_, init, op, [&] { return local_->template reduce<T>(init, op, f); });
  }

  /// Saves the lattices of all ranks, and values of your own that are the same on all ranks, such as the number of the
  /// step. A run that loads it, on any number of ranks and with any slabs, goes on as if it had never stopped:
  ///
  ///     handle.save("run.checkpoint", dynasoar::value("step", step));
  ///
  /// Each rank writes a file beside `path`, such as `run.checkpoint.save3.rank0`; rank 0 writes `path` last, and then
  /// removes the files of earlier saves. Whatever ends the run meanwhile, `path` leads to the old checkpoint or the new
  /// one. A single rank writes the one file of AllocatorHandle::save, unless it has ghosts. Waits for all loops.
  ///
  /// @param path   in a folder that all ranks share
  /// @throws Error on all ranks if a file cannot be written, values differ, or there are objects that are not on a
  ///         DistributedLattice; the old checkpoint is then unchanged
  /// @par Cost   a second checkpoint beside the old one; otherwise as AllocatorHandle::save
  template <class... Items>
  void save(const std::string& path, const SaveOptions& options, const Items&... items) {
    detail::save_distributed(*this, path, options, detail::saved_items(items...));
  }
  template <class... Items>
  void save(const std::string& path, const Items&... items) {
    save(path, SaveOptions{}, items...);
  }

  /// Restores lattices and values from a checkpoint that any number of ranks, or AllocatorHandle::save, have written.
  /// Create the lattices first, with the same sizes and periodic axes. Their ghosts are out of date afterwards. Waits
  /// for all loops.
  ///
  /// Checks everything before it changes anything.
  /// @throws CheckpointError if the checkpoint is damaged or not for this program and its lattices, or a file is
  ///         missing; Error if it cannot be read, or there are objects that are not on a lattice. The other ranks
  ///         throw an Error. Nothing has changed then, unless the message says that memory was short
  /// @par Cost   memory for the rank's own layers, and for one of the files that have some of them
  template <class... Items>
  void load(const std::string& path, const LoadOptions& options, const Items&... items) {
    detail::load_distributed(*this, path, options, detail::loaded_items(items...));
  }
  template <class... Items>
  void load(const std::string& path, const Items&... items) {
    load(path, LoadOptions{}, items...);
  }

  /// As AllocatorHandle::columns and all_columns, of the objects at this rank's own places. Numbers of places, and
  /// `id`, are those of the whole lattice. Not collective: pass the result to `gather`.
  /// @tparam T   placed; for objects in the heap, call `local().columns<T>()`
  template <class T>
  Columns columns() {
    return numbered<T>(local_->template columns<T>());
  }
  template <class T>
  Columns all_columns() {
    return numbered<T>(local_->template all_columns<T>());
  }

  /// The rows of all ranks' tables on rank 0, in the order in which a single rank has them; on other ranks a table
  /// without rows. To write them as one file:
  ///
  ///     const dynasoar::Columns trees = handle.gather(handle.columns<Tree>());
  ///     if (communicator.rank() == 0) dynasoar::write_csv("trees.csv", trees);
  ///
  /// @throws CommunicatorError if the tables have different columns
  /// @par Cost   memory for two copies of all rows on rank 0
  Columns gather(const Columns& table) {
    std::vector<char> rows;
    on_all([&] { rows = detail::bytes_of_rows(table); });
    communicator_.check_same("the columns", detail::text_of_columns(table));
    return detail::joined(table, communicator_.gather(rows.data(), rows.size(), 0));
  }

  /// Calls a function on all ranks. If it throws on any rank, all ranks throw: that rank throws the same exception, and
  /// the others throw an Error that names the rank and says why.
  template <class F>
  void on_all(const F& function) {
    detail::on_all(communicator_, function);
  }

  /// For DistributedLattice: registers the exchange of its ghosts, so that `load` can mark them as out of date.
  void add_lattice(std::optional<detail::HaloExchange>* ghosts) { ghosts_.push_back(ghosts); }
  void remove_lattice(std::optional<detail::HaloExchange>* ghosts) { std::erase(ghosts_, ghosts); }
  void expire_ghosts() {
    for (std::optional<detail::HaloExchange>* const ghosts : ghosts_) {
      if (*ghosts) (*ghosts)->set_valid(0);
    }
  }

 private:
  static HandleOptions with_threads(HandleOptions options, int ranks_of_host) {
    if (options.threads == 0) options.threads = detail::processors_of_rank(ranks_of_host);
    return options;
  }

  template <class T>
  Columns numbered(Columns table) {
    detail::check_placed<T>();
    detail::number_as_whole(table, detail::subtype_indices_v<AllocatorT, T>, detail::class_table_v<AllocatorT>,
                            local_->loops().placed());
    return table;
  }

  void check_same_classes() {
    communicator_.check_same("the classes", detail::text_of_classes(detail::class_table_v<AllocatorT>));
  }

  Communicator& communicator_;
  std::optional<AllocatorHandle<AllocatorT>> own_;
  AllocatorHandle<AllocatorT>* local_ = nullptr;
  std::vector<std::optional<detail::HaloExchange>*> ghosts_;  // of its lattices
};

/// How far a call of a loop reads and writes, in layers from its place. Places up to `writes` layers away count as
/// read, too, even if `reads` is less.
struct Reach {
  int reads = 0;   ///< it looks at places, or stores places, up to this many layers away
  int writes = 0;  ///< it changes, creates, moves or destroys objects up to this many layers away
};

struct DistributedLatticeOptions {
  /// Axes whose ends meet. Beyond the ends of the others there is no place.
  std::array<bool, 3> periodic = {true, true, true};
  /// Layers of its neighbours that each rank has copies of, on each side. The loops between two exchanges must not
  /// reach further than this in total.
  std::size_t halo = 1;
  /// Layers of each rank; if empty, the numbers differ by at most 1. A rank may have none.
  std::vector<std::size_t> layers{};
  /// Whether a single rank has ghosts, too, which are copies of its own layers: to test models.
  bool divides_for_one_rank = false;
  /// How ghosts are exchanged; an Error says why if it is impossible. All ranks must choose the same.
  Transport transport = Transport::automatic;
};

/// A lattice whose places are divided among ranks, for models whose classes are written for a Lattice.
///
/// Each rank has some *layers* of the last axis: rows of a lattice of two axes, planes if it has three. Next to them it
/// has *ghosts*, which are copies of its neighbours' layers. `exchange` copies them. Loops visit the rank's own places
/// and the ghosts that are up to date, so that both ranks compute what happens near a border, and nothing has to be
/// sent back:
///
///     dynasoar::DistributedLattice<Fish, Shark> ocean(handle, {4096, 4096}, {.halo = 6});
///     for (int step = 1; step <= 1000; ++step) {
///       ocean.exchange();                                                     // 6 layers are up to date
///       ocean.parallel_do<&Fish::look>({.reads = 1}, step);                   // 5
///       ocean.parallel_for(Reach{.reads = 1, .writes = 1}, TakeAFish{step});  // 3
///       ...
///       if (handle.synchronize()) break;
///     }
///
/// The Reach of a loop is the number of layers up to which its calls read and write. A loop that reaches further than
/// the layers that are up to date is an error. In checked builds, `exchange` compares ghosts that are up to date with
/// the layers that they are copies of, and reports the first difference. The reason for a difference is that a Reach
/// was too small, or that the model depends on the order of threads.
///
/// The result of a conflict must not depend on which agent comes first. For example, the place that several agents ask
/// for chooses one of them, or the lowest bid wins. In checked builds, an object that does not arrive because another
/// one came first is misuse (`lost_race`). Random numbers must depend on the number of a place, LatticeShape::number,
/// which is the same on all ranks.
///
/// The constructor, `exchange` and `divide` are collective. Loops do not communicate, but all ranks must submit the
/// same ones. They may change objects at places only: any other effect happens once for each copy of a place.
///
/// With one rank there are no ghosts, and everything is as with a Lattice.
///
/// @tparam Ts   as for Lattice. Fields cannot hold pointers if there are several ranks. A field that is a Place, or an
///              array of them, is converted; on a rank that does not have the place, exists() is false
template <class... Ts>
class DistributedLattice {
 public:
  using Allocator = typename Lattice<Ts...>::Allocator;
  static_assert(Allocator::kPlacement == detail::Placement::in_blocks,
                "dynasoar: a DistributedLattice needs a SoaAllocator, whose objects at places lie next to each other");

  /// Collective.
  /// @param sizes   of the whole lattice
  /// @pre the handle outlives the lattice
  /// @throws Error as for Lattice, on all ranks; if there is one axis only, a rank has fewer layers than the halo, or a
  ///         class has pointers
  DistributedLattice(DistributedHandle<Allocator>& handle, const std::vector<std::size_t>& sizes,
                     const DistributedLatticeOptions& options = {})
      : handle_(handle), part_(handle.communicator(), handle.local(), sizes, options) {
    handle.add_lattice(&part_.halo());
  }
  DistributedLattice(const DistributedLattice&) = delete;
  DistributedLattice& operator=(const DistributedLattice&) = delete;
  ~DistributedLattice() { handle_.remove_lattice(&part_.halo()); }

  DistributedHandle<Allocator>& handle() const { return handle_; }

  /// The part of this rank. Its loops visit no ghosts: after one that changes objects, call `expire_ghosts`.
  Lattice<Ts...>& local() { return part_.local(); }

  /// The geometry, for loops and for the host: sizes, coordinates and numbers are those of the whole lattice.
  const LatticeShape& shape() const { return part_.local().shape(); }

  /// How many layers of ghosts are up to date.
  int valid() const { return part_.halo() ? part_.halo()->valid() : 0; }

  /// How ghosts are exchanged. Transport::automatic if there are none, because the lattice is not divided.
  Transport transport() const { return part_.halo() ? part_.halo()->transport() : Transport::automatic; }

  /// Marks ghosts as out of date. Call it after anything other than the loops of this class has changed objects.
  void expire_ghosts() {
    if (part_.halo()) part_.halo()->set_valid(0);
  }

  /// Brings ghosts up to date. Collective. May be part of a recorded step, but on GPUs not with Transport::staged. Such
  /// a step begins without ghosts that are up to date, and leaves none behind.
  ///
  /// With Transport::peer and Transport::nccl, the host does not wait. If a neighbour does not join the exchange in
  /// time, the next `synchronize` of the handle throws a CommunicatorError that names this neighbour, or with `nccl`
  /// both neighbours. Checked builds always wait, except while a GPU records a step: then they do not compare ghosts.
  /// @throws CommunicatorError if a neighbour is missing; Error, in checked builds and on all ranks, if a ghost that
  ///         should be up to date is not. After other exceptions, such as a failure of the device, the run cannot go on
  void exchange() { part_.exchange(); }

  /// Redistributes the layers, with their objects. Collective. Waits for all loops. Ghosts are then out of date.
  /// @param layers   as in DistributedLatticeOptions
  /// @throws Error if they do not fit; nothing has changed then. Error if memory is short: then the objects are lost,
  ///         and the lattice can only be destroyed
  /// @par Cost   two copies of all objects in the host's memory
  void divide(const std::vector<std::size_t>& layers) { part_.divide(layers); }

  // Loops, as those of Lattice and AllocatorHandle. @throws Error if a loop reaches beyond the layers that are up to
  // date

  template <class F, class... Args>
  void parallel_for(const Reach& reach, F function, Args... args) {
    run<F>(reach, [&] { local().parallel_for(function, std::move(args)...); });
  }
  template <class... Us, class F, class... Args>
  void parallel_for_free(const Reach& reach, F function, Args... args) {
    run<F>(reach, [&] { local().template parallel_for_free<Us...>(function, std::move(args)...); });
  }
  template <class Condition, class Action, class... Args>
  void parallel_for_if(const Reach& reach, Condition condition, Action action, Args... args) {
    run<Action>(reach, [&] { local().parallel_for_if(condition, action, std::move(args)...); });
  }
  template <class... Us, class Condition, class Action, class... Args>
  void parallel_for_free_if(const Reach& reach, Condition condition, Action action, Args... args) {
    run<Action>(reach, [&] { local().template parallel_for_free_if<Us...>(condition, action, std::move(args)...); });
  }
  template <class F, class... Args>
  void parallel_for_blocks(const Reach& reach, F function, Args... args) {
    run<F>(reach, [&] { local().parallel_for_blocks(function, std::move(args)...); });
  }
  template <auto kCondition, auto kAction, class... Args>
  requires detail::MemberFunctionPointer<decltype(kCondition), decltype(kAction)>
  void parallel_do_if(const Reach& reach, Args... args) {
    check_has<detail::ClassOfMethod<Allocator, kCondition>>();
    run<detail::Method<kAction>>(
        reach, [&] { handle_.local().template parallel_do_if<kCondition, kAction>(std::move(args)...); });
  }
  template <auto kMethod, class... Args>
  requires detail::MemberFunctionPointer<decltype(kMethod)>
  void parallel_do(const Reach& reach, Args... args) {
    check_has<detail::ClassOfMethod<Allocator, kMethod>>();
    run<detail::Method<kMethod>>(reach, [&] { handle_.local().template parallel_do<kMethod>(std::move(args)...); });
  }
  template <class T, auto kMethod, class... Args>
  requires detail::MemberFunctionPointer<decltype(kMethod)>
  void parallel_do(const Reach& reach, Args... args) {
    check_has<T>();
    run<detail::Method<kMethod>>(reach, [&] { handle_.local().template parallel_do<T, kMethod>(std::move(args)...); });
  }
  template <class T, class F, class... Args>
  void parallel_do(const Reach& reach, F function, Args... args) {
    check_has<T>();
    run<F>(reach, [&] { handle_.local().template parallel_do<T>(function, std::move(args)...); });
  }

  /// As Lattice::raster_of, for all ranks: rank 0 gets the raster of the whole lattice, others an empty one.
  /// Collective.
  template <auto kField, class T = typename detail::FieldValue<kField>::Class>
  requires std::is_member_object_pointer_v<decltype(kField)>
  auto raster_of(detail::raster_value_t<kField> where_none = {}) {
    check_has<T>();
    std::vector<detail::raster_value_t<kField>> values;
    handle_.on_all([&] { values = detail::values_of<kField, T>(local(), where_none); });
    return detail::joined_raster<detail::raster_value_t<kField>>(
        shape(), handle_.communicator().gather(values.data(), values.size() * sizeof values[0], 0));
  }

  /// As Lattice::parallel_new; the predicate must look only at its place.
  template <class T, class Predicate, class... Args>
  void parallel_new(const Predicate& predicate, Args... args) {
    run<Predicate>({}, [&] { local().template parallel_new<T>(predicate, std::move(args)...); });
  }

 private:
  /// Checks that the objects of T are on this lattice.
  template <class T>
  static constexpr void check_has() {
    detail::check_placed<T>();
    detail::for_each_class_at_places<T>([]<class S>(std::type_identity<S>) {
      static_assert(detail::index_of_v<S, Ts...> >= 0,
                    "dynasoar: this class is not one of the lattice's: name it in DistributedLattice<...>, or call "
                    "parallel_do of the AllocatorHandle for objects in the heap: handle.local()");
    });
  }

  template <class F, class Submit>
  void run(const Reach& reach, const Submit& submit) {
    part_.template run<F>(reach.reads, reach.writes, submit);
  }

  DistributedHandle<Allocator>& handle_;
  detail::RankLattice<DistributedLatticeOptions, Ts...> part_;
};

}  // namespace dynasoar
