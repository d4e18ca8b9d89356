/*
 * sexton-init: PID 1 of a container, a subreaper elsewhere. It takes every signal from its first instruction on, starts and
 * reaps processes, and tells the supervisor what happened, by the protocol in protocol.md. It decides nothing that the
 * supervisor can decide, so the supervisor may die at any moment and come back to the same state.
 *
 * How it works. All signals are blocked for good and read from a signalfd, so there is one loop and no handler, and nothing
 * that happens is ever missed. What happened becomes an event in a queue; the queue is sent to the supervisor and shrinks
 * when a commit acknowledges it. A commit is checked whole before any of it is applied. Memory is static and bounded; its pages
 * are touched only when they are needed, which keeps an idle init below 100 KB.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdalign.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"
#include "start.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum {
  CHILDREN_MAX = 256,
  HELD_MAX = 512,
  SIGNALS_QUEUED_MAX = 4096,
  /* Room that signals never take: one for each number, three for each child. */
  QUEUE_MAX = SIGNALS_QUEUED_MAX + SIGNAL_MAX + 3 * CHILDREN_MAX,
  FAILED_STARTS_MAX = 10,
  FIRST_DELAY_MS = 50,
  LONGEST_DELAY_MS = 5000,
  SOUND_LIFE_MS = 5000,
  GROUP_CHECK_MS = 50,
  ACCEPT_PAUSE_MS = 1000,
  LARGE_BYTES = 16384,
  FIRST_HIGH_FD = 100,
};

static const int64_t NEVER = INT64_MAX;

/* A child whose process group is not known to be empty. */
struct child {
  uint64_t id;
  pid_t pid; /* and the number of its group */
  bool exited;
};

struct supervisor {
  pid_t pid; /* 0: none runs */
  int fd;    /* -1: no connection */
  bool committed;
  int64_t started_at, start_at; /* start_at: when to start the next one */
  int64_t delay_ms;
  int failed_starts;
};

/* What init does by itself when there is no supervisor any more. */
struct fallback {
  uint64_t stops;
  int signal;
  int64_t grace_ms;
};

struct init {
  struct inherited in;
  struct node_command node;
  pid_t pid;
  bool pid1, chld_ignored, alone;
  int signals;
  int64_t started_at;
  char host_id[33];
  struct supervisor supervisor;

  struct child children[CHILDREN_MAX];
  size_t child_count;
  uint64_t last_child;
  int last_status; /* exit code of the last child; -1 while it lives */
  uint64_t terminal_owner;
  int64_t check_groups_at;

  uint64_t forward_to;
  uint8_t forward[SIGNAL_MAX + 1];
  struct fallback fallback;
  int64_t kill_at;
  int leaving; /* the code of an `exit`; -1: none */

  int listener;
  int held[HELD_MAX];
  size_t held_count;
  int64_t accept_at;

  uint64_t last_seq, acknowledged;
  size_t queued, sent; /* events in the queue; how many of them this supervisor was sent */
  size_t in_used, out_at, out_used, memo_length;
  bool has_memo;
  struct event queue[QUEUE_MAX];
  struct pollfd polled[3 + HELD_MAX];
  alignas(4096) char memo[MEMO_MAX];
  alignas(4096) char out[HELLO_FRAME_MAX];
  alignas(4096) char in_bytes[FRAME_HEADER + FRAME_MAX];
};

/*
 * The mask that init was started with, saved by its first instructions. The kernel drops a signal without a handler for PID 1
 * unless it is blocked, so what comes before `main` must find it blocked already.
 */
extern uint64_t inherited_mask;
uint64_t inherited_mask;

