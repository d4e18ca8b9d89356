/*
 * Processes that init starts, and those that it adopts. The child is the first process of the application, in a process
 * group of its own. Roots are all processes whose parent is init and that are the application's: the child, and what
 * lost its parent. Helpers are commands of probes and hooks.
 */
#pragma once

#include "queue.h"
#include "start.h"
#include "system.h"

struct init;


/* The last child that was started. */
struct child {
  uint64_t id; /* 0: none was started, or no root of it is left */
  pid_t pid;   /* and the number of its group */
  bool exited;
};

struct children {
  struct child child;
  uint64_t last_id;
  int last_status;     /* exit code of the last child; -1 while it lives */
  int64_t ended_at;    /* when the last child ended, where it has */
  uint64_t foreground; /* the child that init has put into the foreground; 0: none */
  int64_t check_at;    /* the next poll for roots that are gone */
};

/* NULL: it was never started, or no root of it is left. */
struct child *find_child(struct children *children, uint64_t id);
struct child *find_living_child(struct children *children, pid_t pid);
struct child *find_last_child(struct children *children);

/* `argv` NULL: there was no memory for it. */
void spawn(struct init *init, uint64_t id, char *const argv[]);
/* To be called when a child has ended or was stopped. */
void on_child_changed(struct init *init, struct child *child, int status);

/* Puts a child into the foreground of the terminal, if init is there: a shell may have started it in the background. */
void give_terminal(struct children *children, const struct child *child);
/* Takes the terminal back from this child, if it has it. */
void take_terminal(struct children *children, uint64_t id);

/* helpers.c */
enum helper_stage { HELPER_NONE, HELPER_RUNNING, HELPER_ENDING, HELPER_REPORTED };

/* A helper whose end is not acknowledged. */
struct helper {
  uint64_t id; /* 0: a free place */
  enum helper_stage stage;
  pid_t pid;          /* and the number of its group and session */
  int status;         /* ending: as wait(2) gives it */
  int report;         /* running: of start_program */
  int error;          /* ending: why it was not executed, or 0 */
  int64_t report_at;  /* ending: its end is reported then even if its group is not empty */
  int output;         /* init's end of its pipe; -1: closed */
  size_t polled;      /* index among the polled descriptors; 0: not there */
  size_t limit, used; /* its output: what is kept, and what is there */
};

struct helpers {
  uint64_t last_id;
  int64_t check_at; /* the next poll for groups that have become empty */
  struct helper places[MAX_HELPERS];
  char (*outputs)[MAX_OUTPUT_BYTES]; /* one for each place */
};

/* `argv` NULL: there was no memory for it. */
void start_helper(struct init *init, uint64_t id, size_t limit, char *const argv[]);
void end_helper(struct helpers *helpers, uint64_t id);
void end_all_helpers(struct helpers *helpers);
/* Returns false where this is no helper. */
bool on_helper_changed(struct helpers *helpers, pid_t pid, int status);
/* Reports each helper whose group is empty: to be called after a helper has changed, and at `check_at`. */
void report_ended_helpers(struct helpers *helpers, struct queue *queue);
/* Puts the pipes into `polled` from `at` on, and returns where these end. */
size_t poll_helpers(struct helpers *helpers, struct pollfd *polled, size_t at);
void read_helpers(struct helpers *helpers, const struct pollfd *polled);
bool is_helpers_group(const struct helpers *helpers, pid_t group);
size_t count_free_helpers(const struct helpers *helpers);
/* The output that goes with this event; empty unless it is the end of a helper. */
const char *output_of(struct helpers *helpers, const struct event *event, size_t *length);
/* Frees the place of a helper whose end is this acknowledged event. */
void release_helper(struct helpers *helpers, const struct event *event);

/* roots.c */
enum { MAX_TOLD = 65536 };

/* A process that has had the signal of the rung. `start` 0: it was a child of init, which frees its pid when reaped. */
struct told {
  pid_t pid; /* 0: a free place; -1: one that was taken */
  uint32_t start;
  bool has_trap; /* it was a shell that catches the signal */
};

/* Why a process gets the signal of a rung. */
enum why { WHY_FIRST, WHY_THROUGH, WHY_TRAP, WHY_LEFT, WHY_READER, WHY_LATE, WHYS };

/* The processes of one turn that were told for one reason: the first, and how many. */
struct tally {
  int count;
  pid_t pid;
  char name[MAX_PROGRAM_BYTES], of[MAX_PROGRAM_BYTES];
};

