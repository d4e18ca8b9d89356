/* Signals that init receives: read from a signalfd, passed on to the child or queued for the supervisor. */
#ifndef SEXTON_SIGNALS_H
#define SEXTON_SIGNALS_H

#include "grace.h"

/* To which child a signal is passed on, and as what; 0: not at all. */
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
/* As if this signal had come from an unknown sender. */
void receive_signal(struct init *init, int number);
/* Passes the signals on that are queued: no supervisor will. */
void forward_queued(struct init *init);

#endif
