// What two or three threads do in a heap of a few slots. In these scripts the last argument is the requester;
// requesters with different numbers have current blocks of their own if there is more than one.
#include "heap_scenario.h"

namespace dynasoar::test {

namespace {

using One = HeapScenario<1>;
using Two = HeapScenario<2>;
using OneOfFour = HeapScenario<1, 4>;  // blocks of four slots, so that half of one is more than a slot

constexpr Scheduler kRandom = Scheduler::random;
constexpr Scheduler kBound = Scheduler::context_bound;

void nothing(One&) {}

/// One block.
void add_one_block(std::vector<Entry>& all) {
  all.push_back(heap_entry<1>("allocate_allocate", "two requests for the two slots of the only block", kBound, 1000000,
                              {1,
                               {1},
                               1,
                               nothing,
                               {[](One& heap) { heap.take(0, 0); },  //
                                [](One& heap) { heap.take(0, 1); }}}));
  all.push_back(heap_entry<1>("allocate_free", "a request while the only object is freed", kRandom, 150000,
                              {1,
                               {1},
                               1,
                               [](One& heap) { heap.take(0, 0); },
                               {[](One& heap) { heap.take(0, 0); },  //
                                [](One& heap) { heap.give(0, 1); }}}));
  all.push_back(heap_entry<1>("free_last_allocate", "the same, with current blocks of their own", kRandom, 150000,
                              {1,
                               {1},
                               2,
                               [](One& heap) { heap.take(0, 0); },
                               {[](One& heap) { heap.take_and_give(0, 1); },  //
                                [](One& heap) { heap.give(0, 0); }}}));
  all.push_back(heap_entry<1>("free_free", "both slots of a full block are given back", kBound, 1000000,
                              {1,
                               {1},
                               1,
                               [](One& heap) { heap.take(0, 0), heap.take(0, 0); },
                               {[](One& heap) { heap.give(0, 0); },  //
                                [](One& heap) { heap.give(1, 1); }}}));
  all.push_back(heap_entry<1>("fill_free", "the last slot is taken while the other is given back", kRandom, 150000,
                              {1,
                               {1},
                               2,
                               [](One& heap) { heap.take(0, 0); },
                               {[](One& heap) { heap.take_and_give(0, 1), heap.take(0, 1); },  //
                                [](One& heap) { heap.give(0, 0), heap.take_and_give(0, 0); }}}));
  all.push_back(heap_entry<1>("churn_2", "two threads allocate and free, and never lack a slot", kRandom, 150000,
                              {1,
                               {1},
                               1,
                               nothing,
                               {[](One& heap) { heap.take_and_give(0, 0), heap.take_and_give(0, 0); },
                                [](One& heap) { heap.take_and_give(0, 1), heap.take_and_give(0, 1); }}}));
  all.push_back(heap_entry<1>("both_slots", "requests for both slots get one or two", kRandom, 150000,
                              {1,
                               {1},
                               2,
                               nothing,
                               {[](One& heap) { heap.take_and_give(0, 0, 2), heap.take_and_give(0, 0); },
                                [](One& heap) { heap.take_and_give(0, 1), heap.take_and_give(0, 1, 2); }}}));
}

/// Several blocks of one type.
void add_blocks(std::vector<Entry>& all) {
  const auto twice = [](std::uint32_t who) {
    return [who](One& heap) { heap.take_and_give(0, who), heap.take_and_give(0, who); };
  };
  all.push_back(heap_entry<1>("churn_3", "three threads allocate and free, and never lack a slot", kRandom, 100000,
                              {2, {1}, 2, nothing, {twice(0), twice(1), twice(2)}}));
  all.push_back(heap_entry<1>("churn_pages_of_two", "the same in one page of two blocks", kRandom, 100000,
                              {1, {2}, 1, nothing, {twice(0), twice(1), twice(2)}}));
  const auto keep_and_free = [](std::uint32_t who) {
    return [who](One& heap) {
      const std::size_t kept = heap.take(0, who);
      heap.take_and_give(0, who);
      if (kept != One::kNothing) heap.give(kept, who);
    };
  };
  all.push_back(heap_entry<1>("displace", "openers replace each other's current block", kRandom, 100000,
                              {3, {1}, 1, nothing, {keep_and_free(0), keep_and_free(0)}}));
  all.push_back(heap_entry<1>("displace_3", "the same, three of them", kRandom, 100000,
                              {4, {1}, 1, nothing, {keep_and_free(0), keep_and_free(0), twice(0)}}));
  all.push_back(heap_entry<1>("displace_shared",
                              "a third opener may displace a block whose opener has just displaced another's", kRandom,
                              100000,
                              {3,
                               {1},
                               1,
                               nothing,
                               {[](One& heap) { heap.take(0, 0, 2); }, [](One& heap) { heap.take(0, 1); },
                                [](One& heap) { heap.take(0, 2); }}}));
  all.push_back(heap_entry<1>("forget_shared", "a shared current block is filled while another takes its place",
                              kRandom, 100000,
                              {3,
                               {1},
                               1,
                               [](One& heap) { heap.take(0, 0); },
                               {[](One& heap) { heap.take(0, 0); },  //
                                [](One& heap) { heap.take(0, 1); }}}));
  all.push_back(heap_entry<1>("adopt_shared", "a listed block is adopted while another is opened and becomes current",
                              kRandom, 100000,
                              {4,
                               {1},
                               1,
                               [](One& heap) { heap.take(0, 0, 2); },
                               {[](One& heap) { heap.give(0, 0); },  //
                                [](One& heap) { heap.take(0, 1); },  //
                                [](One& heap) { heap.take(0, 2); }}}));
  all.push_back(heap_entry<1>(
      "adopt_instead", "a listed block is adopted in the place of one that another warp has filled, and replaces",
      kRandom, 100000,
      {4,
       {1},
       1,
       [](One& heap) { heap.take(0, 0), heap.take(0, 0), heap.take(0, 0); },
       {[](One& heap) { heap.give(0, 0); },  //
        [](One& heap) { heap.take(0, 1); },  //
        [](One& heap) { heap.take(0, 2), heap.take(0, 2); }}}));
  all.push_back(heap_entry<1>("reclaim_current", "a current block is emptied while its owner allocates", kRandom,
                              100000, {2, {1}, 2, [](One& heap) { heap.take(0, 0); }, {twice(0), [](One& heap) {
                                                                                         heap.give(0, 1),
                                                                                             heap.take_and_give(0, 1);
                                                                                       }}}));
  all.push_back(heap_entry<1>("claim_page", "the two full blocks of a page are emptied", kRandom, 100000,
                              {1,
                               {2},
                               1,
                               [](One& heap) { heap.take(0, 0, 2), heap.take(0, 0, 2); },
                               {[](One& heap) { heap.give(0, 0); },  //
                                [](One& heap) { heap.give(1, 1); },  //
                                [](One& heap) { heap.take_and_give(0, 0); }}}));
  all.push_back(heap_entry<1>("claim_wide_page", "the four full blocks of a page, in two containers, are emptied",
                              kRandom, 100000,
                              {1,
                               {4},
                               2,
                               [](One& heap) {
                                 for (int i = 0; i < 4; ++i) heap.take(0, 0, 2);
                               },
                               {[](One& heap) { heap.give(0, 0), heap.give(2, 0); },  //
                                [](One& heap) { heap.give(3, 1), heap.give(1, 1); }}}));
  all.push_back(heap_entry<1>(
      "claim_wide_page_open", "the last block of such a page is emptied while others are opened and emptied", kRandom,
      100000,
      {1,
       {4},
       3,
       [](One& heap) {
         for (int i = 0; i < 4; ++i) heap.take(0, 0, 2);
         for (std::size_t i = 0; i < 3; ++i) heap.give(i, 0);
       },
       {[](One& heap) { heap.give(3, 0); },  //
        [](One& heap) { heap.take_and_give(0, 1, 2); }, [](One& heap) { heap.take_and_give(0, 2, 2); }}}));
  all.push_back(heap_entry<1>(
      "share_page", "three requests for blocks in a fresh heap, one of which gets a page for all", kRandom, 100000,
      {2,
       {2},
       3,
       [](One&) {},
       {[](One& heap) { heap.take_and_give(0, 0, 2); },  //
        [](One& heap) { heap.take(0, 1, 2); },           //
        [](One& heap) { heap.take_and_give(0, 2); }}}));
  all.push_back(heap_entry<1>("share_block",
                              "three requests that share a current block in a fresh heap; one at a time opens one",
                              kRandom, 100000,
                              {2,
                               {1},
                               1,
                               [](One&) {},
                               {[](One& heap) { heap.take_and_give(0, 0, 2); },  //
                                [](One& heap) { heap.take(0, 1, 2); },           //
                                [](One& heap) { heap.take_and_give(0, 2); }}}));
}

/// The upper half of a block whose opener took the lower one.
void add_halves(std::vector<Entry>& all) {
  const auto opened = [](OneOfFour& heap) { heap.take(0, 0, 2); };
  all.push_back(heap_entry<1, 4>("half_of_the_rest", "the upper half is asked for while a slot of it is taken", kRandom,
                                 100000,
                                 {1,
                                  {1},
                                  1,
                                  opened,
                                  {[](OneOfFour& heap) { heap.take_and_give(0, 0); },  //
                                   [](OneOfFour& heap) { heap.take_and_give(0, 1, 2); }}}));
  all.push_back(heap_entry<1, 4>(
      "half_and_free", "and the lower half is given back", kRandom, 100000,
      {1,
       {1},
       1,
       opened,
       {[](OneOfFour& heap) { heap.take(0, 0); }, [](OneOfFour& heap) { heap.take(0, 1, 2), heap.take_and_give(0, 1); },
        [](OneOfFour& heap) { heap.give(0, 2); }}}));
}

/// Blocks that change their type.
void add_types(std::vector<Entry>& all) {
  all.push_back(heap_entry<2>("change_type", "a request with a stale hint, while the page becomes another type's",
                              kRandom, 150000,
                              {1,
                               {1, 1},
                               2,
                               [](Two& heap) { heap.take(0, 1); },
                               {[](Two& heap) { heap.give(0, 0), heap.take_and_give(1, 0); },  //
                                [](Two& heap) { heap.take(0, 1); }}}));
  all.push_back(heap_entry<2>("change_type_back", "and back", kRandom, 100000,
                              {1,
                               {2, 1},
                               2,
                               [](Two& heap) { heap.take(0, 1); },
                               {[](Two& heap) { heap.give(0, 0), heap.take_and_give(1, 0), heap.take_and_give(0, 0); },
                                [](Two& heap) { heap.take_and_give(0, 1), heap.take_and_give(1, 1); }}}));
  all.push_back(heap_entry<2>("change_type_3", "three threads and two types share two pages", kRandom, 100000,
                              {2,
                               {1, 1},
                               1,
                               [](Two&) {},
                               {[](Two& heap) { heap.take_and_give(0, 0), heap.take_and_give(1, 0); },
                                [](Two& heap) { heap.take_and_give(0, 1), heap.take_and_give(1, 1); },
                                [](Two& heap) { heap.take_and_give(1, 2), heap.take_and_give(0, 2); }}}));
  all.push_back(heap_entry<2>("convert_page", "the last two blocks of a page are emptied, another type takes it",
                              kRandom, 100000,
                              {1,
                               {2, 1},
                               1,
                               [](Two& heap) { heap.take(0, 0, 2), heap.take(0, 0, 2); },
                               {[](Two& heap) { heap.give(0, 0), heap.take(1, 0); },  //
                                [](Two& heap) { heap.give(1, 1); },                   //
                                [](Two& heap) { heap.take_and_give(1, 2); }}}));
  all.push_back(heap_entry<2>(
      "displace_types", "a current block is displaced after it changed its type", kRandom, 100000,
      {2,
       {1, 1},
       1,
       [](Two& heap) { heap.take(0, 0); },
       {[](Two& heap) { heap.take(0, 0), heap.take_and_give(0, 0); },
        [](Two& heap) { heap.give(0, 1), heap.take_and_give(1, 1); }, [](Two& heap) { heap.take_and_give(1, 2); }}}));
}

/// Requests that may be refused.
void add_refusals(std::vector<Entry>& all) {
  all.push_back(heap_entry<1>("three_for_two", "three requests for two slots", kRandom, 150000,
                              {1,
                               {1},
                               1,
                               nothing,
                               {[](One& heap) { heap.take(0, 0); },  //
                                [](One& heap) { heap.take(0, 1); },  //
                                [](One& heap) { heap.take(0, 2); }}}));
  all.push_back(heap_entry<1>("full_or_free", "a request in a full heap while a slot is given back", kRandom, 150000,
                              {1,
                               {1},
                               2,
                               [](One& heap) { heap.take(0, 0), heap.take(0, 0); },
                               {[](One& heap) { heap.take(0, 1), heap.take(0, 1); },  //
                                [](One& heap) { heap.give(0, 0); }}}));
  all.push_back(heap_entry<1>("kept_proof", "refusals in a full heap, while slots are given back and taken", kRandom,
                              150000,
                              {1,
                               {1},
                               2,
                               [](One& heap) { heap.take(0, 0), heap.take(0, 0); },
                               {[](One& heap) { heap.take(0, 1), heap.take(0, 1); },  //
                                [](One& heap) { heap.take(0, 2), heap.take(0, 2); },  //
                                [](One& heap) { heap.give(0, 0), heap.take(0, 0), heap.give(1, 0); }}}));
  all.push_back(heap_entry<1>("one_slot_free", "a slot is always free: two threads move theirs", kRandom, 150000,
                              {2,
                               {1},
                               2,
                               [](One& heap) { heap.take(0, 0, 2), heap.take(0, 0); },
                               {[](One& heap) { heap.give(1, 0), heap.take(0, 0); },
                                [](One& heap) { heap.take_and_give(0, 1), heap.take_and_give(0, 1); }}}));
  all.push_back(heap_entry<1>(
      "proof_and_deletions",
      "a proof is kept after two blocks were opened, then two slots are given back and one taken", kRandom, 150000,
      {4,
       {1},
       3,
       [](One& heap) {
         for (int i = 0; i < 4; ++i) heap.take(0, 0);
       },
       {[](One& heap) { heap.take(0, 0, 2), heap.take(0, 0, 2), heap.take(0, 0), heap.raise(0, Order::relaxed); },
        [](One& heap) {
          heap.await(0, Order::relaxed), heap.give(0, 1), heap.raise(1, Order::release), heap.take(0, 1);
        },
        [](One& heap) { heap.await(1, Order::acquire), heap.give(2, 2), heap.take(0, 2); }}}));
  // Fills four blocks, keeps a proof of that, and frees a slot of the third or fourth.
  const One::Script one_of_eight = [](One& heap) {
    for (int i = 0; i < 9; ++i) heap.take(0, 0);
    heap.give(4, 0);
  };
  all.push_back(
      heap_entry<1>("moving_slot", "a slot is always free: one is taken after another was given back", kRandom, 150000,
                    {4,
                     {1},
                     3,
                     one_of_eight,
                     {[](One& heap) { heap.give(0, 0), heap.raise(0, Order::release); },
                      [](One& heap) { heap.await(0, Order::acquire), heap.take(0, 1), heap.raise(1, Order::relaxed); },
                      [](One& heap) { heap.await(1, Order::relaxed), heap.take(0, 2); }}}));
  all.push_back(heap_entry<1>(
      "moving_slot_of_two", "the same, with a request for two that gets one", kRandom, 150000,
      {4,
       {1},
       3,
       one_of_eight,
       {[](One& heap) { heap.give(0, 0), heap.raise(0, Order::release); },
        [](One& heap) { heap.await(0, Order::acquire), heap.take(0, 1, 2); }, [](One& heap) { heap.take(0, 2); }}}));
  all.push_back(heap_entry<1>(
      "moving_slots", "the same, and a slot is taken that is being given back", kRandom, 300000,
      {4,
       {1},
       3,
       one_of_eight,
       {[](One& heap) { heap.give(0, 0); },
        [](One& heap) { heap.take(0, 2), heap.give(2, 0), heap.take(0, 1), heap.raise(1, Order::relaxed); },
        [](One& heap) { heap.await(1, Order::relaxed), heap.take(0, 2); }}}));
  all.push_back(
      heap_entry<1>("proof_passed_on", "the same as proof_and_deletions, with a proof by a thread that changed nothing",
                    kRandom, 150000,
                    {4,
                     {1},
                     3,
                     [](One& heap) {
                       for (int i = 0; i < 4; ++i) heap.take(0, 0);
                     },
                     {[](One& heap) { heap.await(0, Order::acquire), heap.take(0, 0), heap.raise(1, Order::relaxed); },
                      [](One& heap) {
                        heap.await(1, Order::relaxed), heap.give(0, 1), heap.raise(2, Order::release), heap.take(0, 1);
                      },
                      [](One& heap) {
                        heap.take(0, 0, 2), heap.take(0, 0, 2), heap.raise(0, Order::release);
                        heap.await(2, Order::acquire), heap.give(2, 2), heap.take(0, 2);
                      }}}));
  all.push_back(heap_entry<2>(
      "kept_proof_page", "a page becomes free and is taken after a proof was kept", kRandom, 150000,
      {2,
       {1, 1},
       3,
       [](Two& heap) { heap.take(0, 0, 2), heap.take(1, 0), heap.take(0, 2); },
       {[](Two& heap) { heap.give(1, 0); }, [](Two& heap) { heap.take(0, 1), heap.raise(0, Order::release); },
        [](Two& heap) { heap.await(0, Order::acquire), heap.take(0, 2), heap.take(0, 2); }}}));
  all.push_back(heap_entry<1>(
      "one_block_free", "blocks open and close, and one is always free", kRandom, 150000,
      {3,
       {1},
       3,
       [](One& heap) { heap.take(0, 0, 2), heap.take(0, 1, 2); },
       {[](One& heap) { heap.give(0, 0), heap.take(0, 0, 2); }, [](One& heap) { heap.give(1, 1), heap.take(0, 1, 2); },
        [](One& heap) { heap.take_and_give(0, 2); }}}));
}

/// Whole blocks.
void add_whole_blocks(std::vector<Entry>& all) {
  all.push_back(heap_entry<1>("blocks_and_slots", "one takes whole blocks, the other slots, of two pages", kRandom,
                              100000,
                              {2,
                               {1},
                               2,
                               nothing,
                               {[](One& heap) { heap.take_and_give_blocks(0, 0); },  //
                                [](One& heap) { heap.take(0, 1), heap.take_and_give(0, 1); }}}));
  all.push_back(heap_entry<1>("blocks_of_two", "two take as many blocks as there are", kRandom, 100000,
                              {3,
                               {1},
                               2,
                               nothing,
                               {[](One& heap) { heap.take_blocks(0, 0); },  //
                                [](One& heap) { heap.take_blocks(0, 1), heap.take_blocks(0, 1, 1); }}}));
  all.push_back(heap_entry<1>("blocks_given_back", "slots of a full block are given back by another thread", kRandom,
                              100000,
                              {2,
                               {1},
                               2,
                               [](One& heap) { heap.take_blocks(0, 0, 1); },
                               {[](One& heap) { heap.give(0, 0), heap.take_and_give(0, 0); },  //
                                [](One& heap) { heap.give(1, 1), heap.take_blocks(0, 1, 1); }}}));
  all.push_back(heap_entry<1>("blocks_passed_on", "an object of a new block is deleted by who only knows its number",
                              kRandom, 100000,
                              {1,
                               {1},
                               2,
                               nothing,
                               {[](One& heap) {
                                  heap.take_blocks(0, 0, 1);
                                  heap.raise(0, Order::release);
                                },
                                [](One& heap) {
                                  heap.await(0, Order::acquire);
                                  heap.give(0, 1);
                                },
                                [](One& heap) {
                                  heap.await(0, Order::relaxed);
                                  heap.take(0, 2);
                                }}}));
  all.push_back(heap_entry<1>("blocks_of_a_page", "blocks of one page, whole and slot by slot", kRandom, 100000,
                              {1,
                               {2},
                               2,
                               nothing,
                               {[](One& heap) { heap.take_and_give_blocks(0, 0), heap.take_and_give_blocks(0, 0); },
                                [](One& heap) { heap.take_and_give(0, 1), heap.take_and_give(0, 1); }}}));
  all.push_back(heap_entry<1>("blocks_of_free_page", "one block of a free page is taken, the other is there for all",
                              kRandom, 100000,
                              {1,
                               {2},
                               2,
                               nothing,
                               {[](One& heap) { heap.take_and_give_blocks(0, 0, 1); },  //
                                [](One& heap) { heap.take(0, 1), heap.take_and_give(0, 1); }},
                               0}));
  all.push_back(heap_entry<2>("blocks_of_types", "pages go from one type to the other, whole blocks of both", kRandom,
                              100000,
                              {2,
                               {1, 1},
                               2,
                               [](Two&) {},
                               {[](Two& heap) { heap.take_and_give_blocks(0, 0), heap.take_and_give(1, 0); },
                                [](Two& heap) { heap.take_and_give(0, 1), heap.take_and_give_blocks(1, 1); }}}));
  all.push_back(heap_entry<2>("blocks_of_unlike_types", "the same with two blocks per page, and one", kRandom, 100000,
                              {2,
                               {2, 1},
                               2,
                               [](Two&) {},
                               {[](Two& heap) { heap.take_and_give_blocks(0, 0), heap.take_and_give_blocks(1, 0); },
                                [](Two& heap) { heap.take_and_give(0, 1), heap.take_and_give(1, 1); }}}));
  all.push_back(heap_entry<1>(
      "blocks_refusal", "a request is refused only while the blocks taken fill the heap", kRandom, 100000,
      {2,
       {1},
       2,
       nothing,
       {[](One& heap) { heap.take_and_give_blocks(0, 0); },
        [](One& heap) { heap.take(0, 1), heap.take_and_give(0, 1); }, [](One& heap) { heap.take_and_give(0, 2); }}}));
}

}  // namespace

std::vector<Entry> block_heap_scenarios() {
  std::vector<Entry> all;
  add_one_block(all);
  add_blocks(all);
  add_halves(all);
  add_types(all);
  add_refusals(all);
  add_whole_blocks(all);
  return all;
}

}  // namespace dynasoar::test
