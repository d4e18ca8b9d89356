/* The connection to the supervisor: what goes out, event by event, and the bytes that have come in. */
#ifndef SEXTON_CONNECTION_H
#define SEXTON_CONNECTION_H

#include "directory.h"
#include "frame.h"
#include "helpers.h"
#include "queue.h"

enum { MAX_IN_BYTES = FRAME_HEADER_BYTES + MAX_FRAME_BYTES };

struct connection {
  int fd; /* -1: there is none */
  size_t in_used, out_at, out_used;
  char *in, *out; /* MAX_IN_BYTES, MAX_HELLO_BYTES */
};

void disconnect(struct connection *connection);
/*
 * One read, so that a supervisor that never stops talking cannot keep init from its signals. False at the end of the
 * connection.
 */
bool receive_bytes(struct connection *connection);
/* Drops the first of the bytes that have come in. */
void drop_bytes(struct connection *connection, size_t count);
bool has_unsent(const struct connection *connection, const struct queue *queue);
/* Sends what the socket takes now. An error is left for the reading side, which finds the end of the connection. */
void send_events(struct connection *connection, struct queue *queue, struct helpers *helpers,
                 struct directory *directory);

#endif
