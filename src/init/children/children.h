/*
 * Processes that init starts, and those that it adopts. Children are the application's, each with a process group of
 * its own. Helpers are commands of probes and hooks. Strays left their group and lost their parent.
 */
#pragma once

#include "queue.h"
#include "start.h"
#include "system.h"

struct init;

/* A child whose process group is not known to be empty. */
struct child {
  uint64_t id;
  pid_t pid; /* and the number of its group */
  bool exited;
};

struct children {
  size_t count;
  uint64_t last_id;
  int last_status;     /* exit code of the last child; -1 while it lives */
  int64_t ended_at;    /* when the last child ended, where it has */
  uint64_t first_only; /* the child whose first process alone is signalled; 0: none */
  uint64_t foreground; /* the child that init has put into the foreground; 0: none */
  int64_t check_at;    /* the next poll for groups that have become empty */
  struct child list[MAX_CHILDREN];
};

struct child *find_child(struct children *children, uint64_t id);
struct child *find_living_child(struct children *children, pid_t pid);
struct child *find_last_child(struct children *children);
/* Whether this process is a child, or in the group of one. */
bool is_childs(const struct children *children, pid_t pid, pid_t group);

void signal_group(const struct child *child, int number);
/* Signals the group, or the first process alone where that was ordered. */
void signal_child(const struct children *children, const struct child *child, int number);

/* `argv` NULL: there was no memory for it. */
void spawn(struct init *init, uint64_t id, char *const argv[]);
/* To be called when a child has ended or was stopped. */
void on_child_changed(struct init *init, struct child *child, int status);
/* Takes a child whose group is empty off the list and returns its id; 0: there is none, poll again at `check_at`. */
uint64_t take_gone_child(struct children *children);

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

/* strays.c */
enum { MAX_SWEPT = 256 };

struct strays {
  int sweep_signal; /* 0: no sweep goes on */
  int64_t sweep_at;
  size_t swept_count;
  pid_t *swept; /* the pids and negative groups that have had the signal of the sweep */
};

size_t count_strays(struct init *init);
void sweep_strays(struct init *init, int number);
/* Goes on with a sweep: to be called after anything was reaped, and at `sweep_at`. */
void continue_sweep(struct init *init);

/* Whether this process is the supervisor's or a helper's, and not the command's. */
bool is_own(const struct init *init, pid_t pid, pid_t group);

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