#ifdef SEXTON_ENTRY
extern const uint64_t sexton_all_signals;
const uint64_t sexton_all_signals = ~UINT64_C(0);
#if defined(__x86_64__)
__asm__(".text\n.globl sexton_entry\n.type sexton_entry, @function\n"
        "sexton_entry:\n"
        "  mov %rdx, %r8\n" /* what _start expects in rdx survives the system call in r8 */
        "  mov $14, %eax\n" /* rt_sigprocmask */
        "  mov $2, %edi\n"  /* SIG_SETMASK */
        "  lea sexton_all_signals(%rip), %rsi\n"
        "  lea inherited_mask(%rip), %rdx\n"
        "  mov $8, %r10d\n"
        "  syscall\n"
        "  mov %r8, %rdx\n"
        "  jmp _start\n");
#elif defined(__aarch64__)
__asm__(".text\n.globl sexton_entry\n.type sexton_entry, %function\n"
        "sexton_entry:\n"
        "  mov x9, x0\n"
        "  mov x8, #135\n"
        "  mov x0, #2\n"
        "  adrp x1, sexton_all_signals\n"
        "  add x1, x1, :lo12:sexton_all_signals\n"
        "  adrp x2, inherited_mask\n"
        "  add x2, x2, :lo12:inherited_mask\n"
        "  mov x3, #8\n"
        "  svc #0\n"
        "  mov x0, x9\n"
        "  b _start\n");
#endif
#endif

/* The C libraries keep two or three signals for themselves; these calls do not. */
static void set_mask(uint64_t mask, uint64_t *old) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, old, sizeof mask); }

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A descriptor of ours must not fill a gap at 0, 1 or 2 that the application was given. */
static int move_high(int fd) {
  if (fd == -1 || fd >= FIRST_HIGH_FD) return fd;
  int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_HIGH_FD);
  if (high == -1 && fd <= STDERR_FILENO) high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (high == -1) return fd;
  close(fd);
  return high;
}

/* Gives the pages behind the first of a large buffer back. */
static void forget(char *buffer, size_t size) {
  if (size > LARGE_BYTES) madvise(buffer, size, MADV_DONTNEED);
}

/* ---- events ---- */

static void push(struct init *init, struct event event) {
  if (init->alone) return;
  if (init->queued >= SIGNALS_QUEUED_MAX) {
    if (event.kind == EV_FORWARDED) return;
    if (event.kind == EV_SIGNAL)
      for (size_t i = 0; i < init->queued; i++)
        if (init->queue[i].kind == EV_SIGNAL && init->queue[i].value == event.value) return;
  }
  if (init->queued == QUEUE_MAX) return; /* cannot be: spawn leaves room for all that a child can cause */
  event.seq = ++init->last_seq;
  event.at = now_ms();
  init->queue[init->queued++] = event;
}

static void acknowledge(struct init *init, uint64_t seq) {
  size_t done = 0;
  while (done < init->queued && init->queue[done].seq <= seq) done++;
  memmove(init->queue, init->queue + done, (init->queued - done) * sizeof *init->queue);
  init->queued -= done;
  init->sent -= done;
  if (seq > init->acknowledged) init->acknowledged = seq;
}

/* Sends what the socket takes now. An error is left for the reading side, which finds the end of the connection. */
static void send_events(struct init *init) {
  while (init->supervisor.fd != -1) {
    if (init->out_at == init->out_used) {
      forget(init->out, init->out_used);
      init->out_at = init->out_used = 0;
      if (init->sent == init->queued) return;
      init->out_used = encode_event(init->out, &init->queue[init->sent++]);
    }
    ssize_t n = send(init->supervisor.fd, init->out + init->out_at, init->out_used - init->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) return;
    init->out_at += (size_t)n;
  }
}

/* ---- the terminal ---- */

/* Only from a foreground that is ours may we give: a shell may have started us in the background. */
static bool holds_foreground(void) {
  pid_t foreground = tcgetpgrp(STDIN_FILENO); /* fails unless descriptor 0 is our controlling terminal */
  return foreground != -1 && foreground == getpgrp();
}

static void give_terminal(struct init *init, const struct child *child) {
  if (!child->exited && holds_foreground() && tcsetpgrp(STDIN_FILENO, child->pid) == 0) init->terminal_owner = child->id;
}

