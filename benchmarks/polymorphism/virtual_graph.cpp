// Graph algorithms with virtual functions: see graph.h. Nodes have virtual functions, too, if they are polymorphic, and
// otherwise ask how many edges lead away from them.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <app/collect.h>
#include <dynasoar/platform/atomic.h>
#include <dynasoar/platform/executor.h>
#include <dynasoar/platform/memory.h>

#include "graph_rules.h"
#include "variant.h"
#include "virtual_objects.h"

namespace benchmarks::polymorphism {
namespace virtual_graph {

constexpr auto kRelaxed = dynasoar::Order::relaxed;

/// What nodes of all kinds have in common.
class NodeData {
 public:
  __device__ NodeData(std::uint64_t value, std::uint32_t ways_out)
      : share_(ways_out == 0 ? 0 : value / ways_out), ways_out_(ways_out) {
    value_.store(value, kRelaxed);
    received_.store(0, kRelaxed);
  }
  __device__ std::uint64_t value() const { return value_.load(kRelaxed); }
  __device__ void reach(std::uint64_t level) {
    if (value() == kUnreached) value_.store(level, kRelaxed);
  }
  __device__ void take_label(std::uint64_t label) {
    if (label < value()) value_.fetch_min(label, kRelaxed);
  }
  __device__ void receive(std::uint64_t share) { received_.add(share, kRelaxed); }

 protected:
  __device__ std::uint64_t rank_of_received() {
    const std::uint64_t rank = new_rank(received_.load(kRelaxed));
    value_.store(rank, kRelaxed);
    received_.store(0, kRelaxed);
    return rank;
  }

  dynasoar::AtomicWord<std::uint64_t> value_, received_;
  std::uint64_t share_;
  std::uint32_t ways_out_;
};

/// A node of any kind, without virtual functions.
class AnyNode : public NodeData {
 public:
  using NodeData::NodeData;
  __device__ bool is_at(std::uint64_t level) const { return ways_out_ > 0 && value() == level; }
  __device__ std::uint64_t share() const { return share_; }
  __device__ void settle() {
    const std::uint64_t rank = rank_of_received();
    share_ = ways_out_ == 0 ? 0 : rank / ways_out_;
  }
};

class Node : public NodeData {
 public:
  using NodeData::NodeData;
  __device__ virtual ~Node() {}
  __device__ virtual bool is_at(std::uint64_t level) const = 0;
  __device__ virtual std::uint64_t share() const = 0;
  __device__ virtual void settle() = 0;
};
class Inner : public Node {
 public:
  using Node::Node;
  __device__ bool is_at(std::uint64_t level) const override { return value() == level; }
  __device__ std::uint64_t share() const override { return share_; }
  __device__ void settle() override { share_ = rank_of_received() / ways_out_; }
};
class Leaf : public Node {
 public:
  using Node::Node;
  __device__ bool is_at(std::uint64_t) const override { return false; }
  __device__ std::uint64_t share() const override { return 0; }
  __device__ void settle() override { rank_of_received(); }
};

/// A closed edge, and the base class of the others. @tparam NodeT   AnyNode or Node
template <class NodeT>
class Edge {
 public:
  __device__ Edge(NodeT* first, NodeT* second) : first_(first), second_(second) {}
  __device__ virtual ~Edge() {}
  __device__ virtual void pass_level(std::uint64_t) {}
  __device__ virtual void pass_label() {}
  __device__ virtual void pass_share() {}

