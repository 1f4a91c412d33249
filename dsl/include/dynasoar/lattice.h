/// @file
/// Lattice: the host's interface to a lattice and the objects that are placed on it. See docs/how-to/lattices.md. Not
/// included by dynasoar.h, because many programs do not need it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <dynasoar/allocator_handle.h>
#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/placed.h>
#include <dynasoar/classes/type_list.h>
#include <dynasoar/classes/type_name.h>
#include <dynasoar/detail/conditional_calls.h>
#include <dynasoar/detail/lattice_memory.h>
#include <dynasoar/detail/loop_calls.h>
#include <dynasoar/detail/loop_rules.h>
#include <dynasoar/detail/place_calls.h>
#include <dynasoar/detail/raster_calls.h>
#include <dynasoar/heap/refusal.h>
#include <dynasoar/loops/index_loops.h>
#include <dynasoar/loops/lattice_colours.h>
#include <dynasoar/loops/lattice_shape.h>
#include <dynasoar/loops/place_loops.h>
#include <dynasoar/place.h>
#include <dynasoar/platform/memory.h>
#include <dynasoar/random.h>
#include <dynasoar/raster.h>
#include <dynasoar/tuning.h>

namespace dynasoar {

struct LatticeOptions {
  /// Which axes are periodic: their two ends meet. There are no places beyond the ends of the other axes.
  std::array<bool, 3> periodic = {true, true, true};
};

/// A lattice of places for the objects of some classes. It owns the memory of these objects.
///
///     class Tree : public dynasoar::SoaBase<AllocatorT> {
///      public:
///       static constexpr bool kPlaced = true;
///       DYNASOAR_FIELDS(Tree, (burns_, bool));
///       ...
///     };
///
///     dynasoar::Lattice<Tree> forest(handle, {1024, 1024});
///     forest.parallel_new<Tree>([=] __device__(dynasoar::Place place) { return ...; });
///     handle.parallel_do<&Tree::burn>();
///     forest.parallel_for_free([=] __device__(dynasoar::Place place) { dynasoar::make_new_at<Tree>(place); });
///
/// Each place has room for one object of each class. If a hierarchy sets kOnePerPlace, it has room for only one object
/// of the whole hierarchy. If a class sets kAtEveryPlace, the lattice creates all its objects when it is made.
/// `handle.parallel_do`, `count`, `reduce`, `columns`, `save` and `load` work for placed classes as for others.
///
/// @tparam Ts   placed classes of one allocator. A class can be on one lattice at a time
/// @par Concurrency   loops are ordered like those of the handle; all may be recorded
template <class... Ts>
class Lattice {
  static_assert(sizeof...(Ts) > 0, "dynasoar: a Lattice is for objects: Lattice<Class, ...>");

 public:
  using Allocator = typename detail::FirstOf<Ts...>::Allocator;
  static_assert((true && ... && std::is_same_v<Allocator, typename Ts::Allocator>),
                "dynasoar: the classes of a Lattice must have one allocator: list them in one SoaAllocator");
  static_assert(detail::are_distinct_v<Ts...>, "dynasoar: a class is named twice in Lattice<...>");

  /// @param sizes   places along each axis: {width}, {width, height} or {width, height, depth}
  /// @pre the handle outlives the lattice
  /// @throws Error if there are too few or too many places or not enough memory, or a class is on another lattice
  Lattice(AllocatorHandle<Allocator>& handle, const std::vector<std::size_t>& sizes, const LatticeOptions& options = {})
      : Lattice(handle, LatticeShape(sizes, options.periodic)) {}
  /// For DistributedLattice: a lattice of the places that this process has.
  Lattice(AllocatorHandle<Allocator>& handle, const LatticeShape& shape);
  Lattice(const Lattice&) = delete;
  Lattice& operator=(const Lattice&) = delete;

  /// Waits for all loops, then discards the objects without calling destructors.
  ~Lattice() { displace(); }

  /// The handle with which it was made.
  AllocatorHandle<Allocator>& handle() const { return handle_; }

  /// Its geometry, for loops and for the host.
  const LatticeShape& shape() const { return shape_; }

  /// Calls `function(place, args...)` for all places.
  template <class F, class... Args>
  void parallel_for(F function, Args... args) {
    static_assert(detail::check_given<F, Args...>());
    run(detail::AllPlaces{shape_.places_of_words()}, call_of(detail::PlaceOfSlot{}, function, std::move(args)...));
  }

  /// Like parallel_for, but only for places without objects of the classes Us. If you name no classes, only for places
  /// without any objects.
  template <class... Us, class F, class... Args>
  void parallel_for_free(F function, Args... args) {
    static_assert(detail::check_given<F, Args...>());
    run(free_places<Us...>(), call_of(detail::PlaceOfSlot{}, function, std::move(args)...));
  }

