// SoaField: a field can be used like the value that it stands for, and classes name their fields in several forms.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include <dynasoar/dynasoar.h>

#include "../platform/test_support.h"
#include "soa_field_types.h"

namespace soa_field_test {

using namespace dynasoar;
using namespace dynasoar::test;

// ---- Operators -----------------------------------------------------------------------------------------------------

class Node;
class Extended;
class Heir;
using NodeAllocator = SoaAllocator<Node, Extended, Heir>;

/// Notes the first line at which something was not as expected.
struct Lines {
  Counter* first;
  __device__ void expect(bool condition, std::uint64_t line) const {
    std::uint64_t nothing = 0;
    if (!condition) first->compare_exchange(nothing, line, Order::relaxed);
  }
};
#define EXPECT(...) lines.expect((__VA_ARGS__), __LINE__)

class Node : public SoaBase<NodeAllocator> {
 public:
  DYNASOAR_FIELDS(Node, (number_, int), (bits_, std::uint32_t), (weight_, double), (flag_, bool), (colour_, Colour),
                  (next_, Node*), (text_, const int*), (place_, Twelve), (values_, std::array<int, 4>),
                  (links_, std::array<Node*, 2>), (single_, std::array<float, 1>),
                  (visits_, dynasoar::AtomicWord<std::uint32_t>))
  __device__ Node() {}
  __device__ Node(int number, Node* next) : number_(number), next_(next) {}
  /// Inherits everything from its mother, in some other form or another.
  __device__ explicit Node(const Node* mother)
      : number_(mother->number_ + 1),
        bits_(mother->bits_),
        weight_{mother->weight_},
        flag_(mother->flag_),
        colour_(mother->colour_),
        next_(mother->next_),
        text_(mother->text_),
        place_(mother->place_),
        values_(mother->values_),
        links_{mother->links_},
        single_(mother->single_),
        visits_(mother->visits_) {}