static void take_terminal(struct init *init, uint64_t id) {
  if (init->terminal_owner != id) return;
  tcsetpgrp(STDIN_FILENO, getpgrp()); /* SIGTTOU is blocked, so this works from the background: tcsetpgrp(3) */
  init->terminal_owner = 0;
}

/* ---- children ---- */

static void signal_group(const struct child *child, int number) {
  if (child->pid <= 1) return;
  kill(-child->pid, number);
  if (number == SIGTERM || number == SIGHUP || number == SIGINT || number == SIGQUIT) kill(-child->pid, SIGCONT);
}

static struct child *find_child(struct init *init, uint64_t id) {
  for (size_t i = 0; i < init->child_count; i++)
    if (init->children[i].id == id) return &init->children[i];
  return NULL;
}

/* The child's side of a spawn. After vfork it shares our memory: it only makes system calls and uses its own part of the stack. */
static _Noreturn void become(const struct init *init, char *const argv[], bool foreground, int report) {
  int error = setpgid(0, 0) == -1 ? errno : 0;
  if (foreground) tcsetpgrp(STDIN_FILENO, getpid());
  if (init->chld_ignored) signal(SIGCHLD, SIG_IGN);
  set_mask(inherited_mask, NULL);
  if (error == 0) error = exec_in_path(argv, init->in.env);
  ssize_t written = write(report, &error, sizeof error);
  _exit(written == sizeof error ? EXIT_OWN_ERROR : EXIT_OWN_ERROR + 1);
}

/*
 * Starts a program and returns 0 and its pid, or the errno. The errno comes through a pipe, which the exec closes, and not through
 * the memory that vfork shares: where vfork is emulated as fork (qemu's user mode) nothing is shared.
 */
static int start_program(const struct init *init, char *const argv[], bool foreground, pid_t *pid) {
  int report[2];
  int error = 0;
  if (pipe2(report, O_CLOEXEC) == -1) return errno;
  *pid = vfork();
  if (*pid == 0) become(init, argv, foreground, report[1]);
  int fork_error = errno;
  close(report[1]);
  if (*pid == -1) {
    error = fork_error;
  } else if (read(report[0], &error, sizeof error) == sizeof error) {
    waitpid(*pid, NULL, 0);
  } else {
    error = 0;
  }
  close(report[0]);
  return error;
}

static void spawn(struct init *init, uint64_t id, char *const argv[]) {
  bool foreground = holds_foreground();
  pid_t pid = 0;
  int error = init->child_count == CHILDREN_MAX ? EAGAIN : start_program(init, argv, foreground, &pid);
  init->last_child = id;
  if (foreground) init->terminal_owner = id;
  if (error) {
    take_terminal(init, id);
    init->last_status = error == ENOENT ? 127 : 126;
    push(init, (struct event){.kind = EV_SPAWN_FAILED, .id = id, .value = error});
    return;
  }
  init->last_status = -1;
  init->children[init->child_count++] = (struct child){.id = id, .pid = pid};
  push(init, (struct event){.kind = EV_SPAWNED, .id = id, .pid = pid});
}

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

/* Reports each group that has become empty. There is no event for that in the kernel, so while one is left we look again. */
static void check_groups(struct init *init) {
  size_t kept = 0;
  init->check_groups_at = NEVER;
  for (size_t i = 0; i < init->child_count; i++) {
    struct child child = init->children[i];
    if (child.exited && kill(-child.pid, 0) == -1 && errno == ESRCH) {
      push(init, (struct event){.kind = EV_GONE, .id = child.id});
      continue;
    }
    if (child.exited) init->check_groups_at = now_ms() + GROUP_CHECK_MS;
    init->children[kept++] = child;
  }
  init->child_count = kept;
}

/*
 * The foreground child was stopped from its terminal. The shell that started us waits for us and not for the child, so we stop
 * too; the lines after `kill` run when the shell has continued us. PID 1 and a session's leader have no such shell.
 */
