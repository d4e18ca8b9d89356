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
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

/*
 * The mask that init was started with, saved by its first instructions. The kernel drops a signal without a handler for PID 1
 * unless it is blocked, so what comes before `main` must find it blocked already.
 */
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
void set_mask(uint64_t mask, uint64_t *old) { syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, old, sizeof mask); }

int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int move_high(int fd) {
  if (fd == -1 || fd >= FIRST_HIGH_FD) return fd;
  int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_HIGH_FD);
  if (high == -1 && fd <= STDERR_FILENO) high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (high == -1) return fd;
  close(fd);
  return high;
}

/* Passes the signal on at once when the table says so, and makes a record of its event. */
static bool forward(const struct init *init, const struct child *child, const uint8_t table[SIGNAL_MAX + 1], struct event *event) {
  if (!child || !table[event->value]) return false;
  event->as = table[event->value];
  event->kind = EV_FORWARDED;
  event->flag = false;
  signal_child(init, child, event->as);
  return true;
}

static void signal_arrived(struct init *init, const struct signalfd_siginfo *info) {
  int number = (int)info->ssi_signo;
  bool from_terminal = info->ssi_code == SI_KERNEL;
  if (number == SIGCHLD) return; /* reaping does not depend on what it says */
  if (!from_terminal && (pid_t)info->ssi_pid == init->pid) return;
  if (from_terminal && number == SIGWINCH) return; /* the child in the foreground got it from the kernel */
  struct child *child = find_child(init, init->last_child);
  if (number == SIGCONT && child && init->terminal_owner == 0) give_terminal(init, child);
  struct event event = {.kind = EV_SIGNAL, .value = number, .pid = (int32_t)info->ssi_pid, .flag = from_terminal};
  if (init->alone) {
    signal_alone(init, &event);
  } else if (!forward(init, find_child(init, init->once_to), init->once, &event)) {
    forward(init, find_child(init, init->forward_to), init->forward, &event);
  } else {
    memset(init->once, 0, sizeof init->once);
    event.flag = true; /* nobody else knows of it: this record is never dropped */
  }
  push(init, event);
  /* As dumb-init does, for the shell that waits for it; PID 1 the kernel lets go on. What is sent by then is not repeated. */
  bool is_from_terminal = number == SIGTSTP || number == SIGTTIN || number == SIGTTOU;
  if (is_from_terminal && init->in.drop_in.as == AS_DUMB_INIT) kill(init->pid, SIGSTOP);
}

void take_signal(struct init *init, int number) {
  struct signalfd_siginfo info = {.ssi_signo = (uint32_t)number, .ssi_code = SI_USER};
  signal_arrived(init, &info);
}

static void orphan_reaped(const struct init *init, pid_t pid) {
  char digits[12];
  char *at = digits + sizeof digits;
  if (!init->tell_reaped) return;
  *--at = 0;
  for (; pid > 0; pid /= 10) *--at = (char)('0' + pid % 10);
  say("sexton: reaped an orphan, pid ", at, "\n");
}

/* Takes everything that has ended: our children, helpers, the supervisor, and the orphans that we have adopted. */
static void reap(struct init *init) {
  int status;
  init->has_to_reap = false;
  for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (pid == init->supervisor.pid) {
      if (!WIFSTOPPED(status)) supervisor_died(init);
      continue;
    }
    if (pid == init->forgotten) {
      if (!WIFSTOPPED(status)) init->forgotten = 0;
      continue;
    }
    struct child *child = find_living(init, pid);
    if (child) child_changed(init, child, status);
    else if (!helper_changed(init, pid, status) && !WIFSTOPPED(status)) orphan_reaped(init, pid);
  }
  check_helpers(init);
  check_groups(init);
  look_for_strays(init);
}

/* The lowest numbers come first, so that no flood of real-time signals hides a stop request: signalfd(2), dequeued as by sigwaitinfo(2). */
void read_signals(struct init *init) {
  struct signalfd_siginfo infos[32];
  ssize_t n = read(init->signals, infos, sizeof infos);
  for (size_t i = 0; n > 0 && i < (size_t)n / sizeof *infos; i++) {
    signal_arrived(init, &infos[i]);
    if (infos[i].ssi_signo == SIGCHLD) init->has_to_reap = true;
  }
}

