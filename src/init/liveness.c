/*
 * The liveness socket. A peer in another container connects and we only hold the connection; the kernel closes it when
 * we are gone, however that happens, and that is all the peer wants to know.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "init.h"

void accept_peers(struct init *init) {
  while (init->listener != -1 && init->held_count < init->held_max) {
    int fd = move_high(accept4(init->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd == -1) {
      /* Out of descriptors or memory: the listener stays readable, so look away for a while. */
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) init->accept_at = now_ms() + ACCEPT_PAUSE_MS;
      return;
    }
    init->held[init->held_count++] = fd;
  }
}

void listen_at(struct init *init, const char *path, size_t length) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, path, length);
  accept_peers(init); /* who waits at the old listener must not be turned away */
  int fd = move_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  unlink(address.sun_path);
  /* The mode by umask and not by chmod, which would follow a link that another container has put here meanwhile. */
  mode_t mask = umask(0111);
  bool bound = fd != -1 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0 && listen(fd, 128) == 0;
  umask(mask);
  if (init->listener != -1) close(init->listener);
  init->listener = bound ? fd : -1;
  if (bound) return;
  say("sexton: cannot listen at ", address.sun_path, ": peers will not notice at once when this container is killed\n");
  if (fd != -1) close(fd);
}

void drop_ended_peers(struct init *init, size_t polled) {
  for (size_t i = polled; i-- > 0;) {
    if (init->polled[3 + i].revents == 0) continue;
    close(init->held[i]);
    init->held[i] = init->held[--init->held_count];
  }
}
