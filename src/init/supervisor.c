/*
 * The supervisor: started, believed while it keeps to the protocol, and started again when it dies. A commit is checked whole
 * before any of it is applied, so that it is applied whole or not at all.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static void spawn_words(struct init *init, const struct operation *op) {
  if (op->index > 0) {
    spawn(init, op->id, init->in.argv + op->index);
    return;
  }
  size_t size = ((size_t)op->count + 1) * sizeof(char *);
  char **argv = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (argv == MAP_FAILED) {
    init->last_child = op->id;
    push(init, (struct event){.kind = EV_SPAWN_FAILED, .id = op->id, .value = ENOMEM});
    return;
  }
  const char *word = op->text;
  for (uint32_t i = 0; i < op->count; i++, word += strlen(word) + 1) argv[i] = (char *)(uintptr_t)word;
  spawn(init, op->id, argv);
  munmap(argv, size);
}

static void apply(struct init *init, const struct operation *op) {
  struct child *child = find_child(init, op->id);
  switch (op->kind) {
    case OP_ACK:
      acknowledge(init, op->seq);
      break;
    case OP_MEMO:
      forget(init->memo, init->memo_length);
      memcpy(init->memo, op->text, op->length);
      init->memo_length = op->length;
      init->has_memo = true;
      break;
    case OP_SPAWN:
      /* A supervisor that is new does not know what was started at once; the queued `spawned` tells it. */
      if (op->id > init->last_child) spawn_words(init, op);
      break;
    case OP_KILL:
      if (child) signal_group(child, op->signal);
      break;
    case OP_FORWARD:
      init->forward_to = op->id;
      memcpy(init->forward, op->table, sizeof init->forward);
      break;
    case OP_ONCE:
      init->once_to = op->id;
      memcpy(init->once, op->table, sizeof init->once);
      break;
    case OP_FALLBACK:
      init->fallback = (struct fallback){op->stops, op->signal, op->grace_ms};
      break;
    case OP_LISTEN:
      listen_at(init, op->text, op->length);
      break;
    case OP_EXIT:
      init->leaving = op->code;
      break;
  }
}

static bool apply_commit(struct init *init, const char *body, size_t length) {
  struct operation op;
  struct fields fields;
  uint64_t last_event = init->sent > 0 ? init->queue[init->sent - 1].seq : init->acknowledged;
  if (!commit_is_valid(body, length, (struct bounds){last_event, (uint32_t)init->in.argc})) return false;
  size_t spawns = 0;
  commit_begin(&fields, body, length);
  while (next_operation(&fields, &op) == DECODED_OPERATION) spawns += op.kind == OP_SPAWN;
  if (spawns > 0 && init->queued + spawns > SIGNALS_QUEUED_MAX) return false; /* it acknowledges nothing */
  commit_begin(&fields, body, length);
  while (next_operation(&fields, &op) == DECODED_OPERATION) apply(init, &op);
  init->supervisor.committed = true;
  init->supervisor.failed_starts = 0;
  if (init->alone) end_being_alone(init);
  if (init->leaving >= 0) leave(init, init->leaving);
  return true;
}

/* Applies every whole frame that has arrived; false when one is wrong. */
static bool apply_frames(struct init *init) {
  size_t at = 0;
  while (init->in_used - at >= FRAME_HEADER) {
    size_t length = frame_length(init->in_bytes + at);
    if (length == 0 || length > FRAME_MAX) return false;
    if (init->in_used - at - FRAME_HEADER < length) break;
    if (!apply_commit(init, init->in_bytes + at + FRAME_HEADER, length)) return false;
    at += FRAME_HEADER + length;
  }
  memmove(init->in_bytes, init->in_bytes + at, init->in_used - at);
  if (at == init->in_used) forget(init->in_bytes, at);
  init->in_used -= at;
  return true;
}

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
  for (int number = 1; number <= SIGNAL_MAX; number++) signal(number, SIG_DFL);
  set_mask(inherited_mask, NULL);
  execve(init->node.argv[0], init->node.argv, init->node.env);
  _exit(127);
}

void start_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  int pair[2];
  supervisor->start_at = NEVER;
  supervisor->committed = supervisor->given_up = false;
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
    supervisor->start_at = now + LONGEST_DELAY_MS; /* what starved it may pass */
    return;
  }
  if (supervisor->committed && now - supervisor->started_at >= SOUND_LIFE_MS) supervisor->delay_ms = 0;
  supervisor->start_at = now + supervisor->delay_ms;
  supervisor->delay_ms = supervisor->delay_ms == 0 ? FIRST_DELAY_MS : 2 * supervisor->delay_ms;
  if (supervisor->delay_ms > LONGEST_DELAY_MS) supervisor->delay_ms = LONGEST_DELAY_MS;
}
