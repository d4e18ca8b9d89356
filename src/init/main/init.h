/*
 * The state of sexton-init, in groups. Each group stands in the header of its room, beside the functions that work on
 * it. No file calls one that calls it: the rooms below stand from the ground up, and test/init/rooms.test.ts checks it.
 *
 *   system      clock, signal mask, descriptors, /proc, stderr; frames and the queue of events; the first instructions
 *   start       whether the command starts at once; tini, dumb-init and kubexit; how Node is found; refusals
 *   children    the application, its terminal, helpers of probes and hooks, adopted processes
 *   supervisor  its start, connection, watchdog and sleep; the directory of the members, and the sockets to them
 *   orders      what init does by itself: signals, stops, mains, and the ends with their texts
 *   main        commits, what was reaped, the deferred supervisor, and the loop
 */
#pragma once

#include <stdalign.h>

#include "children.h"
#include "deferred.h"
#include "orders.h"
#include "start.h"
#include "supervisor.h"

struct self {
  pid_t pid;
  bool is_pid1;
  int64_t started_at;
  char host_id[33];
};

/* What the supervisor leaves for the next one. */
struct memo {
  size_t length;
  char *bytes;
};

enum { MAX_POLLED = 5 + MAX_PEERS + MAX_HELPERS + MAX_CONTACTS };

/* The long arrays of the groups, together in one place, so that few pages are in use. */
struct storage {
  int peers[MAX_PEERS];
  struct contact contacts[MAX_CONTACTS];
  struct known known[MAX_KNOWN];
  struct event events[MAX_EVENTS];
  struct pollfd polled[MAX_POLLED];
  char names[(1 + MAX_QUIET) * (MAX_NAME_BYTES + 1) + 1];
  char news[MAX_NEWS_BYTES];
  struct told told[MAX_TOLD];
  alignas(4096) char outputs[MAX_HELPERS][MAX_OUTPUT_BYTES];
  alignas(4096) char notification[MAX_OUTPUT_BYTES];
  alignas(4096) char memo[MAX_MEMO_BYTES];
  alignas(4096) char texts[MAX_TEXTS_BYTES];
  alignas(4096) char out[MAX_HELLO_BYTES];
  alignas(4096) char in[MAX_IN_BYTES];
};

struct init {
  struct inherited in;
  struct node_command node;
  struct self self;
  int signals; /* a signalfd of all signals */
  bool alone;  /* no supervisor can be started: init decides */
  bool adopts; /* it is PID 1 or a subreaper */
  bool has_to_reap;
  uint64_t unheard; /* signals that nothing in the command handles, as was said; bit n-1 stands for signal n */
  struct orders orders;
  struct own_stop own_stop;
  struct supervisor supervisor;
  struct sleep sleep;
  struct directory directory;
  struct connection connection;
  struct contacts contacts;
  struct memo memo;
  struct queue queue;
  struct liveness liveness;
  struct rung rung;
  struct catcher catcher;
  struct helpers helpers;
  struct children children;
  struct notifications notifications;
  struct mains mains;
  struct texts texts;
  int64_t committed_at; /* the last commit; an event of the same millisecond may have come before it */
  int64_t rows_until;   /* when the rows `mains` and `end` expire; NEVER: only by a commit */
  struct storage storage;
};

/* commit.c */
enum outcome { NO_FRAME, BAD_FRAME, STAY, SLEEP, EXIT };

/* Applies the frame at `at` of what has arrived, and moves `at` behind it. EXIT: with `*code`. */
enum outcome apply_frame(struct init *init, size_t *at, int *code);

/* supervise.c */
void start_due_supervisor(struct init *init);
/* Ends a supervisor that hangs, and replaces one that cannot be ended. */
void end_hanging_supervisor(struct init *init);
/* Applies what the supervisor has sent; false at the end of the connection, and when a frame is wrong. */
bool read_commits(struct init *init);
void on_supervisor_died(struct init *init, const char *why);

/* reap.c */
/* Reaps all that has ended: children, helpers, the supervisor, and adopted orphans. */
void reap(struct init *init);
/* Once the child and all that it left behind have ended: carries out the row for this end, or reports it. */
void settle_end(struct init *init);
