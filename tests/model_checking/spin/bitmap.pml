/* Promela model of the hierarchical bitmap in allocator/include/dynasoar/heap/bitmap.h, for SPIN 6.5.
 *
 * What is modelled. Containers of 2 bits, on 2 or 3 levels. Every access to a word, of any level, is one step, in the
 * order of the code and named after the function that it is in. A complete search covers all interleavings of a scenario
 * under sequential consistency.
 *
 * What is simplified, always towards more behaviour:
 *   - A search may go down to any set bit of each container, where the code takes the one that is next to its start.
 *   - A wait is a step that cannot be taken before what it waits for is there. A wait that does not end is thus an
 *     invalid end state, which SPIN reports.
 *
 * What is checked: a bit that was set has one taker only; at rest, a bit above level 0 is set if and only if the
 * container below has a bit set; no wait hangs.
 *
 * How to run: run.py lists the scenarios and runs them. Parameters (-D):
 *   LEVELS                2 or 3; the bitmap has 4 or 8 bits
 *   INITIAL               mask of the bits that are set at first
 *   TAKE_TRIES            tries of clear_any
 *   THREAD0 .. THREAD2    what the threads do, all at once; 0 for a thread that is not there
 *   AT0 .. AT2            the position that a thread's operations 3 to 7 are about
 * What a thread does is a decimal number, a digit per operation, the last digit first:
 *   1   clear_any: take some bit                2   set one of the bits that this thread has taken
 *   3   set                                     4   clear
 *   5   try_clear: take the bit if it is set    6   set_many: all bits of the container
 *   7   claim_all: take all bits of the container, if all are set
 *   8   set_many: those of a container that this thread has taken
 */

#ifndef LEVELS
#define LEVELS 2
#endif
#ifndef INITIAL
#define INITIAL 0
#endif
#ifndef TAKE_TRIES
#define TAKE_TRIES 2
#endif
#ifndef THREAD0
#define THREAD0 0
#endif
#ifndef THREAD1
#define THREAD1 0
#endif
#ifndef THREAD2
#define THREAD2 0
#endif
#ifndef AT0
#define AT0 0
#endif
#ifndef AT1
#define AT1 0
#endif
#ifndef AT2
#define AT2 0
#endif

#if LEVELS == 2
#define BITS 4
#else
#define BITS 8
#endif
#define WORDS (BITS - 1)
#define BIT(i) (1 << (i))
#define NONE 15

/* Words of all levels, as in the code: level 0 first. */
#define LEVEL_BEGIN(level) (BITS - (BITS >> (level)))
#define WORD(level, index) words[LEVEL_BEGIN(level) + (index)]
#define CONTAINER(position) ((position) / 2)
#define MASK(position) BIT((position) % 2)
byte words[WORDS];

/* Ghosts. */
byte taken;  /* bits that a thread has taken and not begun to set again */
byte ended;

/* ---- private functions ---- */

inline switch_on(from, position) {
  level = from;
  at = position;
  do
  :: level < LEVELS ->
     d_step { /* switch_on: fetch_or */
       (WORD(level, CONTAINER(at)) & MASK(at)) == 0;
       before = WORD(level, CONTAINER(at));
       WORD(level, CONTAINER(at)) = before | MASK(at)
     };
     if
     :: before != 0 -> break
     :: else
     fi;
     at = CONTAINER(at);
     level++
  :: else -> break
  od;
  level = 0;
  at = 0;
  before = 0
}

inline switch_off(from, position) {
  level = from;
  at = position;
  do
  :: level < LEVELS ->
     d_step { /* switch_off: fetch_and */
       (WORD(level, CONTAINER(at)) & MASK(at)) != 0;
       before = WORD(level, CONTAINER(at));
       WORD(level, CONTAINER(at)) = before & ~MASK(at)
     };
     if
     :: before != MASK(at) -> break
     :: else
     fi;
     at = CONTAINER(at);
     level++
  :: else -> break
  od;
  level = 0;
  at = 0;
  before = 0
}

/* ---- public functions ---- */

inline set(position) { switch_on(0, position) }

/* Leaves in `got` whether the bit was set. */
inline try_clear(position) {
  d_step { /* try_clear: fetch_and */
    before = WORD(0, CONTAINER(position));
    WORD(0, CONTAINER(position)) = before & ~MASK(position)
  };
  got = (before & MASK(position)) != 0;
  if
  :: before == MASK(position) -> switch_off(1, CONTAINER(position))
  :: else
  fi;
  before = 0
}

/* Tries that fail change nothing, so only the last one is a step. */
inline clear(position) {
  d_step { /* clear: fetch_and */
    (WORD(0, CONTAINER(position)) & MASK(position)) != 0;
    before = WORD(0, CONTAINER(position));
    WORD(0, CONTAINER(position)) = before & ~MASK(position)
  };
  if
  :: before == MASK(position) -> switch_off(1, CONTAINER(position))
  :: else
  fi;
  before = 0
}

inline set_many(index, mask) {
  d_step { /* set_many: fetch_or */
    before = WORD(0, index);
    assert((before & mask) == 0);
    WORD(0, index) = before | mask
  };
  if
  :: before == 0 -> switch_on(1, index)
  :: else
  fi;
  before = 0
}

