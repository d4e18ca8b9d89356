/*
 * sexton-sockets on a kernel that ends each dump with ENOENT, as without the module tcp_diag: __inet_diag_dump and
 * netlink_dump_done in the kernel.
 */
#include <stddef.h>
#include <sys/types.h>

static ssize_t end_with_enoent(int fd, void *buffer, size_t length, int flags);
#define recv end_with_enoent
#include "../../src/informants/sockets.c"

static ssize_t end_with_enoent(int fd, void *buffer, size_t length, int flags) {
  (void)fd;
  if (flags & MSG_DONTWAIT) return errno = EAGAIN, -1;
  struct {
    struct header header;
    int code;
  } done = {.header = {.length = sizeof done, .type = NLMSG_DONE_}, .code = -ENOENT};
  if (length < sizeof done) return errno = EINVAL, -1;
  memcpy(buffer, &done, sizeof done);
  return sizeof done;
}

int main(void) { tell_sockets(); }
