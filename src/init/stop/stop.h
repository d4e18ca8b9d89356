/* A stop, as far as init carries it out, so that a lost supervisor never costs a stop request. */
#pragma once

#include "queue.h"
#include "system.h"

struct child;
struct init;

/* grace.c */
/* Before a supervisor has said how long a stop may wait for one. */
enum { DEFAULT_WAIT_MS = 5000 };

/* What the supervisor leaves behind for a stop; NEVER stands for no time. */
struct fallback {
  uint64_t stops;   /* the signals that are stop requests; bit n-1 stands for signal n */
  int signal;       /* what the child gets; 0: the signal that arrived */
  int64_t wait_ms;  /* from a stop request that is not acknowledged to that signal */
  int64_t grace_ms; /* from such a request to KILL */
  int64_t at;       /* when the child of an acknowledged stop gets the signal if the supervisor is lost */
};

struct grace {
  int64_t kill_at;  /* the end of an acknowledged stop; an unacknowledged request may move it forward */
  int64_t leave_at; /* when the platform ends the container of an acknowledged stop */
  int64_t rest_at;  /* when init no longer waits for what the command has left behind; NEVER: it does not wait */
  int64_t ends_at;  /* the end of a stop of `stopped` that its mains have caused; NEVER: there is none */
  uint64_t stopped; /* the last child that init has stopped by itself */
  uint64_t overdue; /* the last child that init has KILLed at the end of its grace period */
};

bool is_stop(const struct fallback *fallback, int number);
/* The oldest stop request that the supervisor has not acknowledged; NULL: there is none. */
const struct event *oldest_stop(const struct queue *queue, const struct fallback *fallback);
/* Whether a stop request waits in the queue that the supervisor has not acknowledged. */
bool has_unacknowledged_stop(const struct queue *queue, const struct fallback *fallback);
/* Whether a stop request was passed on at once that the supervisor has not acknowledged. */
bool has_forwarded_stop(const struct queue *queue);
/* Whether a stop request has come, acknowledged or not, and the child has not had its signal. */
bool is_stopping(const struct init *init);
/* When the grace period of an unacknowledged stop request ends; NEVER: there is none. */
int64_t request_ends_at(const struct init *init);
/* When init next sends a stop signal or a KILL by itself. */
int64_t next_own_step(struct init *init);
/* Begins a rung in the place of the supervisor. */
void begin_own_rung(struct init *init, int number);
/* Does what of that is due. */
void stop_in_time(struct init *init);
/* Sends the stop signal in the place of the supervisor, once for each child, and reports it. */
void send_stop(struct init *init, const struct child *child, int number, bool by_mains);
/* Leaves a later supervisor time to record init's KILL before the platform's own KILL. */
int64_t shorten_grace(int64_t grace_ms);

/* signals.c */
/* The child that signals are passed on to, and as what; 0: not at all. */
struct route {
  uint64_t child;
  uint8_t as[MAX_SIGNAL + 1];
};

struct forwarding {
  struct route always;
  struct route once; /* counts before `always`; the first signal that it passes on empties it */
  struct fallback fallback;
};

/* Takes those that are pending. Reaping is left to the loop. */
void read_signals(struct init *init);
/* Acts as if this signal had come from an unknown sender. */
void receive_signal(struct init *init, int number);
/* Passes queued signals on, because no supervisor will. */
void forward_queued(struct init *init);

/* alone.c */
void go_on_alone(struct init *init);
/* When init leaves without waiting for a supervisor, because the platform's KILL is due; NEVER: it waits. */
int64_t leaves_at(const struct init *init);
/* Leaves when the child has ended, and no supervisor is there to record it. To be called last in each turn. */
void leave_without_supervisor(struct init *init);
_Noreturn void leave(struct init *init, int code);
