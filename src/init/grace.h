/*
 * The stop that init carries out by itself: the stop signal when no supervisor has acted in time, and KILL when the
 * grace period is over. So a supervisor that hangs, dies again and again, or cannot be started takes no stop with it.
 */
#ifndef SEXTON_GRACE_H
#define SEXTON_GRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "queue.h"

struct child;
struct init;

/* Before a supervisor has said how long a stop may wait for one. */
enum { DEFAULT_WAIT_MS = 5000 };

/* What the supervisor leaves behind for a stop; each time is in milliseconds, NEVER: not at all. */
struct fallback {
  uint64_t stops;  /* the signals that are stop requests; bit n-1 stands for signal n */
  int signal;      /* what the child gets; 0: the signal that arrived */
  int64_t wait_ms; /* from a stop request that is not acknowledged to that signal */
  int64_t grace_ms; /* from such a request to KILL */
  int64_t at;      /* of an acknowledged stop: when the child gets the signal if the supervisor is lost */
};

struct grace {
  int64_t kill_at;  /* of an acknowledged stop; a request that is not acknowledged may make it earlier */
  int64_t leave_at; /* when the platform ends the container of an acknowledged stop; NEVER: it does not */
  int64_t ends_at;  /* of the stop of `stopped` where its mains are the reason; NEVER: there is no such end */
  uint64_t stopped; /* the last child that init has stopped by itself */
  uint64_t overdue; /* the last child that init has KILLed because its grace period was over */
};

bool is_stop(const struct fallback *fallback, int number);
/* Whether a stop request is in the queue that the supervisor has not acknowledged. */
bool has_unacknowledged_stop(const struct queue *queue, const struct fallback *fallback);
/* Whether a stop request has come, acknowledged or not, and the child has not had its signal. */
bool is_stopping(const struct init *init);
/* When the grace period of a stop request that is not acknowledged is over; NEVER: there is none, or it has none. */
int64_t request_ends_at(const struct init *init);
/* When init acts by itself at the earliest: a stop signal, or a KILL. */
int64_t next_own_step(struct init *init);
/* Does what of that is due. */
void stop_in_time(struct init *init);
/* Sends the stop signal in the place of the supervisor, once for each child, and tells it. */
void send_stop(struct init *init, const struct child *child, int number, bool by_mains);
/* So long that a supervisor which is started after the KILL can record it before the platform's own KILL. */
int64_t shorten_grace(int64_t grace_ms);

#endif