  /// Calls `condition(place, args...)` for all places and, where the result is true, `action(place, args...)`. If the
  /// result is not a bool but converts to bool, such as a pointer, it is passed on: `action(place, result, args...)`.
  ///
  /// On a GPU, this is faster than an `if` when the condition is true at few places: a warp first collects these
  /// places, so that its lanes do not wait for each other. All conditions and actions run in one loop, in no particular
  /// order.
  ///
  /// @param condition   returns something trivially copyable of at most 8 bytes
  template <class Condition, class Action, class... Args>
  void parallel_for_if(Condition condition, Action action, Args... args) {
    run_if(detail::AllPlaces{shape_.places_of_words()}, condition, action, std::move(args)...);
  }

  /// Like parallel_for_if, for the places of parallel_for_free.
  template <class... Us, class Condition, class Action, class... Args>
  void parallel_for_free_if(Condition condition, Action action, Args... args) {
    run_if(free_places<Us...>(), condition, action, std::move(args)...);
  }

  /// Calls `function(place, args...)` for all places, for models that update one place after the other. Runs several
  /// loops, such that no two places of one loop are in each other's neighbourhood. Each loop sees the changes of the
  /// loops before it. The order of the loops is always the same, so the result does not depend on the order of threads.
  ///
  /// @param neighbourhood   `Moore<radius>{}` or `VonNeumann<radius>{}`. It must cover everything that a call reads and
  ///                        other calls change. If a call also changes other places than its own, add both radii
  template <class Neighbourhood, class F, class... Args>
  void parallel_for_in_colours(Neighbourhood neighbourhood, F function, Args... args) {
    static_assert(detail::is_neighbourhood_v<Neighbourhood>,
                  "dynasoar: parallel_for_in_colours(neighbourhood, f) needs to know where f looks at other places: "
                  "pass Moore<1>{}, or VonNeumann<2>{}, or the like");
    static_assert(detail::check_given<F, Args...>());
    detail::check_is_whole(shape_, "parallel_for_in_colours");
    const auto call = call_of(detail::PlaceOfSlot{}, function, std::move(args)...);
    detail::for_each_colour(shape_, neighbourhood, [&](const auto& places) {
      handle_.loops().template run_unlisted<F>([&] {
        detail::loop_over_indices<Allocator, detail::kPlaceLoopsPerMultiprocessor>(handle_.executor(), places.size(),
                                                                                   detail::ColourCall(places, call));
      });
    });
  }

  /// Calls `function(block, args...)` for all blocks of 64 places, each with a PlaceBlock: see `where`, `create_where`
  /// and `destroy_where`.
  template <class F, class... Args>
  void parallel_for_blocks(F function, Args... args) {
    static_assert(detail::check_given<F, Args...>());
    if (shape_.has_blocks_in_rows()) {
      run_over_blocks<F>(call_of(detail::BlockOfNumber<true>{range_.first}, function, std::move(args)...));
    } else {
      run_over_blocks<F>(call_of(detail::BlockOfNumber<false>{range_.first}, function, std::move(args)...));
    }
  }

  /// Creates `T(args...)` at all places without a T for which `predicate(place)` is true. The predicate may be a
  /// Density.
  template <class T, class Predicate, class... Args>
  void parallel_new(Predicate predicate, Args... args) {
    if constexpr (std::is_same_v<Predicate, Density>) {
      parallel_new<T>(detail::ChosenPlaces{shape_, predicate}, std::move(args)...);
    } else {
      detail::check_at_places<T>();
      static_assert(detail::check_given<Predicate, Args...>());
      detail::check_constructible<T, const Args&...>();
      detail::check_arguments<Allocator>(args...);
      run(free_places<T>(), detail::NewAtPlace<T, Predicate, Args...>{predicate, {std::move(args)...}});
    }
  }

  /// Creates `T(args...)` at all places without a T where a raster is not 0. Rasters have the width and the height of
  /// the lattice; if the lattice has three axes, the raster has its layers one below the other.
  /// @throws Error if the raster has another size, or within a recorded step
  template <class T, class V, class... Args>
  void parallel_new(const Raster<V>& raster, Args... args) {
    const DeviceArray<V> values = on_device(raster);
    parallel_new<T>(detail::HasValueAt<V>{shape_, values.data()}, std::move(args)...);
    handle_.executor().wait();
  }

  /// Sets a field of the objects at all places to the values of a raster: `set_field<&Cell::height_>(terrain)`.
  /// @tparam T   the class whose objects are set, with its subclasses; by default, the class that declares the field
  /// @throws Error if the raster has another size, or within a recorded step
  template <auto kField, class T = typename detail::FieldValue<kField>::Class, class V>
  requires std::is_member_object_pointer_v<decltype(kField)>
  void set_field(const Raster<V>& raster) {
    check_has_all<T>();
    const DeviceArray<V> values = on_device(raster);
    handle_.template parallel_do<T>(detail::SetToValue<kField, V>{shape_, values.data()});
    handle_.executor().wait();
  }