  __device__ int twice() const { return 2 * number_; }
  __device__ void check_arithmetic(Lines lines);
  __device__ void check_pointers(Lines lines);
  __device__ void check_arrays(Lines lines);
  __device__ void check_structs(Lines lines);
  __device__ void check_const(Lines lines) const;
  __device__ void check_child(Node* child, Lines lines);
  __device__ void check_functions(Node* other, Lines lines);
  __device__ void check_mathematics(Node* other, Lines lines);
};

class Extended : public Node {
 public:
  using BaseClass = Node;
  DYNASOAR_FIELDS(Extended, (own_, int), (more_, std::array<short, 2>))
  __device__ explicit Extended(std::size_t i) : own_(static_cast<int>(i)) {
    number_ = static_cast<int>(i) + 1000;
    more_.fill(7);
  }
};

__device__ int takes_value(int value) {
  return value + 1;
}
__device__ void takes_reference(int& value) {
  value += 100;
}
__device__ int takes_const_reference(const int& value) {
  return value + 2;
}

__device__ void Node::check_arithmetic(Lines lines) {
  number_ = 5;
  EXPECT(number_ == 5 && 5 == number_ && number_ != 6 && number_ < 6 && number_ <= 5 && number_ > 4 && number_ >= 5);
  const int copy = number_;
  EXPECT(copy == 5);
  EXPECT(takes_value(number_) == 6);
  EXPECT(takes_const_reference(number_) == 7);
  takes_reference(number_);
  EXPECT(number_ == 105);
  auto value = number_.get();
  static_assert(std::is_same_v<decltype(value), int>);
  value = 0;
  EXPECT(number_ == 105);  // a copy
  number_.get() = 6;
  EXPECT(number_ == 6);
  EXPECT((number_ += 4) == 10);
  EXPECT((number_ -= 1) == 9);
  EXPECT((number_ *= 3) == 27);
  EXPECT((number_ /= 2) == 13);
  EXPECT((number_ %= 5) == 3);
  EXPECT(++number_ == 4);
  EXPECT(number_++ == 4 && number_ == 5);
  EXPECT(--number_ == 4);
  EXPECT(number_-- == 4 && number_ == 3);
  EXPECT(-number_ == -3 && number_ + number_ == 6 && number_ * 2 - 1 == 5);
  ++number_ += 10;  // what the operators return is the value itself
  EXPECT(number_ == 14);
  (number_ = 1) = 2;
  EXPECT(number_ == 2);

  bits_ = 0b1100u;
  EXPECT((bits_ &= 0b0110u) == 0b0100u);
  EXPECT((bits_ |= 0b0001u) == 0b0101u);
  EXPECT((bits_ ^= 0b0100u) == 0b0001u);
  EXPECT((bits_ <<= 3) == 0b1000u);
  EXPECT((bits_ >>= 2) == 0b0010u);
  EXPECT(~bits_ == 0xfffffffdu);

  weight_ = 1.5;
  weight_ += number_;  // another field
  EXPECT(weight_ == 3.5);
  weight_ = number_;
  EXPECT(weight_ == 2.0);
  const double fraction = 7.9;
  number_ = fraction;  // converts as the value would
  EXPECT(number_ == 7);

  flag_ = true;
  EXPECT(flag_ && !(!flag_) && (flag_ ? true : false));
  flag_ = number_ > 100;
  EXPECT(!flag_);

  colour_ = Colour::blue;
  EXPECT(colour_ == Colour::blue && colour_ != Colour::red);
  switch (colour_) {
    case Colour::blue: break;
    default: EXPECT(false);
  }

  int* const address = &number_;
  *address = 42;
  EXPECT(number_ == 42 && &number_ == address && address != reinterpret_cast<int*>(&bits_));
}

__device__ void Node::check_pointers(Lines lines) {
  Node* const other = next_;
  EXPECT(next_ != nullptr && next_ == other && (next_ ? true : false));
  other->number_ = 11;
  EXPECT(next_->number_ == 11 && (*next_).number_ == 11 && next_->twice() == 22);
  next_->number_ = 12;
  ++next_->number_;
  EXPECT(other->number_ == 13);
  next_->next_ = this;
  EXPECT(next_->next_->next_ == other);
  number_ = 3;
  EXPECT(next_->next_->number_ == 3);
  next_ = nullptr;
  EXPECT(next_ == nullptr && !next_);
  next_ = other;

  const int numbers[] = {5, 6, 7};
  text_ = numbers;
  const int index = 2;
  EXPECT(text_[0] == 5 && text_[index] == 7 && *text_ == 5);
  EXPECT(*++text_ == 6 && *(text_ + 1) == 7);
  text_ += 1;
  EXPECT(*text_-- == 7 && *text_ == 6);
  text_ = nullptr;
}

__device__ void Node::check_arrays(Lines lines) {
  values_ = std::array<int, 4>{1, 2, 3, 4};
  static_assert(SoaField<Node, 8>::size() == 4);
  int sum = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) sum = sum * 10 + values_[i];
  EXPECT(sum == 1234);
  const std::uint32_t index = bits_ % 4;  // known at run time only
  values_[index] += 50;
  EXPECT(values_.get()[index] == static_cast<int>(index) + 51);
  values_[3] = values_[2] = 9;
  const std::array<int, 4> copy = values_;
  EXPECT(copy[2] == 9 && copy[3] == 9);
  EXPECT(values_ == copy);
  int* const second = &values_[1];
  *second = -1;
  EXPECT(values_[1] == -1 && !(values_ == copy));
  values_.fill(4);
  EXPECT(values_[0] == 4 && values_[3] == 4);
  for (std::size_t i = 0; i < values_.size(); ++i) {  // arrays differ if one element does, be it the first or the last
    std::array<int, 4> other = values_;
    EXPECT(values_ == other && !(values_ != other));
    other[i] = 5;
    EXPECT(values_ != other && !(values_ == other));
  }
  single_[0] = 1.0f;
  EXPECT(single_ == (std::array<float, 1>{1.0f}) && single_ != (std::array<float, 1>{2.0f}));
  links_[0] = this;
  links_[1] = next_;
  EXPECT(links_[0]->number_ == number_ && links_[1] == next_);
  links_[1]->number_ = 77;
  EXPECT(next_->number_ == 77);
  links_ = next_->links_;  // from another object
  EXPECT(links_[0] == next_->links_[0]);
  single_[0] = 2.5f;
  EXPECT(single_[0] == 2.5f && single_.get()[0] == 2.5f);
}

__device__ void Node::check_structs(Lines lines) {
  place_ = Twelve{1.0f, 2, {3, 4}};
  const Twelve copy = place_;
  EXPECT(copy.y == 2 && place_.get().z[1] == 4);
  place_.get().y = 20;
  EXPECT(place_.get() == (Twelve{1.0f, 20, {3, 4}}));
  (&place_)->x = 5.0f;
  EXPECT(place_.get().x == 5.0f);
  number_ = 1;
  next_->number_ = 2;
  number_ = next_->number_;  // a field from a field of the same class
  EXPECT(number_ == 2);
  place_ = next_->place_;
  EXPECT(place_.get() == next_->place_.get());
}

