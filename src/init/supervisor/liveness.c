/*
 * The liveness socket. A peer in another container connects, and init only holds the connection: the kernel closes it
 * when init is gone, however that happens.
 */
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "supervisor.h"

enum { ACCEPT_PAUSE_MS = 1000 };

static void accept_peers(struct liveness *liveness) {
  while (liveness->listener != -1 && liveness->count < liveness->limit) {
    int fd = move_high(accept4(liveness->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd == -1) {
      /* Out of descriptors or memory the listener stays readable, so the poll leaves it out for a while. */
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) liveness->accept_at = now_ms() + ACCEPT_PAUSE_MS;
      return;
    }
    liveness->peers[liveness->count++] = fd;
  }
}

/*
 * Another container can put a link in the place of the directory. So init opens it without following a link, and goes
 * through its descriptor. Without /proc it goes by the path, which was no link a moment ago.
 */
static bool bind_at(int fd, const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  char *slash = strrchr(strcpy(address.sun_path, path), '/');
  if (!slash) return false;
  const char *name = path + (slash + 1 - address.sun_path);
  *slash = 0;
  int directory = open(address.sun_path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory == -1) return false;
  unlinkat(directory, name, 0);
  char *end = stpcpy(put_digits(stpcpy(address.sun_path, "/proc/self/fd/"), (uint64_t)directory, 1), "/");
  bool has_room = (size_t)(end - address.sun_path) + strlen(name) < sizeof address.sun_path;
  if (has_room && access(address.sun_path, F_OK) == 0) strcpy(end, name);
  else strcpy(address.sun_path, path);
  /* umask sets the mode, because chmod would follow a link that another container has put here meanwhile. */
  mode_t mask = umask(0111);
  bool bound = bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
  umask(mask);
  close(directory);
  return bound;
}

void listen_at(struct liveness *liveness, const char *path) {
  accept_peers(liveness); /* closing the old listener would refuse peers that wait there */
  int fd = move_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  bool bound = fd != -1 && bind_at(fd, path) && listen(fd, 128) == 0;
  let_go(liveness->listener);
  liveness->listener = bound ? fd : -1;
  if (bound) return;
  say("sexton: cannot listen at ", path, ": peers will not notice at once when this container is killed\n");
  if (fd != -1) close(fd);
}

size_t poll_peers(const struct liveness *liveness, struct pollfd *polled, size_t at) {
  bool accepting = liveness->count < liveness->limit && liveness->accept_at == NEVER;
  polled[at++] = (struct pollfd){.fd = accepting ? liveness->listener : -1, .events = POLLIN};
  /* Only the end of a connection matters, and poll(2) always reports that. */
  for (size_t i = 0; i < liveness->count; i++) polled[at++] = (struct pollfd){.fd = liveness->peers[i]};
  return at;
}

void take_polled_peers(struct liveness *liveness, const struct pollfd *polled, size_t at, size_t count) {
  for (size_t i = count; i-- > 0;) {
    if (polled[at + 1 + i].revents == 0) continue;
    let_go(liveness->peers[i]);
    liveness->peers[i] = liveness->peers[--liveness->count];
  }
  if (polled[at].revents) accept_peers(liveness);
}

void make_notice(char notice[NOTICE_BYTES], const char *host_id, int how) {
  char *end = mempcpy(stpcpy(notice, "dead "), host_id, HOST_ID_BYTES);
  memcpy(end, (char[]){' ', (char)how, '\n'}, 3);
}

void announce_end(const struct liveness *liveness, const char *host_id, int how) {
  char notice[NOTICE_BYTES];
  make_notice(notice, host_id, how);
  for (size_t i = 0; i < liveness->count; i++)
    send(liveness->peers[i], notice, NOTICE_BYTES, MSG_DONTWAIT | MSG_NOSIGNAL);
}