  /// Returns the values of a field as a raster, with `where_none` at places without an object. Waits for all loops.
  /// @tparam T   the class whose objects are read; by default, the class that declares the field. Name a class if a
  ///             place may have several objects with this field
  template <auto kField, class T = typename detail::FieldValue<kField>::Class>
  requires std::is_member_object_pointer_v<decltype(kField)>
  auto raster_of(detail::raster_value_t<kField> where_none = {}) {
    check_has_all<T>();
    detail::check_is_whole(shape_, "raster_of");
    const auto width = static_cast<std::size_t>(shape_.width());
    std::vector<detail::raster_value_t<kField>> values = detail::values_of<kField, T>(*this, where_none);
    return Raster<detail::raster_value_t<kField>>{width, values.size() / width, std::move(values)};
  }

  /// For DistributedLattice: the words that loops over places and objects visit.
  void set_range(const detail::WordRange& range) {
    range_ = range;
    (handle_.loops().placed().template set_range<Ts>(range), ...);
  }

  /// Bytes of device memory. A class takes its blocks and three bits per place, or only its blocks if it has an object
  /// at every place. A hierarchy with kOnePerPlace takes one more bit per place. Checked builds take 4 more bytes per
  /// slot. The first `reduce` or `columns` of a class allocates 16 more bytes per block.
  std::size_t bytes() const;

 private:
  template <class T>
  static constexpr std::size_t kNumber = static_cast<std::size_t>(detail::index_of_v<T, Ts...>);

  /// The number of the class that has the claims of T. Classes that share claims use those of the first class of their
  /// hierarchy.
  template <class T>
  static constexpr std::size_t number_with_claims() {
    std::size_t first = sizeof...(Ts);
    detail::for_each_class_at_places<detail::RootOf<T>>([&]<class S>(std::type_identity<S>) {
      static_assert(detail::index_of_v<S, Ts...> >= 0,
                    "dynasoar: a place has room for one object of this class's hierarchy (kOnePerPlace), so all of its "
                    "classes are on one lattice. Name those without subclasses in Lattice<...>, each of them");
      first = std::min(first, kNumber<S>);
    });
    return first;
  }

  /// Bytes for 64 places: those of a block or, in an AosAllocator, of 64 entries of a table.
  template <class T>
  static constexpr std::size_t bytes_of_block() {
    if (Allocator::kPlacement == detail::Placement::in_pieces) return detail::kSlotsPerBlock * sizeof(std::uint64_t);
    return detail::ClassLayout<T>::bytes > 0 ? detail::placed_block_bytes_v<T> : 0;
  }

  /// Checks that T, or all listed classes that derive from it, are on this lattice.
  template <class T>
  static constexpr void check_has_all() {
    detail::check_placed<T>();
    detail::for_each_class_at_places<T>([]<class S>(std::type_identity<S>) {
      static_assert(detail::index_of_v<S, Ts...> >= 0,
                    "dynasoar: this class is not one of the lattice's: name it in Lattice<...>");
    });
  }

  /// The values of a raster, in device memory. @throws Error if its size does not fit the lattice
  template <class V>
  DeviceArray<V> on_device(const Raster<V>& raster) const {
    handle_.executor().check_may_wait();  // memory may not be allocated in a step
    detail::check_fits(raster.width, raster.height, raster.values.size(), shape_);
    DeviceArray<V> values(raster.values.size());
    values.upload(raster.values);
    return values;
  }

  template <class T>
  void create_at_every_place();
  void displace() { (handle_.loops().placed().template displace<Ts>(), ...); }

  template <class T>
  static constexpr detail::LatticeNeeds needs();
  template <class T>
  detail::PlacedState state() const;

  template <class OfNumber, class F, class... Args>
  static auto call_of(const OfNumber& of_number, F function, Args... args) {
    detail::check_arguments<Allocator>(args...);
    return detail::PlaceCall<Allocator, OfNumber, F, Args...>{of_number, function, {std::move(args)...}};
  }

  template <class... Us>
  auto free_places() const {
    if constexpr (sizeof...(Us) == 0) {
      return free_places<Ts...>();
    } else {
      static_assert((true && ... && (detail::index_of_v<Us, Ts...> >= 0)),
                    "dynasoar: this class is not one of the lattice's: name it in Lattice<...>");
      (detail::check_comes_and_goes<Us>(), ...);
      return detail::FreePlaces<sizeof...(Us)>{shape_, {state<Us>().seen...}};
    }
  }

