/*
 * The state of sexton-init, in groups; a function gets the groups that it works on, and all of it where those are
 * many. Each group stands in the header of its subject, with the functions that work on it. No file calls one that
 * calls it.
 *
 *   init.c         main, and the loop
 *   start.c        whether the application may be started at once; dropin.c: as tini, dumb-init or kubexit;
 *                  node.c: how Node is started
 *   reap.c         what has ended
 *   supervisor.c   the supervisor's life; watchdog.c: one that hangs; ignore.c: the signals that it ignores;
 *                  deferred.c: one that is not needed yet; sleep.c: one that is not needed now;
 *                  directory.c: what it would see of the members' directory
 *   commit.c       what it orders; connection.c: the bytes from and to it; frame.c, encode.c: the frames
 *   alone.c        the end without a supervisor, and the end of init
 *   signals.c      what init receives and passes on; grace.c: the grace period of a stop
 *   strays.c       adopted processes
 *   reflex.c       what it does because the supervisor has decided it beforehand; prepared-end.c: when the command ends
 *   children.c     the application; terminal.c: in its foreground; helpers.c: commands of probes and hooks
 *   program.c      fork and exec; exec.c: the look-up in PATH; processes.c: /proc
 *   queue.c        events; liveness.c: the socket for peers; refuse.c: why nothing is started
 *   system.c       clock, signal mask, descriptors, pages, stderr; entry.c: the first instructions
 */
#ifndef SEXTON_INIT_H
#define SEXTON_INIT_H

#include <poll.h>
#include <stdalign.h>
#include <sys/types.h>

#include "alone.h"
#include "children.h"
#include "connection.h"
#include "deferred.h"
#include "directory.h"
#include "frame.h"
#include "grace.h"
#include "helpers.h"
#include "liveness.h"
#include "queue.h"
#include "reap.h"
#include "reflex.h"
#include "signals.h"
#include "sleep.h"
#include "start.h"
#include "strays.h"
#include "supervisor.h"
#include "system.h"
#include "terminal.h"

struct self {
  pid_t pid;
  pid_t parent; /* when init was started; 0 once that does not matter */
  bool is_pid1;
  int64_t started_at;
  char host_id[33];
};

/* What the supervisor has left for the next one. */
struct memo {
  bool exists;
  size_t length;
  char *bytes;
};

enum { MAX_POLLED = 4 + MAX_PEERS + MAX_WATCHED + MAX_HELPERS + MAX_MAINS };

/* The long arrays, which the groups point to: one behind the other, so that the pages that are in use are few. */
struct storage {
  pid_t swept[MAX_SWEPT];
  int peers[MAX_PEERS];
  int watched[MAX_WATCHED];
  struct known known[MAX_KNOWN];
  struct event events[MAX_EVENTS];
  struct pollfd polled[MAX_POLLED];
  char names[(1 + MAX_QUIET) * (MAX_NAME_BYTES + 1) + 1];
  char news[MAX_NEWS_BYTES];
  alignas(4096) char outputs[MAX_HELPERS][MAX_OUTPUT_BYTES];
  alignas(4096) char memo[MAX_MEMO_BYTES];
  alignas(4096) char prepared[MAX_PREPARED_BYTES];
  alignas(4096) char out[MAX_HELLO_BYTES];
  alignas(4096) char in[MAX_IN_BYTES];
};

struct init {
  struct inherited in;
  struct node_command node;
  struct self self;
  int signals; /* a signalfd of all signals */
  bool alone;  /* no supervisor can be started: init decides */
  bool has_to_reap, reports_reaped;
  struct terminal terminal;
  struct forwarding forwarding;
  struct grace grace;
  struct supervisor supervisor;
  struct sleep sleep;
  struct directory directory;
  struct connection connection;
  struct memo memo;
  struct queue queue;
  struct liveness liveness;
  struct strays strays;
  struct helpers helpers;
  struct children children;
  struct reflexes reflexes;
  struct storage storage;
};

/* commit.c */
/* Applies every whole frame that has arrived; false when one is wrong. */
bool apply_frames(struct init *init);

/* ignore.c */
/* For the supervisor, in its new process before exec. */
void ignore_signals(void);

#endif