__device__ void Node::check_const(Lines lines) const {
  const int copy = number_;
  EXPECT(copy == number_ && number_ + 1 == copy + 1 && number_.get() == copy);
  EXPECT(next_->number_ == (*next_).number_ && next_ != nullptr);
  next_->flag_ = true;  // the pointer is const, what it points to is not
  EXPECT(values_[1] == values_.get()[1]);
  EXPECT(*&number_ == copy);
  static_assert(std::is_same_v<decltype(number_.get()), const int&>);
  static_assert(std::is_same_v<decltype(&number_), const int*>);
  static_assert(std::is_same_v<decltype(values_[0]), const int&>);
  static_assert(!std::is_assignable_v<decltype((number_)), int>);
}

__device__ void Node::check_child(Node* child, Lines lines) {
  EXPECT(child->number_ == number_ + 1 && child->bits_ == bits_ && child->weight_ == weight_ && child->flag_ == flag_);
  EXPECT(child->colour_ == colour_ && child->next_ == next_ && child->text_ == text_);
  EXPECT(child->place_.get() == place_.get() && child->values_ == values_.get() && child->links_ == links_.get());
  EXPECT(child->single_ == single_.get());
  EXPECT(child->visits_->load(Order::relaxed) == visits_->load(Order::relaxed));
  child->values_[3] = values_[3] + 1;
  EXPECT(child->values_ != values_.get());  // a copy
}

/// Functions of namespace std that take the type of their values from their arguments.
__device__ void Node::check_functions(Node* other, Lines lines) {
  weight_ = 1.5;
  other->weight_ = 2.5;
  EXPECT(std::max(weight_, 2.0) == 2.0 && std::max(2.0, weight_) == 2.0 && std::max(weight_, 1.0) == 1.5);
  EXPECT(std::min(weight_, 2.0) == 1.5 && std::min(2.0, weight_) == 1.5 && std::min(weight_, 1.0) == 1.0);
  EXPECT(std::max(weight_, other->weight_) == 2.5 && std::min(other->weight_, weight_) == 1.5);
  EXPECT(std::clamp(weight_, 2.0, 3.0) == 2.0 && std::clamp(weight_, 0.0, 1.0) == 1.0);
  EXPECT(std::clamp(weight_, 1.0, 2.0) == 1.5 && std::clamp(2.0, weight_, other->weight_) == 2.0);
  EXPECT(std::clamp(weight_, other->weight_, other->weight_) == 2.5);
  std::swap(weight_, other->weight_);
  EXPECT(weight_ == 2.5 && other->weight_ == 1.5);
  double plain = 7;
  std::swap(weight_, plain);
  EXPECT(weight_ == 7 && plain == 2.5);
  EXPECT(std::exchange(weight_, 8) == 7 && weight_ == 8);
  values_.fill(1);
  other->values_.fill(2);
  std::swap(values_, other->values_);
  EXPECT(values_[3] == 2 && other->values_[3] == 1);
  std::swap(values_[0], other->values_[1]);
  EXPECT(values_[0] == 1 && other->values_[1] == 2);
  number_ = 4;
  number_ = std::min(number_ + 1, 10);
  EXPECT(number_ == 5 && std::max(values_[0], number_.get()) == 5);
}

/// Functions with an overload for each type.
__device__ void Node::check_mathematics(Node* other, Lines lines) {
  number_ = -3;
  weight_ = -2.25;
  single_[0] = -1.5f;
  other->weight_ = 2.0;
  static_assert(std::is_same_v<decltype(std::abs(number_)), int>);
  static_assert(std::is_same_v<decltype(std::abs(weight_)), double>);
  EXPECT(std::abs(number_) == 3 && std::abs(weight_) == 2.25 && std::abs(single_[0]) == 1.5f);
  EXPECT(std::fabs(weight_) == 2.25 && std::floor(weight_) == -3 && std::ceil(weight_) == -2);
  EXPECT(std::sqrt(other->weight_ * 2) == 2 && std::fma(weight_, other->weight_, 1.0) == -3.5);
  EXPECT(std::fmin(weight_, other->weight_) == -2.25 && std::fmod(weight_, 1.0) == -0.25);
  EXPECT(std::fmax(weight_, 0.0) == 0 && std::copysign(other->weight_, weight_) == -2);
  EXPECT(std::lround(weight_) == -2 && std::isfinite(weight_) && !std::isnan(weight_));
}

