/// @file
/// print_object: implements dynasoar::print. Writes its lines field by field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <dynasoar/classes/class_rules.h>
#include <dynasoar/classes/handle.h>
#include <dynasoar/classes/layout.h>
#include <dynasoar/classes/pointer_format.h>
#include <dynasoar/classes/type_name.h>
#include <dynasoar/detail/value_members.h>
#include <dynasoar/platform/binding.h>
#include <dynasoar/platform/config.h>
#include <dynasoar/platform/order.h>
#include <dynasoar/platform/print_real.h>

namespace dynasoar::detail {

/// Text that is known at compile time, as characters that device code can hold.
template <std::size_t size>
struct ConstantText {
  char characters[size + 1] = {};
  constexpr explicit ConstantText(std::string_view text) {
    for (std::size_t i = 0; i < size; ++i) characters[i] = text[i];
  }
};

/// The name of C's own field I; empty if the class has no names.
template <class C, std::size_t I>
constexpr std::string_view given_field_name() {
  if constexpr (has_own_field_names<C>()) {
    return C::field_names[I];
  } else {
    return {};
  }
}

/// A line of text for device code, which has no strings. Text that does not fit is left out. Its functions are not
/// inlined: there are many calls, and none has to be fast.
class TextLine {
 public:
  __device__ TextLine() { characters_[0] = '\0'; }
  __device__ const char* characters() const { return characters_; }
  __device__ int size() const { return size_; }

  /// Keeps the first `size` characters.
  __device__ void cut(int size) {
    size_ = size;
    characters_[size_] = '\0';
  }

  __device__ TextLine& add(char character) {
    if (size_ + 1 < kCapacity) characters_[size_++] = character;
    characters_[size_] = '\0';
    return *this;
  }
  [[gnu::noinline]] __device__ TextLine& add(const char* text) {
    for (; *text != '\0'; ++text) add(*text);
    return *this;
  }
  [[gnu::noinline]] __device__ TextLine& add_number(std::uint64_t number, unsigned base = 10) {
    char digits[20];
    int count = 0;
    do {
      const auto digit = static_cast<char>(number % base);
      digits[count++] = static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10);
      number /= base;
    } while (number != 0);
    while (count > 0) add(digits[--count]);
    return *this;
  }

 private:
  static constexpr int kCapacity = 240;
  char characters_[kCapacity];
  int size_ = 0;
};

template <class A>
__device__ void add_class_name(TextLine& line, int type) {
  A::Types::for_each([&]<class T>(std::type_identity<T>) {
    if (type != A::template index_of<T>) return;
    constexpr ConstantText<type_name<T>().size()> kName(type_name<T>());
    line.add(kName.characters);
  });
}

/// Adds a text for a pointer to an object of allocator A: "Fish (block 12, slot 5)". Checked builds add the generation.
/// @return whether there may be an object
template <class A>
[[gnu::noinline]] __device__ bool add_object(TextLine& line, Handle handle) {
  const int type = handle.type_index();
  bool is_object = type >= 0 && type < A::kTypes;
  if constexpr (A::kCompacts) is_object = is_object && A::is_position_of_object(handle);
  if (handle.bits() == 0) {
    line.add("a null pointer");
  } else if (!is_object) {
    line.add("0x").add_number(handle.bits(), 16).add(", which is no pointer of this allocator");
  } else {
    add_class_name<A>(line, type);
    if constexpr (A::kCompacts) {
      line.add(" (block ").add_number(A::block_of(handle)).add(", slot ").add_number(handle.slot());
      if constexpr (A::kFindsMisuse) line.add(", generation ").add_number(handle.generation());
    } else {
      line.add(" (at 0x").add_number(handle.bits() & 0x00FFFFFFFFFFFFFFu, 16);
    }
    line.add(')');
  }
  return is_object;
}

/// Whether the slot of a handle holds an object; in checked builds, whether it is the object to which the handle was
/// made.
/// @pre it is the position of an object
template <class A>
__device__ bool is_taken(Handle handle) {
  if constexpr (A::kCompacts) {
    const auto& heap = bound_state<A>().heap;
    const std::uint32_t block = A::block_of(handle);
    if (A::is_placed_type(handle.type_index())) return is_placed_object<A>(handle, block);
    const auto& type = heap.types[handle.type_index()];
    if ((type.allocated.container(0, block / 64) >> block % 64 & 1) == 0) return false;
    if ((heap.slots[block].load(Order::relaxed) >> handle.slot() & 1) == 0) return false;
    if constexpr (A::kFindsMisuse) return A::Checks::generation(block, handle.slot()) == handle.generation();
  }
  return true;
}

template <class T>
inline constexpr bool is_pointer_to_object_v = false;
template <class T>
requires requires {
  typename T::Allocator::Types;
}
inline constexpr bool is_pointer_to_object_v<T*> = true;

/// Arrays, whose elements are printed one by one.
template <class T>
concept IsArrayValue = ArrayFieldTraits<T>::is_array;

/// Structs whose members are printed one by one.
template <class T>
concept IsPlainStruct = !is_compressed_v<T> && HasMembers<T>;