static int timeout(struct init *init) {
  int64_t next = init->check_groups_at;
  if (init->check_helpers_at < next) next = init->check_helpers_at;
  if (init->sweep_at < next) next = init->sweep_at;
  if (init->supervisor.start_at < next) next = init->supervisor.start_at;
  if (grace_ends(init) < next) next = grace_ends(init);
  if (init->accept_at < next) next = init->accept_at;
  if (next_watch(init) < next) next = next_watch(init);
  if (next == NEVER) return -1;
  int64_t left = next - now_ms();
  return left < 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

static void wait_for_anything(struct init *init) {
  struct pollfd *polled = init->polled;
  bool unsent = init->out_at < init->out_used || init->sent < init->queued;
  bool accepting = init->held_count < init->held_max && init->accept_at == NEVER;
  polled[0] = (struct pollfd){.fd = init->signals, .events = POLLIN};
  polled[1] = (struct pollfd){.fd = init->supervisor.fd, .events = (short)(unsent ? POLLIN | POLLOUT : POLLIN)};
  polled[2] = (struct pollfd){.fd = accepting ? init->listener : -1, .events = POLLIN};
  /* Of a held connection only its end matters, and that is always reported: poll(2). */
  for (size_t i = 0; i < init->held_count; i++) polled[3 + i] = (struct pollfd){.fd = init->held[i]};
  size_t count = poll_helpers(init, 3 + init->held_count);
  if (poll(polled, (nfds_t)count, timeout(init)) < 0)
    for (size_t i = 0; i < count; i++) polled[i].revents = 0;
}

static _Noreturn void run(struct init *init) {
  for (;;) {
    if (init->supervisor.start_at <= now_ms()) start_supervisor(init);
    if (init->check_groups_at <= now_ms()) check_groups(init);
    if (init->check_helpers_at <= now_ms()) check_helpers(init);
    if (init->sweep_at <= now_ms()) look_for_strays(init);
    if (init->accept_at <= now_ms()) init->accept_at = NEVER;
    keep_grace(init);
    watch_supervisor(init);
    if (init->has_to_reap) reap(init);
    if (init->alone) end_alone(init);
    send_events(init);
    wait_for_anything(init);
    size_t held = init->held_count;
    if (init->polled[1].revents && !read_commits(init)) {
      /* It cannot come back on this connection. Its death is dealt with when it is reaped. */
      disconnect(init);
      kill_supervisor(init);
    }
    drop_ended_peers(init, held);
    read_helpers(init);
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
  refuse(init->in.env, "sexton: cannot run ", init->node.argv[0], ": the system refuses to execute it\n");
  _exit(EXIT_OWN_ERROR);
}

/* What dumb-init was started with does not reach its command: it unblocks all, and had a handler for each of these, which exec resets. */
static void reset_signals(void) {
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  inherited_mask = 0;
}

static void prepare(struct init *init) {
  struct sigaction chld;
  sigset_t all;
  init->pid1 = init->pid == 1;
  if (init->in.drop_in.as == AS_DUMB_INIT) reset_signals();
  /* Ignored, it would have the kernel reap for us and keep the status: wait(2). */
  if (sigaction(SIGCHLD, NULL, &chld) == 0 && chld.sa_handler == SIG_IGN) {
    init->chld_ignored = true;
    signal(SIGCHLD, SIG_DFL);
  }
  /* Half of what we may open: peers must not use up the descriptors that a new supervisor or child needs. */
  struct rlimit files;
  init->held_max = HELD_MAX;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 2 < HELD_MAX) init->held_max = (size_t)files.rlim_cur / 2;
  memset(&all, 0xff, sizeof all);
  init->signals = move_high(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (init->signals == -1) {
    refuse(init->in.env, "sexton: cannot receive signals: signalfd failed; raise the limit of open files\n", "", "");
    _exit(EXIT_OWN_ERROR);
  }
  if (!init->pid1 && init->in.drop_in.subreaper && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1)
    say("sexton: cannot become a subreaper: orphans of the application will not be reaped here\n", "", "");
}

/* The first stop request goes on to the command at once, as the supervisor will order it of such a member: with little CPU that takes a minute to be there. */
static void offer_prompt_stop(struct init *init) {
  init->once_to = 1;
  init->once[SIGTERM] = SIGTERM;
  init->once[SIGINT] = SIGINT;
}

static void start_at_once(struct init *init) {
  const struct drop_in *drop_in = &init->in.drop_in;
  struct plain_form form = read_plain_form(&init->in);
  if (form.command == 0 || (!drop_in->plain && stop_is_pending())) return;
  spawn(init, 1, init->in.argv + form.command);
  if (!drop_in->plain) {
    init->fallback.grace_ms = form.grace_ms;
    /* Where this directory is there it is the graveyard. */
    if (form.prompt && access("/graveyard", F_OK) == -1) offer_prompt_stop(init);
    return;
  }
  /* Here a stop request is a signal like any other: it is passed on from the first moment, and so is what is pending. */
  init->forward_to = 1;
  memcpy(init->forward, drop_in->forward, sizeof init->forward);
  if (drop_in->single) init->single = 1;
  init->tell_reaped = drop_in->tells_reaped;
  init->fallback.stops = 0;
  /* As dumb-init does, so that it keeps no file system busy. Nothing is started after this but Node. */
  if (init->node.anywhere && chdir("/") == -1) return;
}

int main(int argc, char **argv, char **env) {
  if (argc > 0 && strcmp(argv[0], "sexton-sockets") == 0) tell_sockets(argc, argv);
  if (argc > 0 && strcmp(argv[0], "sexton-departures") == 0) tell_departures();
  static struct init instance; /* all zero, so that it takes no room in the file */
  struct init *init = &instance;
#ifndef SEXTON_ENTRY
  set_mask(~UINT64_C(0), &inherited_mask);
#endif
  init->supervisor.due = init->supervisor.watched_at = init->supervisor.forget_at = NEVER;
  init->check_groups_at = init->check_helpers_at = init->sweep_at = init->kill_at = init->accept_at = NEVER;
  init->supervisor.fd = init->listener = init->leaving = init->last_status = -1;
  init->fallback.stops = UINT64_C(1) << (SIGTERM - 1) | UINT64_C(1) << (SIGINT - 1);
  init->fallback.grace_ms = -1;
  init->in = (struct inherited){.argc = argc, .argv = argv, .env = env};
  init->in.drop_in = read_drop_in(&init->in);
  init->pid = getpid();
  init->parent = getppid();
  bool foreground = wants_foreground(&init->in);
  if (!find_node(&init->node, &init->in, !foreground)) _exit(EXIT_OWN_ERROR);
  if (foreground) run_in_foreground(init);
  prepare(init);
  init->started_at = now_ms();
  start_at_once(init);
  make_host_id(init->host_id);
  run(init);
}
