/*
 * How ranks meet in device memory: native/cuda/kernels/signal.cu and what is built on it, as a model for SPIN.
 *
 * Three ranks run a few operations on one channel, each on a stream of its own: the caller writes its data, `meet`
 * (entry), a pass that reads all peers' data where it lies, `meet` (exit). Then the caller writes its data anew,
 * whatever became of the operation. In the end each leaves, which its peers are told by the same word as a failure.
 * One rank may announce something else than the others or stay away for good, and all may give up waiting at any
 * moment, as at a deadline.
 *
 * Each assignment and each guard is one step, and steps interleave in every order; what the orders of memory add to
 * that is test/tsan's matter.
 *
 * Properties:
 *  - every rank ends, though only DEADLINES meetings end by their deadline (no invalid end state)
 *  - an operation that succeeds has read its peers' data of that operation, neither before they wrote it nor after
 *  - a pass follows only what a peer announced for that operation, even if the operation fails in the end
 *  - nobody succeeds where one announces something else
 *  - nobody succeeds in an operation after one in which somebody failed
 *  - all succeed if nobody gives up, stays away or announces something else
 *
 * With one of these left out the model must be found wrong: NO_ENTRY, NO_EXIT (the meetings), NO_COMPARISON (of what
 * is announced), NO_ABORTS, NO_RETREAT (a rank that gives up takes back that it has come), NO_POISON (a rank that has
 * failed comes to no later meeting). And with these put in: UNSIGNED (comparison of epochs), EPOCH_FIRST (the epoch
 * told before what is announced).
 */

#define RANKS 3
#ifndef OPERATIONS
#define OPERATIONS 2
#endif
/* Meetings that may end by their deadline, of all ranks. */
#ifndef DEADLINES
#define DEADLINES 1
#endif

/* Epochs wrap in the first operation. */
#define EPOCHS 8
#define FIRST_EPOCH (EPOCHS - 2)

/* Whether who is at epoch `theirs` has come to `mine`. */
#ifdef UNSIGNED
#define REACHES(theirs, mine) ((theirs) >= (mine))
#else
#define REACHES(theirs, mine) (((theirs) + EPOCHS - (mine)) % EPOCHS < EPOCHS / 2)
#endif

/* In this rank's own pad. */
#define HAS_COME(peer) REACHES(pads[me].epoch[peer], epoch)
#define HAS_ABORTED(peer) pads[me].abort[peer]
/* One that came to the end of an operation may have failed, or left, at what it did next. */
#define WILL_NOT_COME(peer, announces) (HAS_ABORTED(peer) && (announces || !HAS_COME(peer)))

/* What is announced: the number of the operation, or that plus this. */
#define SOMETHING_ELSE 100

/* What a rank's peers write and it reads, by sender. */
typedef Pad {
  byte epoch[RANKS];
  byte announced[RANKS];
  bool abort[RANKS]
}
Pad pads[RANKS];

/* The operation whose data a rank's memory holds. */
byte data[RANKS];

/* What has happened, for the properties alone. */
byte deadlines_left = DEADLINES;
bool undisturbed = true;
byte different_in;
byte failed_in = OPERATIONS + 1; /* the first operation in which anybody failed */
byte succeeded_in;               /* the last operation in which anybody succeeded */

inline fail() {
  atomic {
    failed = true;
    assert(!undisturbed);
    assert(succeeded_in <= operation);
    failed_in = (operation < failed_in -> operation : failed_in)
  }
}

/* Whoever sees the epoch sees what was announced before it, and nobody looks at that earlier: one step for both. */
inline tell(peer, announces) {
#ifdef EPOCH_FIRST
  pads[peer].epoch[me] = epoch;
#endif
  atomic {
    if
    :: announces -> pads[peer].announced[me] = mine
    :: else
    fi;
#ifndef EPOCH_FIRST
    pads[peer].epoch[me] = epoch
#endif
  }
}

