// What two or three threads do in a heap of a few slots: pages, blocks per page of each type, current blocks, what is
// done before the threads start, and the script of each thread.
#include "heap_scenario.h"

namespace dynasoar::test {

namespace {

constexpr Scheduler kRandom = Scheduler::random;
constexpr Scheduler kBound = Scheduler::context_bound;

/// Adds a scenario of that many types.
template <int kTypes, int kSlots = 2>
void add(std::vector<Entry>& all, std::string name, std::string about,
         typename HeapScenario<kTypes, kSlots>::Setting setting, Scheduler scheduler = kRandom,
         std::uint64_t schedules = 100000) {
  all.push_back(entry_of<HeapScenario<kTypes, kSlots>>(std::move(name), std::move(about), std::move(setting), scheduler,
                                                       schedules));
}

/// One block.
void add_one_block(std::vector<Entry>& all) {
  add<1>(all, "allocate_allocate", "two requests for the two slots of the only block",
         {1, {1}, 1, {}, {{take(0, 0)}, {take(0, 1)}}}, kBound, 1000000);
  add<1>(all, "allocate_free", "a request while the only object is freed",
         {1, {1}, 1, {take(0, 0)}, {{take(0, 0)}, {give(0, 1)}}}, kRandom, 150000);
  add<1>(all, "free_last_allocate", "the same, with current blocks of their own",
         {1, {1}, 2, {take(0, 0)}, {{take_and_give(0, 1)}, {give(0, 0)}}}, kRandom, 150000);
  add<1>(all, "free_free", "both slots of a full block are given back",
         {1, {1}, 1, {take(0, 0), take(0, 0)}, {{give(0, 0)}, {give(1, 1)}}}, kBound, 1000000);
  add<1>(all, "fill_free", "the last slot is taken while the other is given back",
         {1, {1}, 2, {take(0, 0)}, {{take_and_give(0, 1), take(0, 1)}, {give(0, 0), take_and_give(0, 0)}}}, kRandom,
         150000);
  add<1>(all, "churn_2", "two threads allocate and free, and never lack a slot",
         {1, {1}, 1, {}, {{take_and_give(0, 0), take_and_give(0, 0)}, {take_and_give(0, 1), take_and_give(0, 1)}}},
         kRandom, 150000);
  add<1>(
      all, "both_slots", "requests for both slots get one or two",
      {1, {1}, 2, {}, {{take_and_give(0, 0, 2), take_and_give(0, 0)}, {take_and_give(0, 1), take_and_give(0, 1, 2)}}},
      kRandom, 150000);
}

/// Several blocks of one type.
void add_blocks(std::vector<Entry>& all) {
  const auto twice = [](std::uint32_t warp_id) { return Script(2, take_and_give(0, warp_id)); };
  add<1>(all, "churn_3", "three threads allocate and free, and never lack a slot",
         {2, {1}, 2, {}, {twice(0), twice(1), twice(2)}});
  add<1>(all, "churn_pages_of_two", "the same in one page of two blocks",
         {1, {2}, 1, {}, {twice(0), twice(1), twice(2)}});
  const auto keep_and_free = [](std::uint32_t warp_id) { return Script{take_and_give_around(0, warp_id)}; };
  add<1>(all, "displace", "openers replace each other's current block",
         {3, {1}, 1, {}, {keep_and_free(0), keep_and_free(0)}});
  add<1>(all, "displace_3", "the same, three of them", {4, {1}, 1, {}, {keep_and_free(0), keep_and_free(0), twice(0)}});
  add<1>(all, "displace_shared", "a third opener may displace a block whose opener has just displaced another's",
         {3, {1}, 1, {}, {{take(0, 0, 2)}, {take(0, 1)}, {take(0, 2)}}});
  add<1>(all, "forget_shared", "a shared current block is filled while another takes its place",
         {3, {1}, 1, {take(0, 0)}, {{take(0, 0)}, {take(0, 1)}}});
  add<1>(all, "adopt_shared", "a listed block is adopted while another is opened and becomes current",
         {4, {1}, 1, {take(0, 0, 2)}, {{give(0, 0)}, {take(0, 1)}, {take(0, 2)}}});
  add<1>(all, "adopt_instead",
         "a listed block is adopted in the place of one that another warp has filled, and replaces",
         {4, {1}, 1, {take(0, 0), take(0, 0), take(0, 0)}, {{give(0, 0)}, {take(0, 1)}, {take(0, 2), take(0, 2)}}});
  add<1>(all, "reclaim_current", "a current block is emptied while its owner allocates",
         {2, {1}, 2, {take(0, 0)}, {twice(0), {give(0, 1), take_and_give(0, 1)}}});
  add<1>(all, "claim_page", "the two full blocks of a page are emptied",
         {1, {2}, 1, {take(0, 0, 2), take(0, 0, 2)}, {{give(0, 0)}, {give(1, 1)}, {take_and_give(0, 0)}}});
  add<1>(all, "claim_wide_page", "the four full blocks of a page, in two containers, are emptied",
         {1, {4}, 2, Script(4, take(0, 0, 2)), {{give(0, 0), give(2, 0)}, {give(3, 1), give(1, 1)}}});
  add<1>(all, "claim_wide_page_open", "the last block of such a page is emptied while others are opened and emptied",
         {1,
          {4},
          3,
          {take(0, 0, 2), take(0, 0, 2), take(0, 0, 2), take(0, 0, 2), give(0, 0), give(1, 0), give(2, 0)},
          {{give(3, 0)}, {take_and_give(0, 1, 2)}, {take_and_give(0, 2, 2)}}});
  add<1>(all, "share_page", "three requests for blocks in a fresh heap, one of which gets a page for all",
         {2, {2}, 3, {}, {{take_and_give(0, 0, 2)}, {take(0, 1, 2)}, {take_and_give(0, 2)}}});
  add<1>(all, "share_block", "three requests that share a current block in a fresh heap; one at a time opens one",
         {2, {1}, 1, {}, {{take_and_give(0, 0, 2)}, {take(0, 1, 2)}, {take_and_give(0, 2)}}});
}

/// The upper half of a block whose opener took the lower one. Blocks have four slots, so that a half is two.
void add_halves(std::vector<Entry>& all) {
  const Script opened{take(0, 0, 2)};
  add<1, 4>(all, "half_of_the_rest", "the upper half is asked for while a slot of it is taken",
            {1, {1}, 1, opened, {{take_and_give(0, 0)}, {take_and_give(0, 1, 2)}}});
  add<1, 4>(all, "half_and_free", "and the lower half is given back",
            {1, {1}, 1, opened, {{take(0, 0)}, {take(0, 1, 2), take_and_give(0, 1)}, {give(0, 2)}}});
}

/// Blocks that change their type.
void add_types(std::vector<Entry>& all) {
  add<2>(all, "change_type", "a request with a stale hint, while the page becomes another type's",
         {1, {1, 1}, 2, {take(0, 1)}, {{give(0, 0), take_and_give(1, 0)}, {take(0, 1)}}}, kRandom, 150000);
  add<2>(all, "change_type_back", "and back",
         {1,
          {2, 1},
          2,
          {take(0, 1)},
          {{give(0, 0), take_and_give(1, 0), take_and_give(0, 0)}, {take_and_give(0, 1), take_and_give(1, 1)}}});
  add<2>(all, "change_type_3", "three threads and two types share two pages",
         {2,
          {1, 1},
          1,
          {},
          {{take_and_give(0, 0), take_and_give(1, 0)},
           {take_and_give(0, 1), take_and_give(1, 1)},
           {take_and_give(1, 2), take_and_give(0, 2)}}});
  add<2>(
      all, "convert_page", "the last two blocks of a page are emptied, another type takes it",
      {1, {2, 1}, 1, {take(0, 0, 2), take(0, 0, 2)}, {{give(0, 0), take(1, 0)}, {give(1, 1)}, {take_and_give(1, 2)}}});
  add<2>(all, "displace_types", "a current block is displaced after it changed its type",
         {2,
          {1, 1},
          1,
          {take(0, 0)},
          {{take(0, 0), take_and_give(0, 0)}, {give(0, 1), take_and_give(1, 1)}, {take_and_give(1, 2)}}});
}

/// Requests that may be refused.
void add_refusals(std::vector<Entry>& all) {
  add<1>(all, "three_for_two", "three requests for two slots",
         {1, {1}, 1, {}, {{take(0, 0)}, {take(0, 1)}, {take(0, 2)}}}, kRandom, 150000);
  add<1>(all, "full_or_free", "a request in a full heap while a slot is given back",
         {1, {1}, 2, {take(0, 0), take(0, 0)}, {{take(0, 1), take(0, 1)}, {give(0, 0)}}}, kRandom, 150000);
  add<1>(all, "kept_proof", "refusals in a full heap, while slots are given back and taken",
         {1,
          {1},
          2,
          {take(0, 0), take(0, 0)},
          {{take(0, 1), take(0, 1)}, {take(0, 2), take(0, 2)}, {give(0, 0), take(0, 0), give(1, 0)}}},
         kRandom, 150000);
  add<1>(
      all, "one_slot_free", "a slot is always free: two threads move theirs",
      {2, {1}, 2, {take(0, 0, 2), take(0, 0)}, {{give(1, 0), take(0, 0)}, {take_and_give(0, 1), take_and_give(0, 1)}}},
      kRandom, 150000);
  add<1>(all, "proof_and_deletions",
         "a proof is kept after two blocks were opened, then two slots are given back and one taken",
         {4,
          {1},
          3,
          Script(4, take(0, 0)),
          {{take(0, 0, 2), take(0, 0, 2), take(0, 0), raise(0, Order::relaxed)},
           {await(0, Order::relaxed), give(0, 1), raise(1, Order::release), take(0, 1)},
           {await(1, Order::acquire), give(2, 2), take(0, 2)}}},
         kRandom, 150000);
  // Fills four blocks, keeps a proof of that, and frees a slot of the third or fourth.
  Script one_of_eight(9, take(0, 0));
  one_of_eight.push_back(give(4, 0));
  add<1>(all, "moving_slot", "a slot is always free: one is taken after another was given back",
         {4,
          {1},
          3,
          one_of_eight,
          {{give(0, 0), raise(0, Order::release)},
           {await(0, Order::acquire), take(0, 1), raise(1, Order::relaxed)},
           {await(1, Order::relaxed), take(0, 2)}}},
         kRandom, 150000);
  add<1>(all, "moving_slot_of_two", "the same, with a request for two that gets one",
         {4,
          {1},
          3,
          one_of_eight,
          {{give(0, 0), raise(0, Order::release)}, {await(0, Order::acquire), take(0, 1, 2)}, {take(0, 2)}}},
         kRandom, 150000);
  add<1>(all, "moving_slots", "the same, and a slot is taken that is being given back",
         {4,
          {1},
          3,
          one_of_eight,
          {{give(0, 0)},
           {take(0, 2), give(2, 0), take(0, 1), raise(1, Order::relaxed)},
           {await(1, Order::relaxed), take(0, 2)}}},
         kRandom, 300000);
  add<1>(all, "proof_passed_on", "the same as proof_and_deletions, with a proof by a thread that changed nothing",
         {4,
          {1},
          3,
          Script(4, take(0, 0)),
          {{await(0, Order::acquire), take(0, 0), raise(1, Order::relaxed)},
           {await(1, Order::relaxed), give(0, 1), raise(2, Order::release), take(0, 1)},
           {take(0, 0, 2), take(0, 0, 2), raise(0, Order::release), await(2, Order::acquire), give(2, 2), take(0, 2)}}},
         kRandom, 150000);
  add<2>(all, "kept_proof_page", "a page becomes free and is taken after a proof was kept",
         {2,
          {1, 1},
          3,
          {take(0, 0, 2), take(1, 0), take(0, 2)},
          {{give(1, 0)}, {take(0, 1), raise(0, Order::release)}, {await(0, Order::acquire), take(0, 2), take(0, 2)}}},
         kRandom, 150000);
  add<1>(all, "one_block_free", "blocks open and close, and one is always free",
         {3,
          {1},
          3,
          {take(0, 0, 2), take(0, 1, 2)},
          {{give(0, 0), take(0, 0, 2)}, {give(1, 1), take(0, 1, 2)}, {take_and_give(0, 2)}}},
         kRandom, 150000);
}

/// Whole blocks.
void add_whole_blocks(std::vector<Entry>& all) {
  add<1>(all, "blocks_and_slots", "one takes whole blocks, the other slots, of two pages",
         {2, {1}, 2, {}, {{take_and_give_blocks(0, 0)}, {take(0, 1), take_and_give(0, 1)}}});
  add<1>(all, "blocks_of_two", "two take as many blocks as there are",
         {3, {1}, 2, {}, {{take_blocks(0, 0)}, {take_blocks(0, 1), take_blocks(0, 1, 1)}}});
  add<1>(all, "blocks_given_back", "slots of a full block are given back by another thread",
         {2, {1}, 2, {take_blocks(0, 0, 1)}, {{give(0, 0), take_and_give(0, 0)}, {give(1, 1), take_blocks(0, 1, 1)}}});
  add<1>(all, "blocks_passed_on", "an object of a new block is deleted by a thread that only knows its number",
         {1,
          {1},
          2,
          {},
          {{take_blocks(0, 0, 1), raise(0, Order::release)},
           {await(0, Order::acquire), give(0, 1)},
           {await(0, Order::relaxed), take(0, 2)}}});
  add<1>(all, "blocks_of_a_page", "blocks of one page, whole and slot by slot",
         {1,
          {2},
          2,
          {},
          {{take_and_give_blocks(0, 0), take_and_give_blocks(0, 0)}, {take_and_give(0, 1), take_and_give(0, 1)}}});
  add<1>(all, "blocks_of_free_page", "one block of a free page is taken, the other is there for all",
         {1, {2}, 2, {}, {{take_and_give_blocks(0, 0, 1)}, {take(0, 1), take_and_give(0, 1)}}, 0});
  add<2>(all, "blocks_of_types", "pages go from one type to the other, whole blocks of both",
         {2,
          {1, 1},
          2,
          {},
          {{take_and_give_blocks(0, 0), take_and_give(1, 0)}, {take_and_give(0, 1), take_and_give_blocks(1, 1)}}});
  add<2>(all, "blocks_of_unlike_types", "the same with two blocks per page, and one",
         {2,
          {2, 1},
          2,
          {},
          {{take_and_give_blocks(0, 0), take_and_give_blocks(1, 0)}, {take_and_give(0, 1), take_and_give(1, 1)}}});
  add<1>(all, "blocks_refusal", "a request is refused only while the blocks taken fill the heap",
         {2, {1}, 2, {}, {{take_and_give_blocks(0, 0)}, {take(0, 1), take_and_give(0, 1)}, {take_and_give(0, 2)}}});
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
