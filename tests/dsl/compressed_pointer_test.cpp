// Compressed pointers: fields of 4 bytes that behave as pointers do.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>
#include <dynasoar/malloc/aos_allocator.h>
#include <dynasoar/malloc/bitmap_malloc.h>

#include "../platform/test_support.h"
#include "../platform/thrown.h"

namespace compressed_pointer_test {

using namespace dynasoar;
using namespace dynasoar::test;
using dynasoar::detail::Handle;
using dynasoar::detail::pointer_format_v;
using dynasoar::detail::PointerFormat;

class Node;
class Leaf;
class Fork;
class Root;
class Tag;
using AllocatorT = dynasoar::SoaAllocator<Tag, Leaf, Fork, Root>;
using HandleT = AllocatorHandle<AllocatorT>;

/// A struct that is stored in a field.
struct Edge {
  dynasoar::CompressedPointer<Node, AllocatorT> to;
  float weight;
};

class Tag : public SoaBase<AllocatorT> {
 public:
  DYNASOAR_FIELDS(Tag, (next_, CompressedPointer<Tag>), (letter_, char))
  __device__ explicit Tag(std::size_t, Tag* next) : next_(next), letter_('a') {}
};

class Node : public SoaBase<AllocatorT> {
 public:
  using Others = std::array<CompressedPointer<Node>, 3>;
  DYNASOAR_FIELDS(Node, (number_, std::uint32_t), (next_, CompressedPointer<Node>), (same_, Node*), (others_, Others),
                  (edge_, Edge))
  __device__ Node(std::size_t number, Node** all)
      : number_(static_cast<std::uint32_t>(number)), next_(nullptr), same_(nullptr) {
    all[number] = this;
    others_.fill(nullptr);
    edge_ = Edge{this, 0.5f};
  }

  __device__ void link(Node** all, std::uint32_t count) {
    Node* const chosen = all[(std::uint64_t{number_} * 7919 + 1) % count];
    next_ = chosen;
    same_ = chosen;
    for (std::uint32_t i = 0; i < 3; ++i) others_[i] = all[(number_ + i) % count];
  }

  __device__ void inspect(Node** all, std::uint32_t count, Counter* wrong) {
    count_if(wrong[0], next_ != same_ || same_ != next_ || next_ != all[next_->number_]);
    count_if(wrong[1], next_.get().operator->() != same_.get());
    for (std::uint32_t i = 0; i < 3; ++i) count_if(wrong[2], others_[i] != all[(number_ + i) % count]);
    count_if(wrong[3], edge_.get().to != this || edge_.get().weight != 0.5f);
    count_if(wrong[4], others_[0] != others_.get()[0] || others_[0] == others_[1]);
  }
};

class Leaf : public Node {
 public:
  using BaseClass = Node;
  DYNASOAR_FIELDS(Leaf)
  __device__ Leaf(std::size_t i, std::uint32_t first, Node** all) : Node(first + i, all) {}
};
class Fork : public Node {
 public:
  using BaseClass = Node;
  DYNASOAR_FIELDS(Fork, (left_, CompressedPointer<Leaf>), (right_, CompressedPointer<const Node>), (size_, double))
  __device__ Fork(std::size_t i, std::uint32_t first, Node** all)
      : Node(first + i, all), left_(nullptr), right_(nullptr), size_(1) {}

  __device__ void inspect_expressions(Leaf* leaf, Counter* wrong) {
    left_ = leaf;
    right_ = left_;
    const Node* const seen = right_;
    count_if(wrong[5], seen != leaf || left_ != leaf || leaf != left_ || right_ != left_ || !left_);
    count_if(wrong[6], left_ == nullptr || nullptr == left_ || !left_.get() || !(left_ ? true : false));
    next_ = left_;
    count_if(wrong[7], next_ != leaf || (*next_).number_ != leaf->number_ || !is_a<Leaf>(static_cast<Node*>(next_)));
    others_[1] = leaf;
    next_ = others_[1];
    count_if(wrong[8], next_ != others_[1] || &(next_->number_) != &(leaf->number_));
    left_ = nullptr;
    next_ = left_;
    const Node* const none = next_;
    count_if(wrong[9], left_ != nullptr || left_ || next_ != left_ || none != nullptr || next_ == leaf);
  }
};
class Root : public Node {
 public:
  using BaseClass = Node;
  DYNASOAR_FIELDS(Root, (weights_, std::array<double, 5>))
  __device__ Root(std::size_t i, std::uint32_t first, Node** all) : Node(first + i, all) { weights_.fill(1); }
};

static_assert(sizeof(CompressedPointer<Node, AllocatorT>) == 4);
static_assert(sizeof(Edge) == 8);
static_assert(sizeof(CompressedPointer<Node, AosAllocator<BitmapMalloc, Leaf>>) == 8);

// A heap is limited also by those that only structs have.
class Lone;
using LoneAllocator = dynasoar::SoaAllocator<Lone>;
struct Bond {
  dynasoar::CompressedPointer<Lone, LoneAllocator> to;
};
class Lone : public SoaBase<LoneAllocator> {
 public:
  DYNASOAR_FIELDS(Lone, (bond_, Bond))
};
static_assert(dynasoar::detail::class_table_v<LoneAllocator>.reach.pages ==
              pointer_format_v<LoneAllocator, Lone>.most_pages());

constexpr std::uint32_t kOfClass = 20000;
constexpr std::uint32_t kNodes = 3 * kOfClass;
constexpr std::size_t kWrongs = 10;

/// Nodes of three classes that are linked with one another.
struct Nodes {
  Nodes() : handle({.heap_bytes = 64_MiB}), all(kNodes), wrong(kWrongs) {
    handle.parallel_new<Leaf>(kOfClass, std::uint32_t{0}, all.data());
    handle.parallel_new<Fork>(kOfClass, kOfClass, all.data());
    handle.parallel_new<Root>(kOfClass, 2 * kOfClass, all.data());
    handle.parallel_do<Node, &Node::link>(all.data(), kNodes);
  }

