// Graph algorithms with edges and nodes as objects of DynaSOAr: see graph.h.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include <dynasoar/dynasoar.h>

#include "graph_rules.h"
#include "measure.h"
#include "variant.h"

namespace benchmarks::polymorphism {
namespace object_graph {

using Value = dynasoar::AtomicWord<std::uint64_t>;
constexpr auto kRelaxed = dynasoar::Order::relaxed;

DYNASOAR_METHOD(PassLevel, pass_level);
DYNASOAR_METHOD(PassLabel, pass_label);
DYNASOAR_METHOD(PassShare, pass_share);
DYNASOAR_METHOD(IsAt, is_at);
DYNASOAR_METHOD(ShareOf, share);
DYNASOAR_METHOD(Settle, settle);

template <Polymorphic>
class Node;
template <Polymorphic>
class Inner;
template <Polymorphic>
class Leaf;
template <Polymorphic>
class Edge;
template <Polymorphic, EdgeKind>
class EdgeOf;

template <Polymorphic kWhat>
using AllocatorT =
    std::conditional_t<kWhat == Polymorphic::edges,
                       dynasoar::SoaAllocator<Node<kWhat>, EdgeOf<kWhat, EdgeKind::one_way>,
                                              EdgeOf<kWhat, EdgeKind::two_way>, EdgeOf<kWhat, EdgeKind::closed>>,
                       dynasoar::SoaAllocator<Inner<kWhat>, Leaf<kWhat>, EdgeOf<kWhat, EdgeKind::one_way>,
                                              EdgeOf<kWhat, EdgeKind::two_way>, EdgeOf<kWhat, EdgeKind::closed>>>;

/// A node of any kind, or the base class of both.
template <Polymorphic kWhat>
class Node : public dynasoar::SoaBase<AllocatorT<kWhat>> {
 public:
  DYNASOAR_FIELDS(Node, (value_, Value), (received_, Value), (share_, std::uint64_t), (ways_out_, std::uint32_t));

  __device__ Node(std::uint64_t value, std::uint32_t ways_out)
      : share_(ways_out == 0 ? 0 : value / ways_out), ways_out_(ways_out) {
    value_->store(value, kRelaxed);
    received_->store(0, kRelaxed);
  }

  __device__ std::uint64_t value() const { return value_->load(kRelaxed); }
  __device__ bool is_at(std::uint64_t level) const { return ways_out_ > 0 && value() == level; }
  __device__ void reach(std::uint64_t level) {
    if (value() == kUnreached) value_->store(level, kRelaxed);
  }
  __device__ void take_label(std::uint64_t label) {
    if (label < value()) value_->fetch_min(label, kRelaxed);
  }
  __device__ std::uint64_t share() const { return share_; }
  __device__ void receive(std::uint64_t share) { received_->add(share, kRelaxed); }
  __device__ void settle() {
    const std::uint64_t rank = rank_of_received();
    share_ = ways_out_ == 0 ? 0 : rank / ways_out_;
  }

 protected:
  __device__ std::uint64_t rank_of_received() {
    const std::uint64_t rank = new_rank(received_->load(kRelaxed));
    value_->store(rank, kRelaxed);
    received_->store(0, kRelaxed);
    return rank;
  }
};

template <Polymorphic kWhat>
class Inner : public Node<kWhat> {
 public:
  using BaseClass = Node<kWhat>;
  DYNASOAR_FIELDS(Inner);
  using BaseClass::BaseClass;
  __device__ bool is_at(std::uint64_t level) const { return this->value() == level; }
  __device__ void settle() { this->share_ = this->rank_of_received() / this->ways_out_; }
};

template <Polymorphic kWhat>
class Leaf : public Node<kWhat> {
 public:
  using BaseClass = Node<kWhat>;
  DYNASOAR_FIELDS(Leaf);
  using BaseClass::BaseClass;
  __device__ bool is_at(std::uint64_t) const { return false; }
  __device__ std::uint64_t share() const { return 0; }
  __device__ void settle() { this->rank_of_received(); }
};

template <Polymorphic kWhat>
class Edge : public dynasoar::SoaBase<AllocatorT<kWhat>> {
 public:
  using End = typename Edge::template CompressedPointer<Node<kWhat>>;
  DYNASOAR_FIELDS(Edge, (first_, End), (second_, End));
  __device__ Edge(Node<kWhat>* first, Node<kWhat>* second) : first_(first), second_(second) {}

 protected:
  using NodeT = Node<kWhat>;
  __device__ static void pass_level(NodeT* from, NodeT* to, std::uint64_t level) {
    if (dynasoar::call<IsAt>(from, level)) to->reach(level + 1);
  }
  __device__ static void pass_label(NodeT* one, NodeT* other) {
    one->take_label(other->value());
    other->take_label(one->value());
  }
  __device__ static void pass_share(NodeT* from, NodeT* to) { to->receive(dynasoar::call<ShareOf>(from)); }
};

/// An edge of each kind.
template <Polymorphic kWhat, EdgeKind kKind>
class EdgeOf : public Edge<kWhat> {
 public:
  using BaseClass = Edge<kWhat>;
  DYNASOAR_FIELDS(EdgeOf);
  using BaseClass::BaseClass;

