/*
 * Reflexes: what the supervisor has decided beforehand, so that init does it at once and reports it afterwards. They
 * hold only in the state that they were made from: until a commit replaces them, and while every event is acknowledged.
 */
#pragma once

#include "start.h"
#include "supervisor.h"
#include "system.h"

struct init;

/* A notice on a liveness socket: `dead`, the host id, how its command has ended, a line end. */
enum { ENDS = '0', ENDS_FOR_GOOD = '1', ENDS_AS_ASKED = '2' };

enum { TOMBSTONE_BYTES = 8192, MAX_ENDS = 16, MAX_PRELUDE = 2, MAX_REASON_BYTES = 15 };

/* The words of `texts`, in their order. ERROR_LINE: for a command that has failed; an empty line is not shown. */
enum { TOMBSTONE_PATH, EVIDENCE_PATH, EVIDENCE_IS_MADE, TOMBSTONE, EVIDENCE, LOG_LINE, ERROR_LINE };

/* The records of the member without their ends. */
struct texts {
  size_t length; /* how much of `words` is in use; 0: there are no texts */
  char *words;   /* MAX_TEXTS_BYTES: those of the operation */
  const char *text[TEXT_WORDS]; /* TOMBSTONE: NULL for a plain command, which has none */
};

/* Ends of the command that need no decision, and what init then does. */
struct prepared_end {
  char prelude[MAX_PRELUDE + 1];
  int first, last;
  bool final;
  int leaves_with;
  char signal[MAX_REASON_BYTES + 1]; /* that has ended it; empty: none */
  char reason[MAX_REASON_BYTES + 1], stop_reason[MAX_REASON_BYTES + 1];
};

struct reflexes {
  int64_t until;        /* when they end at the latest; NEVER: only by a commit */
  int64_t committed_at; /* the last commit; an event of the same millisecond may have come before it */
  uint64_t end_child;   /* the child of the prepared ends; 0: there are none */
  int stop;             /* the stop request that they are prepared for */
  int64_t patience_ms;  /* from that to the start of a supervisor */
  size_t end_count;
  struct prepared_end ends[MAX_ENDS];
  struct texts texts;
  uint64_t mains_child; /* the child that ends with the mains; 0: only without a supervisor */
  int signal;
  bool ends_with_lost; /* a killed main counts while no supervisor can decide about it */
  bool holds;          /* a stop request is held until all of the mains have ended */
  size_t count, needed;
  size_t final, ended, lost; /* mains that have ended for good, that have ended in this stop, and that are gone */
  int64_t ended_at, linger_ms; /* the last end of a main; the time from it to the stop signal */
};

/* closing.c */
/* An end that has come. `status`: of the command. `code`: of the container. */
struct ending {
  const struct prepared_end *end;
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

/* prepared-end.c */
void set_prepared_ends(struct reflexes *reflexes, const struct operation *op);
/* Carries out the prepared end that covers what was just reaped: "Prepared ends" in protocol.md. */
void end_as_prepared(struct init *init);
/* Until when the queue starts no supervisor, because it is the prelude of a prepared end; NEVER: it starts one. */
int64_t prepared_until(const struct init *init);
/* Whether the queue is the prelude of a prepared end. */
bool is_prelude(const struct init *init);
/* Whether a reflex holds for a moment: after the commit that it was made with, and before the next one is due. */
bool holds_at(const struct init *init, int64_t at);
/* Whether a supervisor runs that may act on what has happened. */
bool has_decided(const struct init *init);
/* Whether every main has ended, in this stop or for good. */
bool have_all_ended(const struct reflexes *reflexes);
void make_notice(char notice[NOTICE_BYTES], const char *host_id, int how);

/* mains.c */
void set_end_with(struct reflexes *reflexes, struct contacts *contacts, const struct operation *op);
/* Counts the mains that have spoken or ended, before the signals of the same turn. */
void read_notices(struct init *init);
/* The moment to signal the command, because as many mains as are needed are gone; NEVER: they are not. */
int64_t ends_with_mains_at(struct init *init);
void end_with_mains(struct init *init);