  void check_none_wrong() {
    handle.synchronize();
    CHECK(wrong.values() == std::vector<std::uint64_t>(kWrongs));
  }

  HandleT handle;
  DeviceArray<Node*> all;
  Counters wrong;
};

TEST_CASE(
    "compressed pointers to objects of several classes, in fields, arrays and structs, are the pointers they were made "
    "of") {
  Nodes nodes;
  nodes.handle.parallel_do<Node, &Node::inspect>(nodes.all.data(), kNodes, nodes.wrong.data());
  nodes.check_none_wrong();
}

TEST_CASE("expressions with compressed pointers mean what they mean with pointers") {
  Nodes nodes;
  nodes.handle.parallel_do<&Fork::inspect_expressions>(static_cast<Leaf*>(nodes.all.download()[7]), nodes.wrong.data());
  nodes.check_none_wrong();
}

TEST_CASE("columns of compressed pointers are those of pointers") {
  Nodes nodes;
  const Columns table = nodes.handle.columns<Node>();
  CHECK(table["next_"].data == table["same_"].data);
  CHECK(table["next_"].data.size() == kNodes * sizeof(std::int64_t));
  CHECK(table["others_"].components == 3);
  nodes.handle.parallel_new<Tag>(1, static_cast<Tag*>(nullptr));
  const Columns tags = nodes.handle.columns<Tag>();
  CHECK(tags["next_"].data == std::vector<std::byte>(sizeof(std::int64_t), std::byte{0xff}));  // -1
}

/// Whether a pointer is the same after it was compressed, but for its generation.
template <class T>
bool keeps(const PointerFormat& format, std::uint64_t page, std::uint32_t index, std::uint32_t slot) {
  constexpr auto kPages = AllocatorT::pages();
  const std::uint64_t offset = page * kPages.bytes + index * AllocatorT::kBlockBytes<T>;
  const Handle handle = Handle::make(offset, slot, AllocatorT::index_of<T>);
  const std::uint32_t bits = format.encode(handle);
  return bits != 0 && format.decode(bits).bits() == handle.bits();
}

template <class T>
void check_format(const PointerFormat& format) {
  const std::uint32_t last = AllocatorT::pages().blocks_per_page[AllocatorT::index_of<T>] - 1;
  const std::uint64_t end = format.most_pages();
  for (const std::uint64_t page : {std::uint64_t{0}, std::uint64_t{1}, end / 3, end - 1}) {
    for (const std::uint32_t index : {std::uint32_t{0}, last}) {
      for (const std::uint32_t slot : {0u, 31u, 63u}) CHECK(keeps<T>(format, page, index, slot));
    }
  }
  CHECK_FALSE(keeps<T>(format, end, 0, 0));
}

TEST_CASE(
    "every place in the largest heap that a format allows has a compressed pointer of its own, and no place behind "
    "it") {
  check_format<Tag>(pointer_format_v<AllocatorT, Tag>);
  check_format<Leaf>(pointer_format_v<AllocatorT, Leaf>);
  check_format<Leaf>(pointer_format_v<AllocatorT, Node>);
  check_format<Fork>(pointer_format_v<AllocatorT, Node>);
  check_format<Root>(pointer_format_v<AllocatorT, Node>);
  CHECK(pointer_format_v<AllocatorT, Node>.encode(Handle(0)) == 0);
  CHECK(pointer_format_v<AllocatorT, Node>.decode(0).bits() == 0);
  CHECK(pointer_format_v<AllocatorT, Leaf>.encode(Handle::make(0, 5, AllocatorT::index_of<Fork>)) == 0);
}

TEST_CASE("a heap may not be larger than what the compressed pointers of its classes reach") {
  const std::size_t page = AllocatorT::pages().bytes;
  const std::uint64_t most = pointer_format_v<AllocatorT, Tag>.most_pages();
  REQUIRE(most < pointer_format_v<AllocatorT, Node>.most_pages());
  const std::size_t largest = static_cast<std::size_t>(most) * page;
  const auto message = message_of<Error>([&] { HandleT({.heap_bytes = 1_MiB, .heap_limit_bytes = largest + page}); });
  CAPTURE(message);
  CHECK(message.find("is too large for a CompressedPointer to compressed_pointer_test::Tag, which reaches " +
                     std::to_string(largest) + " bytes") != std::string::npos);
  CHECK(HandleT({.heap_bytes = 1_MiB, .heap_limit_bytes = largest}).statistics().heap_limit_bytes == largest);
  CHECK(HandleT().statistics().heap_limit_bytes <= largest);
}

}  // namespace compressed_pointer_test