/// Prints the line with a value at its end, and leaves the line unchanged.
template <class Value>
[[gnu::noinline]] __device__ void print_line(TextLine& line, const Value& value) {
  const int size = line.size();
  if constexpr (std::is_floating_point_v<Value>) {
    constexpr bool kIsShort = sizeof(Value) < sizeof(double);
    print_real<kIsShort>(line.characters(), static_cast<double>(value));
    return;
  } else if constexpr (std::is_same_v<Value, bool>) {
    line.add(value ? "true" : "false");
  } else if constexpr (std::is_enum_v<Value>) {
    return print_line(line, static_cast<std::underlying_type_t<Value>>(value));
  } else if constexpr (std::is_integral_v<Value>) {
    auto bits = static_cast<std::uint64_t>(value);
    if constexpr (std::is_signed_v<Value>) {
      if (value < 0) {
        line.add('-');
        bits = 0 - bits;
      }
    }
    line.add_number(bits);
  } else if constexpr (is_pointer_to_object_v<Value>) {
    add_object<typename std::remove_pointer_t<Value>::Allocator>(line, Handle(reinterpret_cast<std::uint64_t>(value)));
  } else if constexpr (is_compressed_v<Value>) {
    return print_line(line, static_cast<typename CompressedPointee<Value>::type*>(value));
  } else if constexpr (std::is_pointer_v<Value>) {
    line.add("0x").add_number(reinterpret_cast<std::uint64_t>(value), 16);
  } else {
    line.add_number(sizeof(Value)).add(" bytes");
  }
  std::printf("%s\n", line.characters());
  line.cut(size);
}

template <class T>
struct PrintMembers;

/// Prints a line for each number in a value. The printed lines begin with `line`, which is unchanged afterwards.
template <class Value>
__device__ void print_value(TextLine& line, const Value& value) {
  const int size = line.size();
  if constexpr (std::is_array_v<Value>) {
    for (std::size_t i = 0; i < std::extent_v<Value>; ++i) {
      print_value(line.add('[').add_number(i).add(']'), value[i]);
      line.cut(size);
    }
  } else if constexpr (IsArrayValue<Value>) {
    for (std::size_t i = 0; i < std::tuple_size_v<Value>; ++i) {
      print_value(line.add('[').add_number(i).add(']'), value[i]);
      line.cut(size);
    }
  } else if constexpr (IsPlainStruct<Value>) {
    with_members(value, PrintMembers<Value>{line});
  } else {
    print_line(line.add(" = "), value);
    line.cut(size);
  }
}

template <class T>
struct PrintMembers {
  TextLine& line;

  template <class... Members>
  __device__ void operator()(const Members&... members) const {
    print(std::make_index_sequence<sizeof...(Members)>{}, members...);
  }

 private:
  template <std::size_t... i, class... Members>
  __device__ void print(std::index_sequence<i...>, const Members&... members) const {
    (print_one<i>(members), ...);
  }
  template <std::size_t i, class Member>
  __device__ void print_one(const Member& member) const {
    constexpr ConstantText<member_name<T, i>().size()> kName(member_name<T, i>());
    const int size = line.size();
    print_value(line.add('.').add(kName.characters), member);
    line.cut(size);
  }
};

/// Prints C's own field I of an object: a line per element, which begins with `line`.
template <class C, std::size_t I>
__device__ void print_field(TextLine& line, Handle object) {
  const int size = line.size();
  using Field = FieldArrays<C, I>;
  using Element = typename Field::Element;
  constexpr std::string_view kGiven = given_field_name<C, I>();
  if constexpr (kGiven.empty()) {
    line.add("field").add_number(I);
  } else {
    constexpr ConstantText<kGiven.size()> kName(kGiven);
    line.add(kName.characters);
  }
  // Do not read through the field: checked builds would report this if the object has been destroyed.
  const char* const first =
      reinterpret_cast<const char*>(C::Allocator::template field<C, static_cast<int>(I), Element>(object));
  for (std::size_t i = 0; i < Field::kCount; ++i) {
    TextLine of_element = line;
    if constexpr (ArrayFieldTraits<typename Field::Value>::is_array) of_element.add('[').add_number(i).add(']');
    print_value(of_element,
                *reinterpret_cast<const Element*>(first + i * C::Allocator::template kArrayStride<Element>));
  }
  line.cut(size);
}

template <class C>
__device__ void print_fields(TextLine& line, Handle object) {
  if constexpr (!std::is_void_v<C>) {
    print_fields<typename C::BaseClass>(line, object);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (print_field<C, I>(line, object), ...);
    }
    (std::make_index_sequence<ClassLayout<C>::Own::count>{});
  }
}

template <class A>
[[gnu::noinline]] __device__ void print_object(Handle handle) {
  TextLine line;
  if (!add_object<A>(line, handle)) {
    std::printf("%s\n", line.characters());
    return;
  }
  line.add(": ");
  if (!is_taken<A>(handle)) {
    std::printf("%sdestroyed\n", line.characters());
    return;
  }
  A::Types::for_each([&]<class S>(std::type_identity<S>) {
    if (handle.type_index() != A::template index_of<S>) return;
    if constexpr (ClassLayout<S>::field_count == 0) {
      std::printf("%sno fields\n", line.characters());
    } else {
      print_fields<S>(line, handle);
    }
  });
}

}  // namespace dynasoar::detail
