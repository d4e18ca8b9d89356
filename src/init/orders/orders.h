/*
 * Orders are rows that tell init what to do by itself. The supervisor sends them. Init also has rules of its own for the
 * time in which no supervisor can be started (alone.c).
 * The rows `mains` and `end` hold only while every event is acknowledged, and until the supervisor is due.
 */
#pragma once

#include "queue.h"
#include "start.h"
#include "supervisor.h"
#include "system.h"

struct init;

/* orders.c */
/* What init has done in the place of a supervisor; a new child begins anew. */
struct own_stop {
  uint64_t child;      /* the last child that init has sent its stop signal */
  uint64_t killed;     /* the last child that init has KILLed by a row */
  int64_t by_mains_at; /* when `child` was stopped because of its mains, without a stop request; else NEVER */
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
/* The exit code of a container whose command has ended and that no supervisor will record. */
int exit_code(const struct init *init);
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

/* closing.c */
enum { TOMBSTONE_BYTES = 8192 };

/* The words of `texts`, in their order. ERROR_LINE: for a command that has failed; an empty line is not shown. */
enum { TOMBSTONE_PATH, EVIDENCE_PATH, EVIDENCE_IS_MADE, TOMBSTONE, EVIDENCE, LOG_LINE, ERROR_LINE };

/* The records of the member without their ends. */
struct texts {
  size_t length; /* how much of `words` is in use; 0: there are no texts */
  char *words;   /* MAX_TEXTS_BYTES: those of the operation */
  const char *text[TEXT_WORDS]; /* TOMBSTONE: NULL for a plain command, which has none */
};

/* An end that has come. `status`: of the command. `code`: of the container. */
struct ending {
  const struct end_order *end;
  const struct event *asked, *died; /* asked: the first event of the stop; NULL: there was none; died: not yet */
  const char *killer;               /* what has ended it by KILL; NULL: nothing */
  int status, code;
  int64_t grace_ms;
};

void set_texts(struct texts *texts, const struct operation *op);
/* The open texts of a plain command, as the supervisor would have left them. `by_oom`: the OOM killer has ended it. */
void open_plain_texts(struct texts *texts, const struct plain_words *plain, const struct event *born, bool by_oom);
/* Whether there are texts, with room for their ends. */
bool are_texts_closable(const struct texts *texts);
void close_tombstone(char out[TOMBSTONE_BYTES], const struct texts *texts, const struct ending *ending);
/* False: the file cannot be written, and the supervisor has to say so. */
bool leave_evidence(const struct texts *texts, const struct ending *ending);
/* False: the reader is stalled, and the supervisor has to wait for it. */
bool write_log(const struct texts *texts, const struct ending *ending);

/* mains.c */
/* The mains of the last row `mains`, which outlive it for the time in which no supervisor can be started. */
struct mains {
  struct mains_order order;
  bool is_ordered; /* the row is in the orders, and was not carried out yet */
  size_t final, ended, lost; /* that have ended for good, that have ended in this stop, and that are gone */
  int64_t ended_at;          /* the last end of a main */
};

/* Takes over the row `mains` of new orders; without one the mains stay. */
void set_mains(struct mains *mains, struct contacts *contacts, const struct mains_order *order);
/* Counts the mains that have spoken or ended, before the signals of the same turn. */
void read_notices(struct init *init);
/* The moment to signal the command, because as many mains as are needed are gone; NEVER: they are not. */
int64_t ends_with_mains_at(struct init *init);
void end_with_mains(struct init *init);

/* ends.c */
/* Carries out the row `end` for a child that has ended and left no process behind: "Ends" in protocol.md. */
void end_by_row(struct init *init);
/* Until when the queue starts no supervisor, because a row `end` has it as its prelude; NEVER: it starts one. */
int64_t prepared_until(const struct init *init);
/* Whether a row `end` has the queue as its prelude, or as the beginning of it. */
bool is_prelude(const struct init *init);
/* Whether the rows hold for a moment: after the commit that has them, and before the next one is due. */
bool holds_at(const struct init *init, int64_t at);
/* Whether every main has ended, in this stop or for good. */
bool have_all_ended(const struct mains *mains);
/* Whether a supervisor runs that may act on what has happened. */
bool has_decided(const struct init *init);