 protected:
  NodeT *first_, *second_;
};
template <class NodeT>
class OneWay : public Edge<NodeT> {
 public:
  using Edge<NodeT>::Edge;
  __device__ void pass_level(std::uint64_t level) override {
    if (this->first_->is_at(level)) this->second_->reach(level + 1);
  }
  __device__ void pass_label() override {
    this->first_->take_label(this->second_->value());
    this->second_->take_label(this->first_->value());
  }
  __device__ void pass_share() override { this->second_->receive(this->first_->share()); }
};
template <class NodeT>
class TwoWay : public OneWay<NodeT> {
 public:
  using OneWay<NodeT>::OneWay;
  __device__ void pass_level(std::uint64_t level) override {
    OneWay<NodeT>::pass_level(level);
    if (this->second_->is_at(level)) this->first_->reach(level + 1);
  }
  __device__ void pass_share() override {
    OneWay<NodeT>::pass_share();
    this->first_->receive(this->second_->share());
  }
};

template <class NodeT>
struct MakeNode;
template <>
struct MakeNode<AnyNode> {
  Algorithm algorithm;
  const std::uint32_t* ways_out;
  __device__ AnyNode* operator()(void* place, std::size_t i) const {
    return make_at<AnyNode>(place, first_value(algorithm, static_cast<std::uint32_t>(i)), ways_out[i]);
  }
};
template <>
struct MakeNode<Node> {
  Algorithm algorithm;
  const std::uint32_t* ways_out;
  __device__ Node* operator()(void* place, std::size_t i) const {
    const std::uint64_t value = first_value(algorithm, static_cast<std::uint32_t>(i));
    if (ways_out[i] > 0) return make_at<Inner>(place, value, ways_out[i]);
    return make_at<Leaf>(place, value, ways_out[i]);
  }
};

template <class NodeT>
struct MakeEdge {
  const EdgeSeed* seeds;
  NodeT* const* nodes;
  __device__ Edge<NodeT>* operator()(void* place, std::size_t i) const {
    NodeT *const first = nodes[seeds[i].first], *const second = nodes[seeds[i].second];
    if (seeds[i].kind == EdgeKind::one_way) return make_at<OneWay<NodeT>>(place, first, second);
    if (seeds[i].kind == EdgeKind::two_way) return make_at<TwoWay<NodeT>>(place, first, second);
    return make_at<Edge<NodeT>>(place, first, second);
  }
};

template <class T>
dynasoar::DeviceArray<T> uploaded(const std::vector<T>& values) {
  dynasoar::DeviceArray<T> array(values.size());
  array.upload(values);
  return array;
}

template <class NodeT>
class Objects final : public Variant {
 public:
  Objects(Algorithm algorithm, const Graph& graph)
      : algorithm_(algorithm),
        ways_out_(uploaded(graph.ways_out)),
        seeds_(uploaded(graph.edges)),
        nodes_(executor_, ways_out_.size(), MakeNode<NodeT>{algorithm, ways_out_.data()}),
        edges_(executor_, seeds_.size(), MakeEdge<NodeT>{seeds_.data(), nodes_.data()}) {}

  bool restart() override {
    steps_ = 0;
    nodes_.restart();
    return true;
  }

  void step() override {
    const std::uint64_t level = steps_++;
    switch (algorithm_) {
      case Algorithm::levels: edges_.for_each([=] __device__(Edge<NodeT> * edge) { edge->pass_level(level); }); break;
      case Algorithm::components: edges_.for_each([] __device__(Edge<NodeT> * edge) { edge->pass_label(); }); break;
      case Algorithm::page_rank:
        edges_.for_each([] __device__(Edge<NodeT> * edge) { edge->pass_share(); });
        nodes_.for_each([] __device__(NodeT * node) { node->settle(); });
        break;
    }
  }

  void synchronize() override { executor_.synchronize(); }

  std::vector<double> result() override {
    NodeT* const* const nodes = nodes_.data();
    return app::collect<double>(executor_, nodes_.size(),
                                [=] __device__(std::uint32_t i) { return static_cast<double>(nodes[i]->value()); });
  }

 private:
  Algorithm algorithm_;
  std::uint64_t steps_ = 0;
  dynasoar::Executor executor_;
  dynasoar::DeviceArray<std::uint32_t> ways_out_;
  dynasoar::DeviceArray<EdgeSeed> seeds_;
  VirtualObjects<NodeT> nodes_;
  VirtualObjects<Edge<NodeT>> edges_;
};

}  // namespace virtual_graph

std::unique_ptr<Variant> make_virtual_graph(Algorithm algorithm, Polymorphic polymorphic, const Graph& graph) {
  using virtual_graph::Objects;
  if (polymorphic == Polymorphic::edges) return std::make_unique<Objects<virtual_graph::AnyNode>>(algorithm, graph);
  return std::make_unique<Objects<virtual_graph::Node>>(algorithm, graph);
}

}  // namespace benchmarks::polymorphism