static void stop_with(struct init *init, const struct child *child, int number) {
  if (number != SIGTSTP && number != SIGTTIN && number != SIGTTOU) return;
  if (init->pid1 || getsid(0) == init->pid || tcgetpgrp(STDIN_FILENO) == -1) return;
  take_terminal(init, child->id);
  kill(init->pid, SIGSTOP);
  give_terminal(init, child);
  signal_group(child, SIGCONT);
}

static void child_changed(struct init *init, struct child *child, int status) {
  if (WIFSTOPPED(status)) {
    stop_with(init, child, WSTOPSIG(status));
    return;
  }
  bool by_signal = WIFSIGNALED(status);
  int value = by_signal ? WTERMSIG(status) : WEXITSTATUS(status);
  child->exited = true;
  take_terminal(init, child->id);
  if (child->id == init->last_child) init->last_status = by_signal ? 128 + value : value;
  push(init, (struct event){.kind = by_signal ? EV_KILLED : EV_EXITED,
                            .id = child->id,
                            .pid = child->pid,
                            .value = value,
                            .flag = by_signal && WCOREDUMP(status)});
}

static void supervisor_died(struct init *init);

/* Takes everything that has ended: our children, the supervisor, and silently the orphans that we have adopted. */
static void reap(struct init *init) {
  int status;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (pid == init->supervisor.pid) {
      if (!WIFSTOPPED(status)) supervisor_died(init);
      continue;
    }
    for (size_t i = 0; i < init->child_count; i++)
      if (init->children[i].pid == pid && !init->children[i].exited) {
        child_changed(init, &init->children[i], status);
        break;
      }
  }
  check_groups(init);
}

/* ---- leaving ---- */

/* KILLs whom the kernel names as our children and returns how many it found. A pid that waitid does not know is not ours. */
static size_t kill_adopted(void) {
  char bytes[4096];
  size_t killed = 0;
  int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd == -1) return 0;
  ssize_t length = read(fd, bytes, sizeof bytes);
  close(fd);
  pid_t pid = 0;
  for (ssize_t i = 0; i < length; i++) {
    if (bytes[i] >= '0' && bytes[i] <= '9') {
      pid = pid * 10 + (bytes[i] - '0');
      continue;
    }
    siginfo_t info;
    if (pid > 1 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
      kill(pid, SIGKILL);
      killed++;
    }
    pid = 0;
  }
  return killed;
}

static _Noreturn void leave(struct init *init, int code) {
  if (init->pid1) _exit(code); /* the kernel KILLs the rest of the PID namespace: pid_namespaces(7) */
  for (size_t i = 0; i < init->child_count; i++) signal_group(&init->children[i], SIGKILL);
  if (init->supervisor.pid > 0) kill(init->supervisor.pid, SIGKILL);
  take_terminal(init, init->terminal_owner);
  /* What dies leaves its own children to us, so once is not enough; a second is, unless the kernel itself is stuck. */
  for (int round = 0; round < 200; round++) {
    bool found = kill_adopted() > 0;
    pid_t pid;
    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) found = true;
    if (pid == -1 && errno == ECHILD) break;
    if (!found && round > 20) break; /* without /proc there is nobody that we could name */
    poll(NULL, 0, 5);
  }
  _exit(code);
}

/* ---- going on alone ---- */

static void signal_alone(struct init *init, int number) {
  struct child *child = find_child(init, init->last_child);
  if (!child) return;
  if (init->fallback.stops >> (number - 1) & 1) {
    if (init->kill_at == NEVER && init->fallback.grace_ms >= 0) init->kill_at = now_ms() + init->fallback.grace_ms;
    signal_group(child, init->fallback.signal ? init->fallback.signal : number);
    return;
  }
  signal_group(child, init->forward[number] ? init->forward[number] : number);
}

