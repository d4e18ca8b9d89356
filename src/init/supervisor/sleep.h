/*
 * Sleep: a supervisor for which nothing is due is let go, and started again when something happens. Before that it
 * has init watch, in its place, the directory that the members share and its connections to them.
 */
#ifndef SEXTON_SLEEP_H
#define SEXTON_SLEEP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "frame.h"

struct init;

struct sleep {
  bool has_fired;   /* something that is watched has changed, or cannot be watched */
  bool is_asleep;   /* nothing is decided until something happens */
  bool is_parting;  /* the supervisor was KILLed for that, and is not reaped yet */
  size_t count;     /* of the connections to peers */
  int *peers;
  int shown;        /* the file whose lock shows that the supervisor sleeps; -1: there is none */
  char why[MAX_WHY_BYTES + 1]; /* what has fired first; later: what has woken the next supervisor */
};

/* Watches this directory and these sockets, in place of those before. What cannot be watched has fired. */
void watch(struct init *init, const struct operation *op);
/* Looks at the directory, if it is to be looked at now. */
void look_when_changed(struct init *init);
/*
 * Holds a read lock on this file (fcntl(2), F_OFD_SETLK) until the supervisor is woken, or is not let go: whoever may
 * read /proc/locks sees that it sleeps, and nobody is told of a change.
 */
void show_asleep(struct sleep *sleep, const char *path);
/* Lets the supervisor go, if nothing has happened that it does not know; else forgets what is watched. */
void go_to_sleep(struct init *init);
/* Has a supervisor started when something has happened. To be called in each turn. */
void wake_when_needed(struct init *init);
void wake(struct init *init, const char *why);
/* To be called when the supervisor is gone; false: not because it was let go. */
bool has_gone_to_sleep(struct init *init);
/* The path has at most MAX_SOCKET_PATH_BYTES. -1: nobody is there. Links are not followed, as connect(2) would. */
int connect_to(const char *path);
/* Puts what is watched into `polled` from `at` on, and returns where that ends. */
size_t poll_watched(const struct init *init, struct pollfd *polled, size_t at);
/* To be called before a commit can change what is watched. */
void take_polled_watched(struct init *init, const struct pollfd *polled, size_t at, size_t end);

#endif