inline wait_for(peer, announces) {
  if
  :: atomic {
       HAS_COME(peer) ->
       if
#ifndef NO_COMPARISON
       :: announces && pads[me].announced[peer] != mine -> differs = true
#endif
       :: announces && HAS_ABORTED(peer) -> gives_up = true
       :: else
       fi
     }
  :: atomic { WILL_NOT_COME(first, announces) || WILL_NOT_COME(second, announces) -> gives_up = true }
  :: atomic {
       late || deadlines_left > 0 ->
       deadlines_left = (late -> deadlines_left : deadlines_left - 1);
       late = true;
       undisturbed = false;
       gives_up = true
     }
  fi
}

inline tell_abort(peer) {
#ifndef NO_RETREAT
  /* But for a mismatch, which its peers are to find themselves. */
  if
  :: differs
  :: else -> pads[peer].epoch[me] = (epoch + EPOCHS - 1) % EPOCHS
  fi;
#endif
#ifndef NO_ABORTS
  pads[peer].abort[me] = true
#endif
}

/* A thread for each peer tells it, waits for it and tells it what has become of that. What one thread does next to
 * the others is no more than what one does after the others, in either order. */
inline meet(announces) {
  atomic {
    epoch = (epoch + 1) % EPOCHS;
    /* One rank that is free to choose makes the others turn to their peers in either order, as seen from it. */
    if
    :: true -> first = (me + 1) % RANKS; second = (me + 2) % RANKS
    :: me == 0 -> first = (me + 2) % RANKS; second = (me + 1) % RANKS
    fi
  }
  if
  :: failed
#ifndef NO_POISON
  :: !failed && HAS_ABORTED(me) -> fail()
  :: !failed && !HAS_ABORTED(me) ->
#else
  :: !failed ->
#endif
     tell(first, announces);
     tell(second, announces);
     wait_for(first, announces);
     wait_for(second, announces);
     if
     :: differs || gives_up ->
        pads[me].abort[me] = true;
        tell_abort(first);
        tell_abort(second);
        fail()
     :: else
     fi
  fi;
  atomic { differs = false; gives_up = false; late = false; first = 0; second = 0 }
}

inline read(peer) {
  atomic {
    if
    :: failed
    :: else ->
#ifndef NO_ENTRY
       assert(pads[me].announced[peer] == mine);
#endif
       spoilt = spoilt || data[peer] != operation
    fi
  }
}

inline end_operation() {
  atomic {
    if
    :: failed
    :: else ->
       assert(!spoilt);
       assert(different_in != operation);
       assert(failed_in >= operation);
       succeeded_in = (operation > succeeded_in -> operation : succeeded_in)
    fi;
    spoilt = false;
    /* The host clears a stream's status, and may start what follows before it has looked at what it said. */
    if
    :: failed = false
    :: failed
    fi;
    operation++
  }
}

proctype Rank(byte me) {
  byte epoch = FIRST_EPOCH;
  byte operation = 1;
  byte mine;
  byte first;
  byte second;
  bool failed;
  bool spoilt;
  bool differs;
  bool gives_up;
  bool late;

  do
  :: operation > OPERATIONS -> break
  :: else ->
     atomic {
       data[me] = operation;
       /* No rank is unlike another, so the first does for any. */
       if
       :: mine = operation
       :: me == 0 && different_in == 0 ->
          different_in = operation;
          undisturbed = false;
          mine = operation + SOMETHING_ELSE
       :: me == 0 && different_in == 0 ->
          undisturbed = false;
          goto away
       fi
     }
#ifndef NO_ENTRY
     meet(true);
#endif
     read((me + 1) % RANKS);
     read((me + 2) % RANKS);
#ifndef NO_EXIT
     meet(false);
#endif
     end_operation()
  od;
  data[me] = operation;
  /* It leaves. */
  atomic { pads[(me + 1) % RANKS].abort[me] = true; pads[(me + 2) % RANKS].abort[me] = true };
away:
  skip
}

init {
  atomic {
    byte rank;
    byte sender;
    for (rank : 0 .. RANKS - 1) {
      for (sender : 0 .. RANKS - 1) {
        pads[rank].epoch[sender] = FIRST_EPOCH
      }
      run Rank(rank)
    }
  }
}