/* The last thing in each turn: when nobody decides any more, the end of the child is our own. */
static void end_alone(struct init *init) {
  if (init->last_child == 0) leave(init, EXIT_OWN_ERROR);
  if (init->last_status >= 0) leave(init, init->last_status);
  if (now_ms() < init->kill_at) return;
  init->kill_at = NEVER;
  struct child *child = find_child(init, init->last_child);
  if (child) signal_group(child, SIGKILL);
}

static void go_on_alone(struct init *init) {
  init->alone = true;
  if (init->last_child == 0) say("sexton: cannot start the supervisor: it died ten times in a row; nothing was started\n", "", "");
  else say("sexton: cannot start the supervisor: it died ten times in a row; the application goes on without it\n", "", "");
  for (size_t i = 0; i < init->queued; i++)
    if (init->queue[i].kind == EV_SIGNAL) signal_alone(init, init->queue[i].value);
  init->queued = 0;
}

/* ---- liveness ---- */

/* A peer holds a connection; the kernel closes it when we are gone, however that happens. We only keep it open. */
static void accept_peers(struct init *init) {
  while (init->listener != -1 && init->held_count < HELD_MAX) {
    int fd = move_high(accept4(init->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd == -1) {
      /* Out of descriptors or memory: the listener stays readable, so look away for a while. */
      if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) init->accept_at = now_ms() + ACCEPT_PAUSE_MS;
      return;
    }
    init->held[init->held_count++] = fd;
  }
}

