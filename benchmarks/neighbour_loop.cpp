// Loops in which every object reads fields of another one, whose pointer it has in a field, of 8 bytes or compressed to
// 4. They are compared with hand-written arrays with indices of 4 bytes and of 8.
//
// The compiler must assume that a store to a field changes any other object's fields, so it moves no load of the
// neighbour's fields above the store. The same is true of the hand-written code. "Loads first" reads everything before
// it writes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "measure.h"
#include "random_numbers.h"
#include "report.h"

namespace benchmarks {
namespace neighbour_loop {

template <class Node>
__device__ void pull(Node& node) {
  const Node* other = node.neighbour_;
  node.fx_ += other->x_ - node.x_;
  node.fy_ += other->y_ - node.y_;
}
template <class Node>
__device__ void pull_loads_first(Node& node) {
  const Node* other = node.neighbour_;
  const float fx = node.fx_ + (other->x_ - node.x_);
  const float fy = node.fy_ + (other->y_ - node.y_);
  node.fx_ = fx;
  node.fy_ = fy;
}

class Node : public dynasoar::SoaBase<dynasoar::SoaAllocator<Node>> {
 public:
  DYNASOAR_FIELDS(Node, (neighbour_, Node*), (x_, float), (y_, float), (fx_, float), (fy_, float));
  __device__ Node() : neighbour_(nullptr), x_(1), y_(2), fx_(0), fy_(0) {}
  __device__ Node(std::size_t i, Node** nodes) : Node() { nodes[i] = this; }

  __device__ void pull() { neighbour_loop::pull(*this); }
  __device__ void pull_loads_first() { neighbour_loop::pull_loads_first(*this); }
};

class ShortNode : public dynasoar::SoaBase<dynasoar::SoaAllocator<ShortNode>> {
 public:
  DYNASOAR_FIELDS(ShortNode, (neighbour_, CompressedPointer<ShortNode>), (x_, float), (y_, float), (fx_, float),
                  (fy_, float));
  __device__ ShortNode() : neighbour_(nullptr), x_(1), y_(2), fx_(0), fy_(0) {}
  __device__ ShortNode(std::size_t i, ShortNode** nodes) : ShortNode() { nodes[i] = this; }

  __device__ void pull() { neighbour_loop::pull(*this); }
  __device__ void pull_loads_first() { neighbour_loop::pull_loads_first(*this); }
};

template <class Index>
struct HandPull {
  const Index* neighbour;
  const float *x, *y;
  float *fx, *fy;
  __device__ void operator()(std::size_t i) const {
    const Index other = neighbour[i];
    fx[i] += x[other] - x[i];
    fy[i] += y[other] - y[i];
  }
};
template <class Index>
struct HandPullLoadsFirst {
  HandPull<Index> arrays;
  __device__ void operator()(std::size_t i) const {
    const Index other = arrays.neighbour[i];
    const float new_fx = arrays.fx[i] + (arrays.x[other] - arrays.x[i]);
    const float new_fy = arrays.fy[i] + (arrays.y[other] - arrays.y[i]);
    arrays.fx[i] = new_fx;
    arrays.fy[i] = new_fy;
  }
};

/// Whose neighbour is where: the next one, one within a window of so many, or any.
struct Order {
  const char* name;
  int window_bits;  // 0: the next one
  __device__ std::uint32_t neighbour_of(std::size_t i, std::size_t count) const {
    const auto number = static_cast<std::uint32_t>(i);
    if (window_bits == 0) return static_cast<std::uint32_t>((i + 1) % count);
    const std::uint32_t within = static_cast<std::uint32_t>((std::uint64_t{1} << window_bits) - 1);
    return (number & ~within) | shuffled(number & within, window_bits);
  }
};

template <class Node>
struct Create {
  Node** nodes;
  __device__ void operator()(std::size_t i) const { nodes[i] = dynasoar::make_new<Node>(); }
};
/// Sets x_ and y_ so that a sort by NumberOf puts objects into the order of `nodes`.
struct Number {
  static constexpr std::size_t kWidth = 4096;
  Node** nodes;
  __device__ void operator()(std::size_t i) const {
    nodes[i]->x_ = static_cast<float>(i / kWidth);
    nodes[i]->y_ = static_cast<float>(i % kWidth);
  }
};
struct NumberOf {
  __device__ std::uint32_t operator()(Node* node) const {
    return static_cast<std::uint32_t>(node->x_) * static_cast<std::uint32_t>(Number::kWidth) +
           static_cast<std::uint32_t>(node->y_);
  }
};
template <class Node>
struct Link {
  Node** nodes;
  std::size_t count;
  Order order;
  __device__ void operator()(std::size_t i) const { nodes[i]->neighbour_ = nodes[order.neighbour_of(i, count)]; }
};
template <class Index>
struct HandLink {
  Index* neighbour;
  std::size_t count;
  Order order;
  __device__ void operator()(std::size_t i) const { neighbour[i] = order.neighbour_of(i, count); }
};

class Benchmark {
 public:
  Benchmark(Report& report, const Settings& settings)
      : report_(report), settings_(settings), bits_(settings.small ? 16 : 25), count_(std::size_t{1} << bits_) {}

