/*
 * What the parts of sexton-init share: one structure that holds all state, and the functions that work on it. Where to look:
 * init.c entry and loop, supervisor.c its start and respawn, ignore.c which signals it ignores, patience.c one that hangs, commit.c
 * what it orders, grace.c stop requests that nobody has dealt with yet, children.c processes and terminal, helpers.c the commands of
 * probes and hooks, strays.c adopted processes, events.c the queue, liveness.c the socket for peers, alone.c the end without a
 * supervisor and the end of init.
 */
#ifndef SEXTON_INIT_H
#define SEXTON_INIT_H

#include <poll.h>
#include <stdalign.h>
#include <sys/types.h>

#include "frame.h"
#include "start.h"

/* Some tests, which acknowledge nothing, build it longer: src/init/build.ts. */
#ifndef SEXTON_PATIENCE_MS
#define SEXTON_PATIENCE_MS 10000
#endif

enum {
  CHILDREN_MAX = 256,
  HELPERS_MAX = 16,
  HELD_MAX = 512,
  SWEPT_MAX = 256,
  SIGNALS_QUEUED_MAX = 4096,
  /*
   * Room that signals never take: one for each number, four for each child, one for each helper that has a place, one for what
   * was forwarded once and one for the end of a sweep.
   */
  QUEUE_MAX = SIGNALS_QUEUED_MAX + SIGNAL_MAX + 4 * CHILDREN_MAX + HELPERS_MAX + 2,
  FAILED_STARTS_MAX = 5,
  FIRST_DELAY_MS = 50,
  LONGEST_DELAY_MS = 5000,
  LONGEST_PAUSE_MS = 60000,
  SOUND_LIFE_MS = 5000,
  PATIENCE_MS = SEXTON_PATIENCE_MS,
  PATIENCE_TURN_MS = 1000,
  DIES_MS = 2000,
  GROUP_CHECK_MS = 50,
  HELPER_DIES_MS = 1000,
  ACCEPT_PAUSE_MS = 1000,
  LARGE_BYTES = 16384,
  FIRST_HIGH_FD = 100,
};

#define NEVER INT64_MAX

/* A child whose process group is not known to be empty. */
struct child {
  uint64_t id;
  pid_t pid; /* and the number of its group */
  bool exited;
};

enum helper_stage { HELPER_IS_NONE, HELPER_RUNS, HELPER_DIES, HELPER_IS_TOLD };

/* A helper whose end is not acknowledged. */
struct helper {
  uint64_t id; /* 0: a free place */
  enum helper_stage stage;
  pid_t pid;           /* and the number of its group and session */
  int status;          /* dies: as wait(2) gives it */
  int64_t tell_at;     /* dies: its end is told then, also when its group is not empty */
  int output;          /* our end of its pipe; -1: closed */
  size_t polled;       /* index in `polled`; 0: not there */
  size_t limit, used;  /* of its output */
};

struct supervisor {
  pid_t pid; /* 0: none runs */
  int fd;    /* -1: no connection */
  bool committed;
  int64_t started_at, start_at; /* start_at: when to start the next one */
  int64_t delay_ms;
  int failed_starts;
  int64_t due;                     /* when its next commit is to come, by its own word */
  int64_t watched_at;              /* the last look while it owes a commit; NEVER: it owes none */
  int64_t waited_ms;               /* so long it has owed one, without using the CPU */
  int64_t first_cpu_ns, cpu_ns;    /* the CPU time that it had used at the first and at the last of these looks */
  int64_t forget_at;               /* it was KILLed: then another is started, dead or not */
};

/* What init does by itself with a stop request when there is no supervisor, or when that does not act in time. */
struct fallback {
  uint64_t stops;
  int signal;
  int64_t grace_ms;
};

struct init {
  struct inherited in;
  struct node_command node;
  pid_t pid;
  pid_t parent; /* when init was started; 0 once that does not matter */
  bool pid1, chld_ignored, alone, tell_reaped;
  int signals;
  int64_t started_at;
  char host_id[33];
  struct supervisor supervisor;
  pid_t forgotten; /* a supervisor that was KILLed and could not be reaped yet */

  uint64_t last_helper;
  int64_t check_helpers_at;

  int sweep; /* the signal that strays get; 0: none */
  int64_t sweep_at;
  size_t swept_count;

  size_t child_count;
  uint64_t last_child;
  int last_status; /* exit code of the last child; -1 while it lives */
  uint64_t single; /* the child of whom only the first process is signalled; 0: none */
  uint64_t terminal_owner;
  int64_t check_groups_at;

  uint64_t forward_to;
  uint8_t forward[SIGNAL_MAX + 1];
  uint64_t once_to;
  uint8_t once[SIGNAL_MAX + 1];
  struct fallback fallback;
  int64_t kill_at;      /* by the supervisor's word; what it has not acknowledged may be due earlier */
  uint64_t overdue;     /* the last child that was KILLed because the time was over */
  bool has_to_reap;
  int leaving; /* the code of an `exit`; -1: none */

  int listener;
  size_t held_count, held_max;
  int64_t accept_at;

  uint64_t last_seq, acknowledged;
  size_t queued, sent; /* events in the queue; how many of them this supervisor was sent */
  size_t in_used, out_at, out_used, memo_length;
  bool has_memo;

