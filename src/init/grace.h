/*
 * The grace period. Init keeps it from the moment that a stop request arrives until the supervisor has acknowledged
 * the request: so a supervisor that hangs, is being started or has too little CPU takes none with it. After that the
 * supervisor's own `kill-at` holds.
 */
#ifndef SEXTON_GRACE_H
#define SEXTON_GRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "queue.h"

struct init;

/* What init does by itself with a stop request when there is no supervisor, or when that does not act in time. */
struct fallback {
  uint64_t stops; /* bit n-1 stands for signal n */
  int signal;     /* what the child gets in its place; 0: the same */
  int64_t grace_ms;
};

struct grace {
  int64_t kill_at;  /* by the supervisor's word; what it has not acknowledged may be due earlier */
  uint64_t overdue; /* the last child that was KILLed because the time was over */
};

bool is_stop(const struct fallback *fallback, int number);
/* Whether a stop request is in the queue that the supervisor has not acknowledged. */
bool has_unacknowledged_stop(const struct queue *queue, const struct fallback *fallback);
/* When the child is KILLed unless it ends before; NEVER: not at all. */
int64_t grace_ends_at(struct init *init);
/* So long that a supervisor which is started after the KILL comes to its word before the platform's own KILL. */
int64_t shorten_grace(int64_t grace_ms);
/* KILLs the child when its time is over. */
void enforce_grace(struct init *init);

#endif