  void run() {
    objects<Node>("objects");
    objects<ShortNode>("objects, compressed pointers");
    objects<Node>({orders()[1]}, "objects by make_new, sorted", [](auto& handle, std::size_t count, Node** nodes) {
      handle.parallel_for(count, Create<Node>{nodes});
      handle.parallel_for(count, Number{nodes});
      handle.template sort<Node>(NumberOf{}, {.key_bits = 25}, dynasoar::pointers(nodes, count));
    });
    by_hand<std::uint32_t>("by hand, 32-bit indices");
    by_hand<std::uint64_t>("by hand, 64-bit indices");
  }

 private:
  std::vector<Order> orders() const { return {{"next", 0}, {"window", 10}, {"anywhere", bits_}}; }

  template <class Work>
  void add(dynasoar::Executor& executor, const Order& order, const std::string& how, Work work) {
    const std::vector<double> seconds = measure(executor, settings_, work, [] {});
    report_.add({"neighbour_loop",
                 std::string(order.name) + ", " + how,
                 {{"objects", static_cast<std::int64_t>(count_)}},
                 "time per object",
                 "ps",
                 shares(seconds, static_cast<double>(count_), 1e12)});
  }

  template <class N>
  void objects(const std::string& how) {
    objects<N>(orders(), how,
               [](auto& handle, std::size_t count, N** nodes) { handle.template parallel_new<N>(count, nodes); });
    objects<N>({orders()[1]}, how + " by make_new",
               [](auto& handle, std::size_t count, N** nodes) { handle.parallel_for(count, Create<N>{nodes}); });
  }

  template <class N, class CreateAll>
  void objects(const std::vector<Order>& orders, const std::string& how, CreateAll create) {
    dynasoar::AllocatorHandle<typename N::Allocator> handle({.heap_bytes = heap_bytes_with_room<N>(count_)});
    const dynasoar::DeviceArray<N*> nodes(count_);
    create(handle, count_, nodes.data());
    handle.synchronize();
    for (const Order& order : orders) {
      handle.parallel_for(count_, Link<N>{nodes.data(), count_, order});
      add(handle.executor(), order, how, [&] { handle.template parallel_do<&N::pull>(); });
      add(handle.executor(), order, how + ", loads first",
          [&] { handle.template parallel_do<&N::pull_loads_first>(); });
    }
  }

  template <class Index>
  void by_hand(const std::string& how) {
    dynasoar::Executor executor;
    const auto neighbour = zeros<Index>(count_);
    const auto x = zeros<float>(count_), y = zeros<float>(count_), fx = zeros<float>(count_), fy = zeros<float>(count_);
    const HandPull<Index> pull{neighbour.data(), x.data(), y.data(), fx.data(), fy.data()};
    for (const Order& order : orders()) {
      executor.for_each_index(count_, HandLink<Index>{neighbour.data(), count_, order});
      add(executor, order, how, [&] { executor.for_each_index(count_, pull); });
      add(executor, order, how + ", loads first",
          [&] { executor.for_each_index(count_, HandPullLoadsFirst<Index>{pull}); });
    }
  }

  Report& report_;
  const Settings& settings_;
  int bits_;
  std::size_t count_;
};

}  // namespace neighbour_loop

void run_neighbour_loop(Report& report, const Settings& settings) {
  neighbour_loop::Benchmark(report, settings).run();
}

}  // namespace benchmarks