  /* What is small first and what is long last, so that the pages that are in use are few. */
  struct helper helpers[HELPERS_MAX];
  struct child children[CHILDREN_MAX];
  pid_t swept[SWEPT_MAX]; /* who has had the signal of the sweep: pids and negative groups */
  int held[HELD_MAX];
  struct event queue[QUEUE_MAX];
  struct pollfd polled[3 + HELD_MAX + HELPERS_MAX];
  alignas(4096) char outputs[HELPERS_MAX][OUTPUT_MAX];
  alignas(4096) char memo[MEMO_MAX];
  alignas(4096) char out[HELLO_FRAME_MAX];
  alignas(4096) char in_bytes[FRAME_HEADER + FRAME_MAX];
};

/* The mask that init was started with: the application and the supervisor get it back. */
extern uint64_t inherited_mask;

/* init.c */
int64_t now_ms(void);
void set_mask(uint64_t mask, uint64_t *old);
/* Away from 0, 1 and 2: a descriptor of ours must not fill a gap there that the application was given. */
int move_high(int fd);
/* As if this signal had come from nobody that we know. */
void take_signal(struct init *init, int number);
/* Those that are pending. Reaping is left to the loop. */
void read_signals(struct init *init);

/* events.c */
void push(struct init *init, struct event event);
void acknowledge(struct init *init, uint64_t seq);
/* Sends what the socket takes now. An error is left for the reading side, which finds the end of the connection. */
void send_events(struct init *init);
/* Gives back to the kernel the pages that lie within these bytes; their content is lost then, and that of no others. */
void give_back(char *bytes, size_t length);
/* The same for a large buffer. */
void forget(char *buffer, size_t used);

/* children.c */
struct child *find_child(struct init *init, uint64_t id);
struct child *find_living(struct init *init, pid_t pid);
/* To a pid, or to the group of a negative one. Where it asks for an end, what is stopped is continued. */
void signal_target(pid_t target, int number);
void signal_group(const struct child *child, int number);
/* To the first process alone where that is wanted, else to the group. */
void signal_child(const struct init *init, const struct child *child, int number);
/* In the new process, after vfork, `take_place(with)` is called before all else; it returns an errno or 0. So does this. */
int start_program(const struct init *init, char *const argv[], int (*take_place)(int), int with, pid_t *pid);
/* `argv` NULL: there was no memory for it. */
void spawn(struct init *init, uint64_t id, char *const argv[]);
/* Reports each group that has become empty. There is no event for that in the kernel, so while one is left we look again. */
void check_groups(struct init *init);
/* Our child ended or was stopped. */
void child_changed(struct init *init, struct child *child, int status);
void give_terminal(struct init *init, const struct child *child);
void take_terminal(struct init *init, uint64_t id);

/* helpers.c */
/* As with spawn. */
void exec_helper(struct init *init, uint64_t id, size_t limit, char *const argv[]);
void end_helper(struct init *init, uint64_t id);
void end_helpers(struct init *init);
/* Whether this was a helper. */
bool helper_changed(struct init *init, pid_t pid, int status);
/* Tells the end of each helper whose group is empty; after `helper_changed` and while one is left. */
void check_helpers(struct init *init);
/* Puts their pipes into `polled` from `at` on and returns where these end. */
size_t poll_helpers(struct init *init, size_t at);
void read_helpers(struct init *init);
bool is_helpers_group(const struct init *init, pid_t group);
size_t free_helpers(const struct init *init);
const char *output_of(struct init *init, const struct event *event, size_t *length);
/* Its end is acknowledged. */
void release_helper(struct init *init, uint64_t id);

/* strays.c */
/* How many `visit` said true to. None without /proc. */
size_t each_living_child(struct init *init, bool (*visit)(struct init *, pid_t));
size_t count_strays(struct init *init);
/* CONT to each stopped process of this target: a pid, or the group of a negative one. */
void continue_stopped(pid_t target);
void sweep(struct init *init, int number);
/* While a sweep is on: after anything was reaped, and every now and then. */
void look_for_strays(struct init *init);

/* liveness.c */
void listen_at(struct init *init, const char *path, size_t length);
void accept_peers(struct init *init);
/* Of the held connections that the last poll looked at. */
void drop_ended_peers(struct init *init, size_t polled);

/* commit.c */
/* Applies every whole frame that has arrived; false when one is wrong. */
bool apply_frames(struct init *init);

/* grace.c */
/* Whether a stop request is in the queue that the supervisor has not acknowledged. */
bool stop_waits(const struct init *init);
/* When the child is KILLed unless it ends before; NEVER: not at all. */
int64_t grace_ends(struct init *init);
void keep_grace(struct init *init);

/* patience.c */
/* Ends and replaces a supervisor that hangs. */
void watch_supervisor(struct init *init);
/* When that has to be called next. */
int64_t next_watch(const struct init *init);
void kill_supervisor(struct init *init);

/* supervisor.c */
void start_supervisor(struct init *init);
void supervisor_died(struct init *init);
/* False at the end of the connection. */
bool read_commits(struct init *init);
void disconnect(struct init *init);

/* ignore.c */
/* For the supervisor, in its new process before exec. */
void ignore_signals(void);

/* alone.c */
void go_on_alone(struct init *init);
/* Passes a signal on, and makes of its event a record of that. */
void signal_alone(struct init *init, struct event *event);
void end_alone(struct init *init);
_Noreturn void leave(struct init *init, int code);

#endif
