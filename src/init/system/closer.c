/*
 * Closes sockets to which others may send. A message may carry descriptors, which the kernel closes with it (unix(7)).
 * The close of a TCP socket sleeps as long as its SO_LINGER says, but not in a process that exits (socket(7)). So init
 * itself closes no message with a descriptor: the closer does, a process that holds a copy and exits.
 */
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "system.h"

enum { MAX_UNREAD = 256, MAX_RIGHTS = 253 }; /* MAX_RIGHTS: the most descriptors of a message, unix(7) */

pid_t closer;

static int unread[MAX_UNREAD];
static size_t unread_count;

ssize_t read_safely(int socket, char *bytes, size_t size) {
  struct iovec part = {.iov_base = bytes, .iov_len = size};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  ssize_t length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_PEEK);
  /* A descriptor finds no room: unix(7), MSG_CTRUNC. */
  if (length <= 0 || message.msg_flags & MSG_CTRUNC) return length;
  return recv(socket, bytes, (size_t)length, MSG_DONTWAIT);
}

void let_go(int fd) {
  int bytes = 0;
  if (fd == -1) return;
  shutdown(fd, SHUT_RD); /* nothing follows: a later send(2) fails with EPIPE */
  /* FIONREAD fails for a listener, whose connections close with it. */
  if (ioctl(fd, FIONREAD, &bytes) == 0 && bytes == 0) close(fd);
  else if (unread_count < MAX_UNREAD) unread[unread_count++] = fd; /* one more stays open until init exits */
}

void close_unread(void) {
  if (unread_count == 0 || closer > 0) return;
  pid_t self = getpid(), pid = start_process();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (getppid() == self) pause();
    _exit(0);
  }
  if (pid == -1) return;
  while (unread_count > 0) close(unread[--unread_count]);
  kill(pid, SIGKILL); /* the copies of the closer must be the last ones */
  closer = pid;
}

bool take_message(int socket) {
  char control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(MAX_RIGHTS * sizeof(int))];
  struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};
  pid_t pid = closer > 0 ? -1 : start_process();
  if (pid == 0) _exit(recvmsg(socket, &message, MSG_DONTWAIT) == -1);
  if (pid > 0) closer = pid;
  return pid > 0;
}

bool is_only_closer_dead(void) {
  for (;;) {
    siginfo_t ended = {.si_pid = 0};
    int error = waitid(P_ALL, 0, &ended, WEXITED | WSTOPPED | WNOHANG | WNOWAIT);
    if (error == -1 || ended.si_pid == 0) return true;
    if (ended.si_pid != closer) return false;
    waitpid(closer, NULL, 0);
    closer = 0;
  }
}
