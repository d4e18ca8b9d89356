/* The supervisor: started, believed while it keeps to the protocol, and started again when it dies. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

void disconnect(struct init *init) {
  if (init->supervisor.fd != -1) close(init->supervisor.fd);
  init->supervisor.fd = -1;
  init->in_used = init->out_at = init->out_used = 0;
}

/* One read, so that a supervisor that never stops talking cannot keep us from our signals. False at the end of the connection. */
bool read_commits(struct init *init) {
  if (init->supervisor.fd == -1) return false;
  ssize_t n = recv(init->supervisor.fd, init->in_bytes + init->in_used, sizeof init->in_bytes - init->in_used, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (n <= 0) return false;
  init->in_used += (size_t)n;
  if (apply_frames(init)) return true;
  say("sexton: the supervisor sent a frame that is not in the protocol; starting it again\n", "", "");
  return false;
}

static _Noreturn void become_supervisor(const struct init *init, int fd) {
  setsid();
  int null = open("/dev/null", O_RDWR);
  if (null != -1) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
  }
  /* Node aborts when one of these is closed and there is no /dev/null to put there. */
  for (int low = STDIN_FILENO; low <= STDERR_FILENO; low++)
    if (fcntl(low, F_GETFD) == -1) dup2(null != -1 ? null : fd, low);
  if (fd == 3) fcntl(fd, F_SETFD, 0);
  else dup2(fd, 3);
  if (syscall(SYS_close_range, 4U, ~0U, 0U) == -1) /* before Linux 5.9; our own descriptors close with exec */
    for (int other = 4; other < 4096; other++) close(other);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* half a gigabyte each, in the application's directory */
  ignore_signals();
  set_mask(0, NULL);
  execve(init->node.argv[0], init->node.argv, init->node.env);
  _exit(127);
}

void start_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  int pair[2];
  supervisor->start_at = NEVER;
  supervisor->committed = false;
  supervisor->due = supervisor->watched_at = supervisor->forget_at = NEVER;
  supervisor->started_at = now_ms();
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1) {
    supervisor_died(init);
    return;
  }
  pair[0] = move_high(pair[0]);
  pair[1] = move_high(pair[1]);
  pid_t pid = vfork();
  if (pid == 0) become_supervisor(init, pair[1]);
  close(pair[1]);
  supervisor->fd = pair[0];
  supervisor->pid = pid > 0 ? pid : 0;
  if (pid == -1) {
    supervisor_died(init);
    return;
  }
  init->sent = 0;
  init->out_used = encode_hello(init->out, init->host_id, init->started_at, init->pid1, init->memo, init->memo_length, init->has_memo);
}

/* A whole frame that it sent before its death was said and is applied; a part of one was not. */
void supervisor_died(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  supervisor->pid = 0;
  /* Bounded, because a process that it left behind may hold the socket open; one read takes all that a socket can hold. */
  for (int reads = 0; reads < 4 && read_commits(init); reads++) continue;
  disconnect(init);
  int64_t now = now_ms();
  if (!supervisor->committed && ++supervisor->failed_starts >= FAILED_STARTS_MAX) {
    if (!init->alone) go_on_alone(init);
    /* What starved it may pass; what breaks it may not, and each start costs. */
    int pauses = supervisor->failed_starts - FAILED_STARTS_MAX;
    supervisor->start_at = now + (pauses < 4 ? (int64_t)LONGEST_DELAY_MS << pauses : LONGEST_PAUSE_MS);
    return;
  }
  if (supervisor->committed && now - supervisor->started_at >= SOUND_LIFE_MS) supervisor->delay_ms = 0;
  supervisor->start_at = now + supervisor->delay_ms;
  supervisor->delay_ms = supervisor->delay_ms == 0 ? FIRST_DELAY_MS : 2 * supervisor->delay_ms;
  if (supervisor->delay_ms > LONGEST_DELAY_MS) supervisor->delay_ms = LONGEST_DELAY_MS;
}
