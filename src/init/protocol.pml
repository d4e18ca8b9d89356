/*
 * The conversation of init and its supervisor about one stop, for the model checker SPIN. It visits every order of stop
 * requests, ends, deaths, hangs and sleeps. protocol.md describes the conversation; each step names its function in C.
 *
 * Time has three values: a request has just come, its wait is over, its grace period is over. Anything may happen in
 * between. -DWITHOUT_x takes a rule out, and a property must fail then: test/init/model.test.ts, which also holds these
 * lists against the code.
 *
 * In the model: signal ordered exited killed end-written
 *   ack memo kill stop orders due sleep exit
 * Left out, as they change nothing about a stop: spawned spawn-failed roots-gone told helper-exited helper-killed
 *   helper-failed notified silent notify watchdog spawn listen exec end-helper watch connections texts
 */
#define MAX_EVENTS 6
#ifdef WITHOUT_RECORD
#define RECORDS false
#else
#define RECORDS true
#endif
#define STOP 1
#define CLIMB 2
#define GONE 4
#define KILLED 8
#define HAS(bit) ((state & bit) != 0)
#define LEFT(bit) ((memo & bit) != 0)

mtype = { SIGNAL, FORWARDED, STOP_SENT, EXITED, OVERDUE, END_WRITTEN };

/* What can be seen from outside. A deaf command ends by KILL only. */
bool alive = true, deaf, has_ended, has_record, is_leaving_unrecorded;
bool has_mains, mains_ended;
byte requests, signals, time;

/* What is still to come from the kubelet, the kernel and Node. */
byte requests_to_come = 2, deaths_to_come = 3, starts_to_come = 3;
byte arriving;
bool exit_to_reap;

/* init */
mtype kind[MAX_EVENTS];
byte last, acked, memo;
bool is_running, has_committed, hangs, is_asleep, is_alone, once, has_kill_at, has_stopped, is_overdue;
chan commits = [1] of { byte /* ack */, byte /* memo */, byte /* KILL, signal or none */, bool /* exit */, bool /* sleep */ };

/* supervisor */
byte state, seen;

inline push(what) { kind[last] = what; last++ }

inline deliver() {
  if
  :: alive -> assert(signals == 0); signals++
  :: else
  fi
}

inline deliver_kill() {
  if
  :: alive ->
    assert(signals > 0);
    alive = false; exit_to_reap = true
  :: else
  fi
}

#define ANY(is) (is(0) || is(1) || is(2) || is(3) || is(4) || is(5))
/* orders.c, oldest_stop: a request that no supervisor has acknowledged. */
#define WAITING(i) (acked <= i && i < last && kind[i] == SIGNAL)
#define HAS_REQUEST ANY(WAITING)
#define PASSED(i) (acked <= i && i < last && kind[i] == FORWARDED)
#define HAS_PASSED ANY(PASSED)
/* roots.c, continue_rung: a signal of init that no supervisor has acknowledged. */
#define SENT(i) (acked <= i && i < last && (kind[i] == FORWARDED || kind[i] == STOP_SENT))
#ifdef WITHOUT_FORWARDED
#define WAS_FORWARDED false
#else
#define WAS_FORWARDED ANY(SENT)
#endif
/* supervisor.c, supervisor_gone_at */
#define OWES (!has_committed || acked < last || LEFT(GONE))
#define IS_GONE (!is_running || OWES)
/* orders.c, time_of: the rows unheard and lost */
#ifdef WITHOUT_LOST
#define PLANNED false
#else
#define PLANNED (LEFT(STOP) && !LEFT(CLIMB) && (IS_GONE || time == 2))
#endif
#define STOP_IS_DUE (!has_stopped && !HAS_PASSED && time > 0 && ((HAS_REQUEST && !LEFT(CLIMB)) || PLANNED))
#define KILL_IS_DUE (!is_overdue && time == 2 && (HAS_REQUEST || HAS_PASSED || has_kill_at))

/* orders.c, send_stop */
inline send_stop() { deliver(); has_stopped = true; push(STOP_SENT) }

inline start_supervisor() {
  starts_to_come--;
  is_running = true; has_committed = false; is_asleep = false; is_alone = false;
  state = memo; seen = acked
}

inline lose_supervisor() { is_running = false; hangs = false; state = 0; seen = 0 }