  __device__ void pass_level([[maybe_unused]] std::uint64_t level) {
    if constexpr (kKind != EdgeKind::closed) {
      Node<kWhat>*const first = this->first_, *const second = this->second_;
      BaseClass::pass_level(first, second, level);
      if constexpr (kKind == EdgeKind::two_way) BaseClass::pass_level(second, first, level);
    }
  }
  __device__ void pass_label() {
    if constexpr (kKind != EdgeKind::closed) BaseClass::pass_label(this->first_, this->second_);
  }
  __device__ void pass_share() {
    if constexpr (kKind != EdgeKind::closed) {
      Node<kWhat>*const first = this->first_, *const second = this->second_;
      BaseClass::pass_share(first, second);
      if constexpr (kKind == EdgeKind::two_way) BaseClass::pass_share(second, first);
    }
  }
};

template <Polymorphic kWhat>
struct MakeNode {
  Algorithm algorithm;
  const std::uint32_t* ways_out;
  Node<kWhat>** nodes;
  __device__ void operator()(std::size_t i) const {
    const std::uint64_t value = first_value(algorithm, static_cast<std::uint32_t>(i));
    if constexpr (kWhat == Polymorphic::edges) {
      nodes[i] = dynasoar::make_new<Node<kWhat>>(value, ways_out[i]);
    } else if (ways_out[i] > 0) {
      nodes[i] = dynasoar::make_new<Inner<kWhat>>(value, ways_out[i]);
    } else {
      nodes[i] = dynasoar::make_new<Leaf<kWhat>>(value, ways_out[i]);
    }
  }
};

template <Polymorphic kWhat>
struct MakeEdge {
  const EdgeSeed* seeds;
  Node<kWhat>* const* nodes;
  __device__ void operator()(std::size_t i) const {
    switch (seeds[i].kind) {
      case EdgeKind::one_way: make<EdgeKind::one_way>(seeds[i]); break;
      case EdgeKind::two_way: make<EdgeKind::two_way>(seeds[i]); break;
      case EdgeKind::closed: make<EdgeKind::closed>(seeds[i]); break;
    }
  }
  template <EdgeKind kKind>
  __device__ void make(const EdgeSeed& seed) const {
    dynasoar::make_new<EdgeOf<kWhat, kKind>>(nodes[seed.first], nodes[seed.second]);
  }
};

template <Polymorphic kWhat>
struct ReadValue {
  Node<kWhat>* const* nodes;
  double* values;
  __device__ void operator()(std::size_t i) const { values[i] = static_cast<double>(nodes[i]->value()); }
};

template <Polymorphic kWhat>
class Objects final : public Variant {
 public:
  Objects(Algorithm algorithm, const Graph& graph)
      : algorithm_(algorithm), handle_({.heap_bytes = heap_bytes_for(graph)}), nodes_(graph.ways_out.size()) {
    dynasoar::DeviceArray<std::uint32_t> ways_out(nodes_.size());
    ways_out.upload(graph.ways_out);
    dynasoar::DeviceArray<EdgeSeed> edges(graph.edges.size());
    edges.upload(graph.edges);
    handle_.parallel_for(nodes_.size(), MakeNode<kWhat>{algorithm, ways_out.data(), nodes_.data()});
    handle_.synchronize();  // throws if an object could not be created
    handle_.parallel_for(edges.size(), MakeEdge<kWhat>{edges.data(), nodes_.data()});
    handle_.synchronize();
  }

  void step() override {
    using EdgeT = Edge<kWhat>;
    switch (algorithm_) {
      case Algorithm::levels: handle_.template parallel_do<EdgeT>(PassLevel{}, steps_++); break;
      case Algorithm::components: handle_.template parallel_do<EdgeT>(PassLabel{}); break;
      case Algorithm::page_rank:
        handle_.template parallel_do<EdgeT>(PassShare{});
        handle_.template parallel_do<Node<kWhat>>(Settle{});
        break;
    }
  }

  void synchronize() override { handle_.synchronize(); }

  std::vector<double> result() override {
    const dynasoar::DeviceArray<double> values(nodes_.size());
    handle_.parallel_for(nodes_.size(), ReadValue<kWhat>{nodes_.data(), values.data()});
    synchronize();
    return values.download();
  }

 private:
  static std::size_t heap_bytes_for(const Graph& graph) {
    using SomeNode = std::conditional_t<kWhat == Polymorphic::edges, Node<kWhat>, Inner<kWhat>>;
    return heap_bytes_with_room<SomeNode>(graph.ways_out.size()) +
           heap_bytes_with_room<EdgeOf<kWhat, EdgeKind::one_way>>(graph.edges.size());
  }

  Algorithm algorithm_;
  std::uint64_t steps_ = 0;
  dynasoar::AllocatorHandle<AllocatorT<kWhat>> handle_;
  dynasoar::DeviceArray<Node<kWhat>*> nodes_;
};

}  // namespace object_graph

std::unique_ptr<Variant> make_object_graph(Algorithm algorithm, Polymorphic polymorphic, const Graph& graph) {
  using object_graph::Objects;
  if (polymorphic == Polymorphic::edges) return std::make_unique<Objects<Polymorphic::edges>>(algorithm, graph);
  return std::make_unique<Objects<Polymorphic::edges_and_nodes>>(algorithm, graph);
}

}  // namespace benchmarks::polymorphism
