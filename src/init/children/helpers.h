/*
 * Helpers: the commands of probes and hooks, started beside the application and never taken for it. What a helper
 * writes comes through one pipe, which init reads while the helper runs, so that it never stalls. The first bytes
 * stay until the supervisor has acknowledged the helper's end, in a buffer whose page is untouched until it is used.
 */
#ifndef SEXTON_HELPERS_H
#define SEXTON_HELPERS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "queue.h"
#include "start.h"

enum { MAX_HELPER_END_MS = 1000 };

enum helper_stage { HELPER_NONE, HELPER_RUNNING, HELPER_ENDING, HELPER_REPORTED };

/* A helper whose end is not acknowledged. */
struct helper {
  uint64_t id; /* 0: a free place */
  enum helper_stage stage;
  pid_t pid;          /* and the number of its group and session */
  int status;         /* ending: as wait(2) gives it */
  int64_t report_at;  /* ending: its end is reported then, also when its group is not empty */
  int output;         /* init's end of its pipe; -1: closed */
  size_t polled;      /* index among the polled descriptors; 0: not there */
  size_t limit, used; /* of its output */
};

struct helpers {
  uint64_t last_id;
  int64_t check_at; /* when to look again for groups that have become empty */
  struct helper places[MAX_HELPERS];
  char (*outputs)[MAX_OUTPUT_BYTES]; /* one for each place */
};

/* `argv` NULL: there was no memory for it. */
void start_helper(struct helpers *helpers, struct queue *queue, const struct inherited *in, uint64_t id, size_t limit,
                  char *const argv[]);
void end_helper(struct helpers *helpers, uint64_t id);
void end_all_helpers(struct helpers *helpers);
/* Returns false where this is no helper. */
bool on_helper_changed(struct helpers *helpers, pid_t pid, int status);
/* Reports the end of each helper whose group is empty: to be called after a helper has changed, and at `check_at`. */
void report_ended_helpers(struct helpers *helpers, struct queue *queue);
/* Puts their pipes into `polled` from `at` on, and returns where these end. */
size_t poll_helpers(struct helpers *helpers, struct pollfd *polled, size_t at);
void read_helpers(struct helpers *helpers, const struct pollfd *polled);
bool is_helpers_group(const struct helpers *helpers, pid_t group);
size_t count_free_helpers(const struct helpers *helpers);
/* What goes with this event; nothing with one that is no helper's. */
const char *output_of(struct helpers *helpers, const struct event *event, size_t *length);
/* Frees the place of the helper that this event is of: its end is acknowledged. */
void release_helper(struct helpers *helpers, const struct event *event);

#endif
