/* The connection to the supervisor: events go out, and the bytes of commits come in. */
#include <sys/socket.h>

#include "init.h"

void disconnect(struct connection *connection) {
  if (connection->fd != -1) close(connection->fd);
  connection->fd = -1;
  connection->in_used = connection->out_at = connection->out_used = 0;
}

bool receive_bytes(struct connection *connection) {
  if (connection->fd == -1) return false;
  size_t used = connection->in_used;
  ssize_t n = recv(connection->fd, connection->in + used, MAX_IN_BYTES - used, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  connection->in_used += (size_t)n;
  return true;
}

void drop_bytes(struct connection *connection, size_t count) {
  memmove(connection->in, connection->in + count, connection->in_used - count);
  if (count == connection->in_used) release_if_large(connection->in, count);
  connection->in_used -= count;
}

bool has_unsent(const struct connection *connection, const struct queue *queue) {
  return connection->out_at < connection->out_used || queue->sent < queue->count;
}

/* Encodes the next frame; 0: there is none. */
static size_t encode_next(struct init *init, char *out) {
  struct queue *queue = &init->queue;
  size_t length;
  if (queue->sent == queue->count) {
    length = encode_contact(&init->contacts, out);
    return length > 0 ? length : encode_news(&init->directory, out);
  }
  const struct event *event = &queue->events[queue->sent++];
  if (event->kind == EV_NOTIFIED)
    return encode_event(out, event, init->notifications.text, init->notifications.used);
  const char *output = output_of(&init->helpers, event, &length);
  return encode_event(out, event, output, length);
}

void send_events(struct init *init) {
  struct connection *connection = &init->connection;
  while (connection->fd != -1) {
    if (connection->out_at == connection->out_used) {
      release_if_large(connection->out, connection->out_used);
      connection->out_at = 0;
      connection->out_used = encode_next(init, connection->out);
      if (connection->out_used == 0) return;
    }
    const char *rest = connection->out + connection->out_at;
    ssize_t n = send(connection->fd, rest, connection->out_used - connection->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) return;
    connection->out_at += (size_t)n;
  }
}