static void listen_at(struct init *init, const char *path, size_t length) {
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

/* ---- the supervisor ---- */

static void apply(struct init *init, const struct operation *op) {
  struct child *child = find_child(init, op->id);
  switch (op->kind) {
    case OP_ACK:
      acknowledge(init, op->seq);
      break;
    case OP_MEMO:
      memcpy(init->memo, op->text, op->length);
      init->memo_length = op->length;
      init->has_memo = true;
      break;
    case OP_SPAWN:
      spawn_words(init, op);
      break;
    case OP_KILL:
      if (child) signal_group(child, op->signal);
      break;
    case OP_FORWARD:
      init->forward_to = op->id;
      memcpy(init->forward, op->table, sizeof init->forward);
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
  if (!commit_is_valid(body, length, (struct bounds){last_event, init->last_child, (uint32_t)init->in.argc})) return false;
  size_t spawns = 0;
  commit_begin(&fields, body, length);
  while (next_operation(&fields, &op) == DECODED_OPERATION) spawns += op.kind == OP_SPAWN;
  if (spawns > 0 && init->queued + spawns > SIGNALS_QUEUED_MAX) return false; /* it acknowledges nothing */
  commit_begin(&fields, body, length);
  while (next_operation(&fields, &op) == DECODED_OPERATION) apply(init, &op);
  init->supervisor.committed = true;
  init->supervisor.failed_starts = 0;
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

static void disconnect(struct init *init) {
  if (init->supervisor.fd != -1) close(init->supervisor.fd);
  init->supervisor.fd = -1;
  init->in_used = init->out_at = init->out_used = 0;
}

/* One read, so that a supervisor that never stops talking cannot keep us from our signals. False at the end of the connection. */
static bool read_commits(struct init *init) {
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
  if (fd == 3) fcntl(fd, F_SETFD, 0);
  else dup2(fd, 3);
  if (syscall(SYS_close_range, 4U, ~0U, 0U) == -1) /* before Linux 5.9; our own descriptors close with exec */
    for (int other = 4; other < 4096; other++) close(other);
  for (int number = 1; number <= SIGNAL_MAX; number++) signal(number, SIG_DFL);
  set_mask(inherited_mask, NULL);
  execve(init->node.argv[0], init->node.argv, init->node.env);
  _exit(127);
}

static void start_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  int pair[2];
  supervisor->start_at = NEVER;
  supervisor->committed = false;
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
static void supervisor_died(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  supervisor->pid = 0;
  for (size_t used = 0; supervisor->fd != -1 && used < FRAME_MAX;) {
    used = init->in_used;
    if (!read_commits(init) || init->in_used == used) break;
  }
  disconnect(init);
  int64_t now = now_ms();
  if (!supervisor->committed && ++supervisor->failed_starts >= FAILED_STARTS_MAX) {
    go_on_alone(init);
    return;
  }
  if (supervisor->committed && now - supervisor->started_at >= SOUND_LIFE_MS) supervisor->delay_ms = 0;
  supervisor->start_at = now + supervisor->delay_ms;
  supervisor->delay_ms = supervisor->delay_ms == 0 ? FIRST_DELAY_MS : 2 * supervisor->delay_ms;
  if (supervisor->delay_ms > LONGEST_DELAY_MS) supervisor->delay_ms = LONGEST_DELAY_MS;
}

/* ---- the loop ---- */

static void signal_arrived(struct init *init, const struct signalfd_siginfo *info) {
  int number = (int)info->ssi_signo;
  bool from_terminal = info->ssi_code == SI_KERNEL;
  if (number == SIGCHLD) return; /* reaping does not depend on what it says */
  if (!from_terminal && (pid_t)info->ssi_pid == init->pid) return;
  if (from_terminal && number == SIGWINCH) return; /* the child in the foreground got it from the kernel */
  struct child *child = find_child(init, init->last_child);
  if (number == SIGCONT && child && init->terminal_owner == 0) give_terminal(init, child);
  if (init->alone) {
    signal_alone(init, number);
    return;
  }
  struct event event = {.kind = EV_SIGNAL, .value = number, .pid = (int32_t)info->ssi_pid, .flag = from_terminal};
  child = find_child(init, init->forward_to);
  if (child && init->forward[number]) {
    signal_group(child, init->forward[number]);
    event.kind = EV_FORWARDED;
    event.as = init->forward[number];
  }
  push(init, event);
}

static void read_signals(struct init *init) {
  struct signalfd_siginfo infos[16];
  ssize_t n = read(init->signals, infos, sizeof infos);
  bool child_changed_state = false;
  for (size_t i = 0; n > 0 && i < (size_t)n / sizeof *infos; i++) {
    signal_arrived(init, &infos[i]);
    if (infos[i].ssi_signo == SIGCHLD) child_changed_state = true;
  }
  if (child_changed_state) reap(init);
}

static int timeout(const struct init *init) {
  int64_t next = init->check_groups_at;
  if (init->supervisor.start_at < next) next = init->supervisor.start_at;
  if (init->alone && init->kill_at < next) next = init->kill_at;
  if (init->accept_at < next) next = init->accept_at;
  if (next == NEVER) return -1;
  int64_t left = next - now_ms();
  return left < 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

static void wait_for_anything(struct init *init) {
  struct pollfd *polled = init->polled;
  bool unsent = init->out_at < init->out_used || init->sent < init->queued;
  bool accepting = init->held_count < HELD_MAX && init->accept_at == NEVER;
  polled[0] = (struct pollfd){.fd = init->signals, .events = POLLIN};
  polled[1] = (struct pollfd){.fd = init->supervisor.fd, .events = (short)(unsent ? POLLIN | POLLOUT : POLLIN)};
  polled[2] = (struct pollfd){.fd = accepting ? init->listener : -1, .events = POLLIN};
  /* Of a held connection only its end matters, and that is always reported: poll(2). */
  for (size_t i = 0; i < init->held_count; i++) polled[3 + i] = (struct pollfd){.fd = init->held[i]};
  if (poll(polled, (nfds_t)(3 + init->held_count), timeout(init)) < 0)
    for (size_t i = 0; i < 3 + init->held_count; i++) polled[i].revents = 0;
}

static void drop_ended_peers(struct init *init, size_t polled) {
  for (size_t i = polled; i-- > 0;) {
    if (init->polled[3 + i].revents == 0) continue;
    close(init->held[i]);
    init->held[i] = init->held[--init->held_count];
  }
}

static _Noreturn void run(struct init *init) {
  for (;;) {
    if (init->supervisor.start_at <= now_ms()) start_supervisor(init);
    if (init->check_groups_at <= now_ms()) check_groups(init);
    if (init->accept_at <= now_ms()) init->accept_at = NEVER;
    if (init->alone) end_alone(init);
    send_events(init);
    wait_for_anything(init);
    size_t held = init->held_count;
    if (init->polled[1].revents && !read_commits(init)) {
      /* It cannot come back on this connection. Its death is dealt with when it is reaped. */
      disconnect(init);
      if (init->supervisor.pid > 0) kill(init->supervisor.pid, SIGKILL);
    }
    drop_ended_peers(init, held);
    if (init->polled[2].revents) accept_peers(init);
    if (init->polled[0].revents) read_signals(init);
  }
}

/* Random per start of init. Not AT_RANDOM alone: the C library's stack protector is made of those bytes, and this id is published. */
static void make_host_id(char id[33]) {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, GRND_NONBLOCK) != sizeof bytes) {
    const unsigned char *random = (const unsigned char *)getauxval(AT_RANDOM);
    memset(bytes, 0, sizeof bytes);
    if (random) memcpy(bytes, random, sizeof bytes);
  }
  for (size_t i = 0; i < sizeof bytes; i++) {
    id[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    id[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  id[32] = 0;
}

/* A stop request that is already here must find nothing started. */
static bool stop_is_pending(void) {
  uint64_t pending = 0;
  syscall(SYS_rt_sigpending, &pending, sizeof pending);
  return pending & (UINT64_C(1) << (SIGTERM - 1) | UINT64_C(1) << (SIGINT - 1));
}

static _Noreturn void run_in_foreground(const struct init *init) {
  set_mask(inherited_mask, NULL);
  execve(init->node.argv[0], init->node.argv, init->node.env);
  say("sexton: cannot run ", init->node.argv[0], ": the system refuses to execute it\n");
  _exit(EXIT_OWN_ERROR);
}

static void prepare(struct init *init) {
  struct sigaction chld;
  sigset_t all;
  init->pid1 = init->pid == 1;
  /* Ignored, it would have the kernel reap for us and keep the status: wait(2). */
  if (sigaction(SIGCHLD, NULL, &chld) == 0 && chld.sa_handler == SIG_IGN) {
    init->chld_ignored = true;
    signal(SIGCHLD, SIG_DFL);
  }
  memset(&all, 0xff, sizeof all);
  init->signals = move_high(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (init->signals == -1) {
    say("sexton: cannot receive signals: signalfd failed; raise the limit of open files\n", "", "");
    _exit(EXIT_OWN_ERROR);
  }
  if (!init->pid1 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1)
    say("sexton: cannot become a subreaper: orphans of the application will not be reaped here\n", "", "");
}

int main(int argc, char **argv, char **env) {
  static struct init instance; /* all zero, so that it takes no room in the file */
  struct init *init = &instance;
#ifndef SEXTON_ENTRY
  set_mask(~UINT64_C(0), &inherited_mask);
#endif
  init->check_groups_at = init->kill_at = init->accept_at = NEVER;
  init->supervisor.fd = init->listener = init->leaving = init->last_status = -1;
  init->fallback.stops = UINT64_C(1) << (SIGTERM - 1) | UINT64_C(1) << (SIGINT - 1);
  init->fallback.grace_ms = -1;
  init->in = (struct inherited){argc, argv, env};
  init->pid = getpid();
  bool foreground = wants_foreground(&init->in);
  if (!find_node(&init->node, &init->in, !foreground)) _exit(EXIT_OWN_ERROR);
  if (foreground) run_in_foreground(init);
  prepare(init);
  init->started_at = now_ms();
  int command = command_at_once(&init->in);
  if (command > 0 && !stop_is_pending()) spawn(init, 1, argv + command);
  make_host_id(init->host_id);
  run(init);
}
