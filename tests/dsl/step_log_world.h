/// @file
/// What the tests of StepLog share: classes of objects, and the cells of rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include <dynasoar/dynasoar.h>
#include <dynasoar/step_log.h>

#include "layouts.h"

namespace step_log_test {

using namespace dynasoar;
using namespace dynasoar::test;
using dynasoar::LogRow;
using dynasoar::LogValue;
namespace totals = dynasoar::totals;

/// People with jobs and without, and what they own.
template <class Layout>
struct World {
  class Person;
  class Worker;
  class Tree;
  class Oak;
  class Farm;
  using AllocatorT = typename Layout::template Allocator<Person, Worker, Tree, Oak, Farm>;

  class Person : public dynasoar::SoaBase<AllocatorT> {
   public:
    DYNASOAR_FIELDS(Person, (number_, std::uint64_t), (age_, std::int16_t), (height_, float), (debt_, std::int64_t),
                    (hits_, dynasoar::AtomicWord<std::uint64_t>), (is_ill_, bool))

    __device__ explicit Person(std::size_t number)
        : number_(number),
          age_(static_cast<std::int16_t>(number % 103)),
          height_(static_cast<float>(number) * 0.25f),
          debt_(-static_cast<std::int64_t>(number)),
          is_ill_(number % 7 == 0) {
      hits_->store(number * 10, dynasoar::Order::relaxed);
    }
    __device__ bool is_odd() { return number_ % 2 == 1; }
    __device__ std::uint64_t square() { return number_ * number_; }
    __device__ void get_older() { age_ += 1; }
    __device__ void die_if_odd() {
      if (is_odd()) dynasoar::destroy(this);
    }
    __device__ void multiply() { dynasoar::make_new<Person>(static_cast<std::size_t>(number_)); }
  };

  class Worker : public Person {
   public:
    using BaseClass = Person;
    DYNASOAR_FIELDS(Worker, (wage_, double))
    __device__ explicit Worker(std::size_t number) : Person(number), wage_(1.0 / static_cast<double>(number + 1)) {}
  };

  class Tree : public dynasoar::SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    DYNASOAR_FIELDS(Tree, (rings_, std::uint32_t))
    __device__ explicit Tree(std::uint32_t rings) : rings_(rings) {}
    __device__ void fall_if_thin() {
      if (rings_ % 2 == 0) dynasoar::destroy(this);
    }
  };

  class Oak : public Tree {
   public:
    using BaseClass = Tree;
    DYNASOAR_FIELDS(Oak, (height_, float))
    __device__ explicit Oak(std::uint32_t rings) : Tree(rings), height_(0.5f) {}
  };

  class Farm : public dynasoar::SoaBase<AllocatorT> {
   public:
    static constexpr bool kPlaced = true;
    static constexpr bool kAtEveryPlace = true;
    DYNASOAR_FIELDS(Farm, (size_, std::uint32_t))
    __device__ Farm() : size_(7u) {}
  };
};

using W = World<InArrays>;
using Person = W::Person;
using Worker = W::Worker;
using Handle = AllocatorHandle<W::AllocatorT>;
using Log = StepLog<W::AllocatorT>;

// The cell of a row, which is of this type.
template <class T>
T cell(const LogRow& row, std::size_t column) {
  return std::get<T>(row.values.at(column));
}
inline std::uint64_t whole(const LogRow& row, std::size_t column) {
  return cell<std::uint64_t>(row, column);
}

}  // namespace step_log_test