/* A signal of the stop ladder on its way through the tree of processes: "Rungs" in protocol.md. */
struct rung {
  enum signal_to to;
  int signal; /* 0: none was sent to this child */
  int64_t late_at, last_at; /* when untold processes get it; NEVER: they do not */
  int64_t changed_at;       /* the time of the last signal to a process, or end of one */
  int64_t walk_at, rest_until; /* the next walk, which is not before */
  int64_t trapped_until;    /* the trap of a shell that has ended may have told what it has left behind */
  bool is_groups;           /* the whole group of the child has had it */
  bool has_refused;
  size_t count;
  struct told *told; /* a table with MAX_TOLD places */
  struct tally tallies[WHYS];
};

/* The signals that the child's program catches. Init looks them up once, but never for a shell: its traps change. */
struct catcher {
  uint64_t caught;
  char program[MAX_PROGRAM_BYTES];
};

/* Signals the application: parents first, its group, or its first process, as was ordered. KILL is for all of it. */
void begin_rung(struct init *init, int number, int64_t late_at, int64_t last_at);
/* Does so unless this signal is under way, as init may have begun with it: then only its times are new. */
void continue_rung(struct init *init, int number, int64_t late_at, int64_t last_at);
/* Goes on with a rung: to be called after anything was reaped, and at `walk_at`. */
void walk(struct init *init);
/* A process was reaped, and its pid may come again. */
void forget_told(struct rung *rung, pid_t pid);
/* Returns the child's pid if only the child was signalled since the last report; else 0. */
pid_t take_receiver(struct init *init);
/* Reports the processes that were told since the last report. */
void report_told(struct init *init);
/* Whether the child has ended and left no process behind. If one is left, call this again at `check_at`. */
bool has_left_nothing(struct init *init);
/* Reports and forgets a child that has left nothing behind. */
void report_gone_roots(struct init *init);
/* Sends a signal that is no rung to the program that it is meant for. */
void signal_program(struct init *init, int number);

/* Whether this process is the supervisor's or a helper's, and not the command's. */
bool is_own(const struct init *init, pid_t pid);
/* Whether a living process descends from init, and is the command's. */
bool is_commands(const struct init *init, pid_t pid);

/* notify.c */
struct watchdog {
  uint64_t child;
  int64_t ms, due; /* NEVER: there is none, or its end is reported */
};

struct notifications {
  int fd;     /* -1: the socket is not open */
  bool all;   /* messages of every process of this PID namespace count */
  bool waits; /* a message is in the queue */
  bool lost;  /* while it waited another was dropped, as no supervisor could be started */
  int dropped, unasked;
  int64_t count_ends_at, rests_until; /* the count of unasked messages ends; until then none is read */
  size_t used;
  char *text;          /* MAX_OUTPUT_BYTES; the message that waits */
  char **env;          /* what the command gets; NULL: as inherited */
  char entries[3][64]; /* the variables in it; empty: not there */
  char *pid_text;      /* the value of WATCHDOG_PID among them; NULL: it is not there */
  struct watchdog watchdog;
};

/* Opens the socket once, for the commands that are started from now on. */
void open_notifications(struct init *init, bool all, int64_t watchdog_ms);
/* The socket; -1: there is none, or nothing may be read now. */
int polled_notifications(const struct init *init);
/* Reads one message, so that a flood delays no signal. */
void read_notification(struct init *init);
/* The message that waited is acknowledged. */
void release_notification(struct init *init);
/* From now on this child has to say WATCHDOG=1 in each such time; NEVER: it need not. */
void set_watchdog(struct watchdog *watchdog, uint64_t child, int64_t ms);
/* When reading goes on, or silence is over its time. */
int64_t next_notification(const struct init *init);
/* Reports a child that has been silent for too long, once. */
void notice_silence(struct init *init);

/* program.c */
/*
 * Starts a process and returns an errno, or 0. It calls `prepare(with)` first, which returns an errno or 0 as well. The
 * program gets the environment, the mask and the ignored signals that init was started with.
 */
int start_program(const struct inherited *in, char *const argv[], int (*prepare)(int), int with, pid_t *pid,
                  int *report);
/* Waits for the exec and closes the report. Returns why it failed, or 0: also where it takes longer. */
int read_report(int report, int wait_ms);
