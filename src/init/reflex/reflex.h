/*
 * Reflexes: what the supervisor has decided beforehand, so that init does it at once and tells it behind. They hold
 * only in the state that they were made from: until a commit replaces them, and while every event is acknowledged.
 */
#ifndef SEXTON_REFLEX_H
#define SEXTON_REFLEX_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

struct init;

/* A word on a liveness socket: `dead`, the host id, `1` when no other life will follow, a line end. */
enum { WORD_BYTES = 40 };

/* A main that this sidecar lives for: a connection to its liveness socket until it has spoken, and its init's id. */
struct watched_main {
  int fd; /* -1: there is none */
  char host_id[33];
};

struct reflexes {
  int64_t until;        /* when they end at the latest; NEVER: only by a commit */
  int64_t committed_at; /* of the last commit: what happens in the same millisecond may come before it */
  uint64_t end_child;   /* of the prepared ends; 0: there are none */
  int stop;             /* the stop request that they are prepared for */
  int64_t patience_ms;  /* from that to the start of a supervisor */
  size_t length;        /* of `words`, as they came: where the tombstone and the evidence are, and the ends */
  char *words;          /* MAX_PREPARED_BYTES */
  uint64_t mains_child; /* of the end with the mains; 0: it is only for a time without a supervisor */
  int signal;
  bool ends_with_lost; /* a main that was killed counts while there is no supervisor to judge it */
  bool holds;          /* a stop request is held until all of the mains have ended */
  size_t count, needed, polled_at;
  /* How many mains have said that they are gone for good, have said that they have ended, and are gone without a word. */
  size_t said, ended, gone;
  struct watched_main mains[MAX_MAINS];
};

void set_prepared_ends(struct reflexes *reflexes, const struct operation *op);
void set_end_with(struct reflexes *reflexes, const struct operation *op);
/*
 * When the end that was just reaped is prepared and nothing is left of the command: tells all who hold a connection,
 * writes the tombstone, and makes `end-written` of `exited`; or leaves, when no supervisor is there and that is all.
 * Where anything stands against it the supervisor does it.
 */
void end_as_prepared(struct init *init);
/* Until when what is in the queue starts no supervisor, as it is the prelude of a prepared end; NEVER: it does. */
int64_t prepared_until(const struct init *init);
/* Puts the connections to the mains at `polled[at]` and behind, and returns where they end. */
size_t poll_mains(struct reflexes *reflexes, struct pollfd *polled, size_t at);
/* Hears the mains, and signals the command when as many as are needed are gone. */
void end_with_mains(struct init *init);
/* Whether a reflex holds for what happened then: after the state that it was made from, and before the next. */
bool holds_at(const struct init *init, int64_t at);
void make_word(char word[WORD_BYTES], const char *host_id, bool final);
/* What the wall clock showed at that moment of CLOCK_MONOTONIC, in milliseconds; nanoseconds since 1970. */
int64_t wall_at(int64_t at);

#endif
