/* What init does by itself, so that a lost supervisor never costs a stop request. */
#pragma once

#include "queue.h"
#include "system.h"

struct init;

/* orders.c */
/* What init has done in the place of a supervisor; a new child begins anew. */
struct own_stop {
  uint64_t child;      /* the last child that init has sent its stop signal */
  uint64_t killed;     /* the last child that init has KILLed by a row */
  int64_t by_mains_at; /* when `child` was stopped, if its mains were the reason; else NEVER */
  int64_t rest_at;     /* when init no longer waits for what the command has left behind; NEVER: it does not wait */
};

/* What init does before any supervisor says. It passes nothing on yet. */
void begin_orders(struct orders *orders, int64_t ms);
/* The declared grace period; NEVER: none. */
int64_t grace_ms(const struct orders *orders);
bool is_stop(const struct orders *orders, int number);
/* Whether a stop request would have to wait for a supervisor. */
bool waits_for_stop(const struct orders *orders);
/* The oldest stop request that the supervisor has not acknowledged; NULL: there is none. */
const struct event *oldest_stop(const struct init *init);
/* Whether a stop request waits in the queue that the supervisor has not acknowledged. */
bool has_unacknowledged_stop(const struct init *init);
/* Whether a stop request has come, acknowledged or not, and the child has not had its signal. */
bool is_stopping(const struct init *init);
/* When the platform ends the container; NEVER: no stop request has come, or that is not known. */
int64_t platform_ends_at(const struct init *init);
/* When init next sends a stop signal or a KILL by itself. */
int64_t next_order(const struct init *init);
/* Does what of that is due. */
void carry_out_orders(struct init *init);
/* Sends the stop signal in the place of the supervisor, once for each child, and reports it. */
void send_stop(struct init *init, enum when when, int number);
/* Begins a rung in the place of the supervisor. */
void begin_own_rung(struct init *init, int number);
/* Leaves a later supervisor time to record init's KILL before the platform's own KILL. */
int64_t shorten_grace(int64_t ms);

/* signals.c */
/* Takes those that are pending. Reaping is left to the loop. */
void read_signals(struct init *init);
/* Passes queued signals on, because no supervisor will. */
void forward_queued(struct init *init);

/* alone.c */
void go_on_alone(struct init *init);
/* When init leaves without waiting for a supervisor, because the platform's KILL is due; NEVER: it waits. */
int64_t leaves_at(const struct init *init);
/* Leaves when the child has ended, and no supervisor is there to record it. To be called last in each turn. */
void leave_without_supervisor(struct init *init);
_Noreturn void leave(struct init *init, int code);
