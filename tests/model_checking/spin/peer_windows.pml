/* Promela model of the exchange of ghosts in allocator/include/dynasoar/platform/peer_windows.h, for SPIN 6.5.
 *
 * What is modelled. RANKS processes in a ring (periodic) or a row; each exchanges with the one before it (side 0) and the
 * one behind it (side 1), EPOCHS times. A process has, for each side, WINDOWS windows and a flag. In epoch k it writes a
 * message into a window of each neighbour (two steps: a message has two halves), stores k in the neighbours' flags, waits
 * for its own flags, and reads the messages (two steps, too).
 *
 * The memory model. A write of another process's window may become visible late: it stands in a buffer of the writer for
 * this window until some step of a memory process takes it from there, in any order. A flag is stored with release: the
 * step cannot be taken while writes of this process are buffered. So a mutant that releases too early is noticed.
 *
 * A process may also be slow or gone: with ABSENT, the last process stops after its first exchange. Then others' patience
 * may end, at any time in a wait, and they take part in no further exchange (has_failed). Without ABSENT, patience does
 * not end.
 *
 * What is checked: a message that is read is that of the epoch; nobody writes a window that its owner still reads or has
 * not read; without ABSENT all exchanges come to an end; with it, each process ends, and knows of a failure if its
 * neighbour is absent.
 *
 * How to run: run.py lists the scenarios and runs them. Parameters (-D): RANKS, EPOCHS, WINDOWS, RING, ABSENT.
 */

#ifndef RANKS
#define RANKS 2
#endif
#ifndef EPOCHS
#define EPOCHS 4
#endif
#ifndef WINDOWS
#define WINDOWS 2
#endif
#ifndef RING
#define RING 1
#endif
#ifndef ABSENT
#define ABSENT 0
#endif
#define NOBODY 255

/* Windows, halves and flags of side s of process p. */
#define AT(p, s) ((p) * 2 + (s))
#define WINDOW(p, s, k) (AT(p, s) * WINDOWS + (k) % WINDOWS)
#define HALF(p, s, k, h) (WINDOW(p, s, k) * 2 + (h))
#define HALVES (RANKS * 2 * WINDOWS * 2)

byte memory[HALVES];    /* the epoch of what a half of a window has */
byte buffered[HALVES];  /* what its only writer has written, and is not visible yet; 0: nothing */
byte flag[RANKS * 2];   /* what has arrived, says the neighbour of this side */
bool reads[HALVES];     /* its owner has not finished reading it: set when the message is complete */
bool failed[RANKS];
byte ended;

inline find_neighbours() {
  d_step {
    neighbour[0] = (me > 0 -> me - 1 : (RING -> RANKS - 1 : NOBODY));
    neighbour[1] = (me < RANKS - 1 -> me + 1 : (RING -> 0 : NOBODY))
  }
}

/* A half of the message for a side. */
inline write(s, h) {
  d_step {
    if
    :: neighbour[s] != NOBODY ->
       assert(!reads[HALF(neighbour[s], 1 - s, epoch, h)]);
       assert(buffered[HALF(neighbour[s], 1 - s, epoch, h)] == 0);
       buffered[HALF(neighbour[s], 1 - s, epoch, h)] = epoch
    :: else
    fi
  }
}

#define IS_VISIBLE(s) (neighbour[s] == NOBODY || \
  (buffered[HALF(neighbour[s], 1 - s, epoch, 0)] == 0 && buffered[HALF(neighbour[s], 1 - s, epoch, 1)] == 0))

inline signal(s) {
  d_step {
    if
    :: neighbour[s] != NOBODY ->
       flag[AT(neighbour[s], 1 - s)] = epoch;
       reads[HALF(neighbour[s], 1 - s, epoch, 0)] = true;
       reads[HALF(neighbour[s], 1 - s, epoch, 1)] = true
    :: else
    fi
  }
}

inline wait_for(s) {
  if
  :: neighbour[s] == NOBODY || failed[me]
  :: atomic { neighbour[s] != NOBODY && !failed[me] && flag[AT(me, s)] >= epoch }
  :: atomic { ABSENT && neighbour[s] != NOBODY && !failed[me] && flag[AT(me, s)] < epoch -> failed[me] = true }
  fi
}

inline read(s, h) {
  d_step {
    if
    :: neighbour[s] != NOBODY && !failed[me] ->
       assert(memory[HALF(me, s, epoch, h)] == epoch);
       reads[HALF(me, s, epoch, h)] = false
    :: else
    fi
  }
}

proctype rank(byte me) {
  byte epoch = 0;
  byte neighbour[2];
  find_neighbours();
  do
  :: epoch < EPOCHS && !failed[me] && !(ABSENT && me == RANKS - 1 && epoch == 1) ->
     epoch++;
     write(0, 0); write(1, 0); write(0, 1); write(1, 1);
     IS_VISIBLE(0) && IS_VISIBLE(1); /* exchange: release */
     signal(0); signal(1);
     wait_for(0); wait_for(1);
     read(0, 0); read(1, 0); read(0, 1); read(1, 1)
  :: else -> break
  od;
  assert(failed[me] || epoch == EPOCHS || (ABSENT && me == RANKS - 1));
  ended++
}

/* Makes what is buffered visible, in any order. */
proctype arrival(byte i) {
  end:
  do
  :: d_step { buffered[i] != 0 -> memory[i] = buffered[i]; buffered[i] = 0 }
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. HALVES - 1) { run arrival(i) }
    for (i : 0 .. RANKS - 1) { run rank(i) }
  }
  ended == RANKS;
  assert(!ABSENT || RANKS < 2 || failed[RANKS - 2] || EPOCHS == 1)
}
