/*
 * The liveness socket. A peer in another container connects and init only holds the connection; the kernel closes it
 * when init is gone, however that happens, and that is all the peer wants to know.
 */
#ifndef SEXTON_LIVENESS_H
#define SEXTON_LIVENESS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_PEERS = 512 };

struct liveness {
  int listener; /* -1: there is none */
  size_t count, limit;
  int64_t accept_at; /* out of descriptors until then; NEVER: not so */
  int *peers;        /* their connections */
};

/* The path has at most MAX_SOCKET_PATH_BYTES. A link in the place of its directory is not followed. */
void listen_at(struct liveness *liveness, const char *path);
/* Puts the listener at `polled[at]` and the connections behind it, and returns where these end. */
size_t poll_peers(const struct liveness *liveness, struct pollfd *polled, size_t at);
/* Looks at so many connections behind `polled[at]`, and then at the listener. */
void take_polled_peers(struct liveness *liveness, const struct pollfd *polled, size_t at, size_t count);

/* To all connections that are held. Who does not listen misses it. */
void tell_peers(const struct liveness *liveness, const char *bytes, size_t length);

#endif