/* Leaves in `got` whether it has cleared the bits. */
inline claim_all(index, mask) {
  d_step { found = WORD(0, index) } /* claim_all: load */
  do
  :: (found & mask) == mask ->
     d_step { /* claim_all: compare_exchange */
       got = WORD(0, index) == found;
       if
       :: got -> WORD(0, index) = found & ~mask
       :: else -> found = WORD(0, index)
       fi
     };
     if
     :: got ->
        if
        :: found == mask -> switch_off(1, index)
        :: else
        fi;
        break
     :: else
     fi
  :: else -> break
  od;
  found = 0
}

/* Leaves in `position` a bit that was set a moment ago, or NONE; `got` says whether it is worth another try. */
inline find() {
  level = LEVELS - 1;
  at = 0;
  do
  :: d_step { found = WORD(level, at) } /* find_container: load */
     if
     :: found == 0 -> got = level != LEVELS - 1; position = NONE; break
     :: (found & 1) -> at = at * 2
     :: (found & 2) -> at = at * 2 + 1
     fi;
     if
     :: level == 0 -> got = 1; position = at; break
     :: else -> level--
     fi
  od;
  found = 0;
  level = 0;
  at = 0
}

/* Leaves the bit in `position`, and in `got` whether there is one. */
inline clear_any() {
  if /* where the search starts */
  :: at = 0
  :: at = 1
#if LEVELS > 2
  :: at = 2
  :: at = 3
#endif
  fi;
  d_step { found = WORD(0, at) } /* clear_any: load */
  if
  :: found == 0 -> position = NONE
  :: (found & 1) -> position = at * 2
  :: (found & 2) -> position = at * 2 + 1
  fi;
  found = 0;
  at = 0;
  do
  :: tries < TAKE_TRIES ->
     if
     :: position != NONE -> try_clear(position)
     :: else
     fi;
     if
     :: got -> break
     :: else
     fi;
     find();
     if
     :: got -> got = 0
     :: else -> break
     fi;
     tries++
  :: else -> break
  od;
  tries = 0
}

/* ---- what threads do ---- */

inline take(bits) {
  d_step {
    assert((taken & (bits)) == 0);
    taken = taken | (bits);
    mine = mine | (bits)
  }
}

inline give(bits) {
  d_step {
    assert((taken & (bits)) == (bits) && (mine & (bits)) == (bits));
    taken = taken & ~(bits);
    mine = mine & ~(bits)
  }
}

proctype thread(byte here; int program) {
  byte mine;
  byte level, at, before, found, position, tries;
  bit got;

  do
  :: program != 0 ->
     if
     :: program % 10 == 1 ->
        clear_any();
        if
        :: got -> take(BIT(position))
        :: else
        fi
     :: program % 10 == 2 && mine != 0 ->
        position = 0;
        do
        :: (mine & BIT(position)) == 0 -> position++
        :: else -> break
        od;
        give(BIT(position));
        set(position)
     :: program % 10 == 2 && mine == 0
     :: program % 10 == 3 -> set(here)
     :: program % 10 == 4 -> clear(here)
     :: program % 10 == 5 ->
        try_clear(here);
        if
        :: got -> take(BIT(here))
        :: else
        fi
     :: program % 10 == 6 -> set_many(CONTAINER(here), 3)
     :: program % 10 == 7 ->
        claim_all(CONTAINER(here), 3);
        if
        :: got -> take(3 << (CONTAINER(here) * 2))
        :: else
        fi
     :: program % 10 == 8 && mine != 0 ->
        position = CONTAINER(here);
        found = (mine >> (position * 2)) & 3;
        give(found << (position * 2));
        tries = found;
        found = 0;
        set_many(position, tries);
        tries = 0
     :: program % 10 == 8 && mine == 0
     fi;
     position = 0;
     got = 0;
     program = program / 10
  :: else -> break
  od;
  ended++
}

/* The rule for a bitmap at rest: a bit above is set if and only if the container below is not empty. */
inline check() {
  d_step {
    do
    :: level < LEVELS ->
       i = 0;
       do
       :: i < BITS >> level ->
          assert(((WORD(level, CONTAINER(i)) & MASK(i)) != 0) == (WORD(level - 1, i) != 0));
          i++
       :: else -> break
       od;
       level++
    :: else -> break
    od;
    level = 1
  }
}

#define THREADS ((THREAD0 != 0) + (THREAD1 != 0) + (THREAD2 != 0))

init {
  byte level = 1, i;
  atomic {
    do
    :: i < BITS ->
       if
       :: (INITIAL & BIT(i)) != 0 ->
          WORD(0, CONTAINER(i)) = WORD(0, CONTAINER(i)) | MASK(i);
          WORD(1, CONTAINER(CONTAINER(i))) = WORD(1, CONTAINER(CONTAINER(i))) | MASK(CONTAINER(i));
#if LEVELS > 2
          WORD(2, 0) = WORD(2, 0) | MASK(CONTAINER(CONTAINER(i)))
#endif
       :: else
       fi;
       i++
    :: else -> break
    od;
    i = 0;
    if :: THREAD0 != 0 -> run thread(AT0, THREAD0) :: else fi;
    if :: THREAD1 != 0 -> run thread(AT1, THREAD1) :: else fi;
    if :: THREAD2 != 0 -> run thread(AT2, THREAD2) :: else fi
  };
  ended == THREADS;
  check()
}