  template <class Mask, class F>
  void run(const Mask& mask, const F& function) {
    handle_.loops().template run_unlisted<F>([&] {
      detail::loop_over_slots<Allocator>(handle_.executor(), detail::SlotLoop{range_, mask, function});
    });
  }

  template <class Mask, class Condition, class Action, class... Args>
  void run_if(const Mask& mask, Condition condition, Action action, Args... args) {
    static_assert(detail::check_given<Condition, Args...>() && detail::check_callable<Action>());
    detail::check_arguments<Allocator>(args...);
    using Call = detail::ConditionalCall<Condition, Action, Args...>;
    run(mask, detail::ConditionalPlaceCall<Allocator, Call>{{condition, action, {std::move(args)...}}});
  }

  template <class F, class Call>
  void run_over_blocks(const Call& call) {
    handle_.loops().template run_unlisted<F>([&] {
      detail::loop_over_indices<Allocator, detail::kPlaceBlockLoopsPerMultiprocessor>(handle_.executor(), range_.words,
                                                                                      call);
    });
  }

  AllocatorHandle<Allocator>& handle_;
  LatticeShape shape_;
  detail::WordRange range_{};  // visited by loops
  std::array<detail::LatticeMemory, sizeof...(Ts)> memory_;
};

template <class... Ts>
Lattice<Ts...>::Lattice(AllocatorHandle<Allocator>& handle, const LatticeShape& shape)
    : handle_(handle), shape_(shape) {
  (detail::check_at_places<Ts>(), ...);
  handle.executor().check_may_wait();  // memory may not be allocated in a step
  (handle_.loops().placed().template check_may_place<Ts>(), ...);
  memory_ = {detail::LatticeMemory(shape_, needs<Ts>())...};
  (handle_.loops().placed().template place<Ts>(state<Ts>(), memory_[kNumber<Ts>].bytes()), ...);
  try {
    set_range({0, shape_.words()});  // ghosts, too
    (create_at_every_place<Ts>(), ...);
    set_range(shape_.own_words());
  } catch (...) {
    displace();
    throw;
  }
}

template <class... Ts>
template <class T>
void Lattice<Ts...>::create_at_every_place() {
  if constexpr (detail::is_at_every_place<T>()) {
    using Create = detail::CreateAtEveryPlace<T>;
    if constexpr (Allocator::kPlacement == detail::Placement::in_blocks) {
      run(detail::AllPlaces{shape_.places_of_words()}, Create{nullptr});
    } else {
      handle_.synchronize();  // reports earlier refusals, which would otherwise be blamed on this class
      DeviceArray<std::uint32_t> has_failed(1);
      has_failed.fill_bytes(0);
      run(detail::AllPlaces{shape_.places_of_words()},
          Create{reinterpret_cast<AtomicWord<std::uint32_t>*>(has_failed.data())});
      handle_.executor().wait();
      if (has_failed.download()[0] == 0) return;
      try {
        handle_.synchronize();
      } catch (const AllocationError&) {
        // the error below is more specific
      }
      detail::throw_no_room_at_every_place(shape_, type_name<T>());
    }
  }
}

template <class... Ts>
template <class T>
constexpr detail::LatticeNeeds Lattice<Ts...>::needs() {
  std::size_t bits = 3;
  if constexpr (detail::shares_claims<T>()) bits += number_with_claims<T>() == kNumber<T> ? 1 : 0;
  if (detail::is_at_every_place<T>()) bits = 0;
  return {type_name<T>(), bytes_of_block<T>(), bits, Allocator::kFindsMisuse && bits > 0,
          detail::counts_placed_v<Allocator>};
}

template <class... Ts>
template <class T>
detail::PlacedState Lattice<Ts...>::state() const {
  const auto words = static_cast<std::size_t>(detail::is_at_every_place<T>() ? 0 : shape_.words());
  const auto part = [&](const detail::LatticeMemory& memory, std::size_t kind) {
    return reinterpret_cast<AtomicWord<std::uint64_t>*>(memory.words.data() + kind * words);
  };
  const detail::LatticeMemory& memory = memory_[kNumber<T>];
  AtomicWord<std::uint64_t>* claims = part(memory, 1);
  if constexpr (detail::shares_claims<T>()) claims = part(memory_[number_with_claims<T>()], 3);
  return {{memory.words.data(), part(memory, 1), part(memory, 2), claims},
          memory.blocks.data(),
          reinterpret_cast<AtomicWord<std::uint32_t>*>(memory.generations.data()),
          shape_,
          reinterpret_cast<AtomicWord<std::uint64_t>*>(memory.created.data())};
}

template <class... Ts>
std::size_t Lattice<Ts...>::bytes() const {
  std::size_t sum = 0;
  for (const detail::LatticeMemory& memory : memory_) sum += memory.bytes();
  return sum;
}

}  // namespace dynasoar