/// Takes over values of another class's object.
class Heir : public SoaBase<NodeAllocator> {
 public:
  DYNASOAR_FIELDS(Heir, (number_, int), (weight_, double), (place_, Twelve), (x_, float), (values_, std::array<int, 4>),
                  (second_, int), (next_, Node*), (wide_, std::int64_t))
  struct Assigned {};
  __device__ explicit Heir(const Node* node)
      : number_(node->number_),
        weight_{node->weight_},
        place_(node->place_),
        x_(node->place_->x),
        values_(node->values_),
        second_(node->values_[1]),
        next_(node->next_),
        wide_(node->next_->number_) {}
  __device__ Heir(Node* node, Assigned) {
    number_ = node->number_;
    weight_ = node->weight_;
    place_ = node->place_;
    x_ = node->place_->x;
    values_ = node->values_;
    second_ = node->values_[1];
    next_ = node->next_;
    wide_ = node->next_->number_;
  }
  __device__ bool is_heir_of(Node* node) const {
    return number_ == node->number_ && weight_ == node->weight_ && place_.get() == node->place_.get() &&
           x_ == node->place_->x && values_ == node->values_.get() && second_ == node->values_[1] &&
           next_ == node->next_ && wide_ == node->next_->number_;
  }
};

TEST_CASE("a field can be used like the value that it stands for") {
  AllocatorHandle<NodeAllocator> handle({.heap_bytes = std::size_t{1} << 20});
  Counters line(1);
  handle.parallel_for(200, [lines = Lines{line.data()}] __device__(std::size_t i) {
    Node* const second = dynasoar::make_new<Node>(1, nullptr);
    Node* const first = dynasoar::make_new<Node>(static_cast<int>(i), second);
    lines.expect(first->number_ == static_cast<int>(i) && second->number_ == 1 && first->next_ == second, __LINE__);
    second->values_.fill(0);
    second->links_.fill(nullptr);
    second->place_ = Twelve{0, 0, {0, 0}};
    first->check_arithmetic(lines);
    first->check_pointers(lines);
    first->check_arrays(lines);
    first->check_structs(lines);
    first->check_const(lines);
    first->text_ = nullptr;
    first->bits_ = 5;
    first->visits_->store(17, Order::relaxed);
    first->check_child(dynasoar::make_new<Node>(first), lines);
    first->check_functions(second, lines);
    first->check_mathematics(second, lines);
    lines.expect(dynasoar::make_new<Heir>(first)->is_heir_of(first), __LINE__);
    lines.expect(dynasoar::make_new<Heir>(first, Heir::Assigned{})->is_heir_of(first), __LINE__);
  });
  handle.synchronize();
  CHECK_MESSAGE(line[0] == 0, "see this line");
}

static_assert(std::is_empty_v<SoaField<Node, 0>> && std::is_empty_v<SoaField<Node, 8>>);
static_assert(sizeof(Node) == 13 && sizeof(Extended) == 15);

TEST_CASE("base-class handles and subclass handles see the same inherited fields") {
  AllocatorHandle<NodeAllocator> handle({.heap_bytes = std::size_t{1} << 20});
  handle.parallel_new<Extended>(300);
  Counters line(1);
  handle.parallel_do<Node>([] __device__(Node * node) {
    node->number_ += 1;
    node->weight_ = 0.5;
    node->values_.fill(node->number_);
  });
  handle.parallel_do<Extended>(
      [] __device__(Extended * extended, Lines lines) {
        lines.expect(extended->number_ == extended->own_ + 1001, __LINE__);
        lines.expect(extended->weight_ == 0.5, __LINE__);
        lines.expect(extended->values_[3] == extended->own_ + 1001, __LINE__);
        lines.expect(extended->more_[0] == 7 && extended->more_[1] == 7, __LINE__);
        lines.expect(static_cast<Node*>(extended)->number_ == extended->number_, __LINE__);
      },
      Lines{line.data()});
  handle.synchronize();
  CHECK(line[0] == 0);
}

// ---- Names, and the paper's spelling ------------------------------------------------------------------------------

class Tricky;
class Empty;
using TrickyAllocator = SoaAllocator<Tricky, Empty>;

class Tricky : public SoaBase<TrickyAllocator> {
 public:
  DYNASOAR_FIELDS(Tricky, (pair_, std::array<std::array<float, 2>, 3>), (x_, int),
                  (nested_, std::array<std::tuple_element_t<1, std::tuple<char, long>>, 2>))
};
class Empty : public Tricky {
 public:
  using BaseClass = Tricky;
  DYNASOAR_FIELDS(Empty)
};