active proctype init_process() {
  byte ack, left, order;
  bool leaves, sleeps;
  /* A main without drain, one with a drain, or a sidecar. */
  if
  :: atomic { once = true; start_supervisor() }
  :: atomic { start_supervisor() }
  :: atomic { has_mains = true; start_supervisor() }
  fi;
  do
  :: has_ended -> break
  /* commit.c: a commit is applied whole, also one whose sender is dead. */
  :: atomic { !has_ended && nempty(commits) ->
    commits?ack, left, order, leaves, sleeps;
    has_committed = is_running;
    is_alone = false;
#ifdef WITHOUT_WHOLE_COMMITS
    if
    :: acked = ack; goto applied
    :: skip
    fi;
#endif
    if
    :: ack > acked -> acked = ack
    :: else
    fi;
    memo = left;
    has_kill_at = has_kill_at || (left & STOP);
    if
    :: order == 1 && !WAS_FORWARDED -> deliver()
    :: order == 2 -> deliver_kill()
    :: else
    fi;
    if
    :: leaves -> has_ended = true
#ifdef WITHOUT_LOOK_BEFORE_SLEEP
    :: sleeps -> is_asleep = true; acked = last; lose_supervisor()
#else
    :: sleeps && is_running && acked == last && arriving == 0 && !exit_to_reap && !mains_ended ->
      is_asleep = true; lose_supervisor()
#endif
    :: else
    fi;
applied: ack = 0; left = 0; order = 0; leaves = false; sleeps = false /* fewer states */
    }
  /* signals.c, on_signal */
  :: atomic { !has_ended && arriving > 0 && last < MAX_EVENTS ->
    arriving--; requests++;
    if
    :: once && alive -> once = false; deliver(); push(FORWARDED)
    :: is_alone && (has_stopped || LEFT(CLIMB)) -> skip /* passed on as it came */
    :: else -> push(SIGNAL)
    fi
    }
  /* mains.c: the row holds while no event waits. */
  :: atomic { !has_ended && mains_ended && alive && acked == last && !has_stopped && !LEFT(STOP) && last < MAX_EVENTS ->
    send_stop(); has_kill_at = true
    }
  /* reap.c, and the rows of ends.c while the supervisor sleeps. */
  :: atomic { !has_ended && exit_to_reap && last < MAX_EVENTS ->
    exit_to_reap = false;
    if
    :: is_asleep && !HAS_REQUEST && last <= acked + 1 -> has_record = RECORDS; has_ended = true
    :: is_running && acked == last && memo == 0 && has_committed -> has_record = true; push(END_WRITTEN)
    :: push(EXITED)
    fi
    }
  /* orders.c, stop_in_time */
#ifdef WITHOUT_STOP_BEFORE_KILL
  :: atomic { !has_ended && alive && KILL_IS_DUE && last < MAX_EVENTS -> is_overdue = true; deliver_kill(); push(OVERDUE) }
#endif
  :: atomic { !has_ended && alive && STOP_IS_DUE && last + 1 < MAX_EVENTS -> send_stop() }
  :: atomic { !has_ended && alive && KILL_IS_DUE && !STOP_IS_DUE && last < MAX_EVENTS ->
    is_overdue = true; deliver_kill(); push(OVERDUE)
    }
  /* supervise.c */
  :: atomic { !has_ended && is_asleep && (acked < last || mains_ended) && starts_to_come > 0 -> start_supervisor() }
  :: atomic { !has_ended && !is_running && !is_asleep && starts_to_come > 0 && empty(commits) -> start_supervisor() }
  :: atomic { !has_ended && !is_running && starts_to_come == 0 && !is_alone && empty(commits) ->
    is_alone = true; is_asleep = false
    }
  :: atomic { !has_ended && is_running && hangs && OWES -> lose_supervisor() }
  /* alone.c, leave_without_supervisor */
  :: atomic { !has_ended && !alive && !exit_to_reap && (is_alone || (time == 2 && IS_GONE && requests > 0)) ->
    is_leaving_unrecorded = true; has_ended = true
    }
  od
}

/* The rules of src/core, as far as they matter here. A commit waits in the socket, also when its sender has died. */
#define ACTS(condition) !has_ended && is_running && !hangs && empty(commits) && (condition)
#define KNOWS_ALL (seen == last)

#define ACTS(condition) !has_ended && is_running && !hangs && empty(commits) && (condition)
#define KNOWS_ALL (seen == last)

active proctype supervisor() {
  do
  :: has_ended -> break
  :: atomic { ACTS(seen < last) ->
    if
    :: kind[seen] == SIGNAL -> state = state | STOP
    :: kind[seen] == FORWARDED || kind[seen] == STOP_SENT -> state = state | STOP | CLIMB
    :: kind[seen] == EXITED || kind[seen] == END_WRITTEN -> state = state | GONE
    :: kind[seen] == OVERDUE -> state = state | STOP | CLIMB | KILLED
    fi;
    seen++;
    commits!seen, state, 0, false, false
    }
  :: atomic { ACTS(KNOWS_ALL && !has_committed) -> commits!seen, state, 0, false, false }
  :: atomic { ACTS(KNOWS_ALL && HAS(STOP) && !HAS(CLIMB) && !HAS(GONE)) ->
    state = state | CLIMB; commits!seen, state, 1, false, false
    }
  :: atomic { ACTS(KNOWS_ALL && mains_ended && !HAS(STOP) && !HAS(GONE)) ->
    state = state | STOP; commits!seen, state, 0, false, false
    }
  :: atomic { ACTS(KNOWS_ALL && HAS(CLIMB) && !HAS(KILLED) && !HAS(GONE) && time == 2) ->
    state = state | KILLED; commits!seen, state, 2, false, false
    }
  :: atomic { ACTS(KNOWS_ALL && HAS(GONE)) -> has_record = true; commits!seen, state, 0, true, false }
  :: atomic { ACTS(KNOWS_ALL && state == 0 && has_committed) -> commits!seen, state, 0, false, true }
  od
}

active proctype machine() {
  if
  :: deaf = true
  :: skip
  fi;
  do
  :: has_ended -> break
  :: atomic { !has_ended && requests_to_come > 0 -> requests_to_come--; arriving++ }
  :: atomic { !has_ended && has_mains && !mains_ended -> mains_ended = true }
  :: atomic { !has_ended && alive && !deaf -> alive = false; exit_to_reap = true }
  :: atomic { !has_ended && deaths_to_come > 0 && is_running -> deaths_to_come--; lose_supervisor() }
  :: atomic { !has_ended && deaths_to_come > 0 && is_running && !hangs -> deaths_to_come--; hangs = true }
  :: atomic { !has_ended && time < 2 && (requests > 0 || has_kill_at) -> time++ }
  od
}

/* `timeout`: nothing can happen any more. Only a container that has no reason to end may still run then. */
active proctype at_the_end() {
  do
  :: has_ended ->
    assert(!alive);
    assert(has_record || is_leaving_unrecorded);
    break
  :: timeout -> assert(alive && requests == 0 && !mains_ended);
    break
  od
}