static_assert(std::is_same_v<std::tuple_element_t<0, Tricky::FieldTypes>, std::array<std::array<float, 2>, 3>>);
static_assert(std::is_same_v<std::tuple_element_t<2, Tricky::FieldTypes>, std::array<long, 2>>);
static_assert(std::tuple_size_v<Empty::FieldTypes> == 0 && Empty::field_names.size() == 0);

TEST_CASE("the names of fields are known, also of those whose types have commas") {
  static_assert(Tricky::field_names.size() == 3);
  CHECK(std::string(Tricky::field_names[0]) == "pair_");
  CHECK(std::string(Tricky::field_names[1]) == "x_");
  CHECK(std::string(Tricky::field_names[2]) == "nested_");
  std::string all;
  for (const char* name : Node::field_names) all += std::string(name) + " ";
  CHECK(all == "number_ bits_ weight_ flag_ colour_ next_ text_ place_ values_ links_ single_ visits_ ");
}

class Body;
class Star;
using PaperAllocator = SoaAllocator<Body, Star>;

// As in the paper, without the macro.
class Body : public SoaBase<PaperAllocator> {
 public:
  using FieldTypes = std::tuple<float, std::array<double, 2>, Body*>;
  SoaField<Body, 0> mass_;
  SoaField<Body, 1> position_;
  SoaField<Body, 2> partner_;

  __device__ explicit Body(std::size_t i) : mass_(static_cast<float>(i)), partner_(this) {
    position_ = std::array<double, 2>{i + 0.25, i + 0.5};
  }
  __device__ void add(float mass) { mass_ += mass; }
};

class Star : public Body {
 public:
  using BaseClass = Body;
  using FieldTypes = std::tuple<int>;
  SoaField<Star, 0> brightness_;
  __device__ explicit Star(std::size_t i) : Body(i), brightness_(static_cast<int>(i) * 3) {}
};

TEST_CASE("classes in the paper's form work like those that name their fields with the macro") {
  AllocatorHandle<PaperAllocator> handle({.heap_bytes = std::size_t{1} << 20});
  handle.parallel_new<Body>(100);
  handle.parallel_new<Star>(100);
  handle.parallel_do<Body, &Body::add>(1.0f);
  Counters line(1);
  const Lines lines{line.data()};
  handle.parallel_do<Star>([lines] __device__(Star * star) {
    lines.expect(star->brightness_ == static_cast<int>(star->mass_ - 1) * 3, __LINE__);
  });
  handle.parallel_do<Body>([lines] __device__(Body * body) {
    lines.expect(body->position_[1] == body->mass_ - 0.5 && body->position_[0] == body->mass_ - 0.75, __LINE__);
    lines.expect(body->partner_ == body && body->partner_->mass_ == body->mass_, __LINE__);
  });
  handle.synchronize();
  CHECK(line[0] == 0);
}

// ---- Many fields --------------------------------------------------------------------------------------------------

class Crowded;
class Crowded : public SoaBase<SoaAllocator<Crowded>> {
 public:
#define FOUR(n) (a##n##_, char), (b##n##_, double), (c##n##_, short), (d##n##_, std::array<int, 2>)
  DYNASOAR_FIELDS(Crowded, FOUR(0), FOUR(1), FOUR(2), FOUR(3), FOUR(4), FOUR(5), FOUR(6), FOUR(7), FOUR(8), FOUR(9),
                  FOUR(10), FOUR(11), FOUR(12), FOUR(13), FOUR(14), FOUR(15), FOUR(16), FOUR(17), FOUR(18), FOUR(19),
                  FOUR(20), FOUR(21), FOUR(22), FOUR(23), FOUR(24))
#undef FOUR
  __device__ explicit Crowded(std::size_t i) : b0_(static_cast<double>(i)), b24_(i + 0.5) {
    a12_ = 'x';
    d24_.fill(static_cast<int>(i));
  }
};

TEST_CASE("a class may have a hundred fields") {
  static_assert(std::tuple_size_v<Crowded::FieldTypes> == 100);
  CHECK(std::string(Crowded::field_names[99]) == "d24_");
  AllocatorHandle<SoaAllocator<Crowded>> handle({.heap_bytes = std::size_t{1} << 20});
  handle.parallel_new<Crowded>(100);
  const auto is_whole = [] __device__(Crowded * crowded) {
    const double i = crowded->b0_;
    return crowded->b24_ == i + 0.5 && crowded->a12_ == 'x' && crowded->d24_[1] == i;
  };
  CHECK(handle.count_if<Crowded>(is_whole) == 100);
}

}  // namespace soa_field_test
