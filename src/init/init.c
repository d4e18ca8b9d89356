/*
 * sexton-init: PID 1 of a container, a subreaper elsewhere. It takes every signal from its first instruction on,
 * starts and reaps processes, and tells the supervisor what happened, by the protocol in protocol.md. It decides
 * nothing that the supervisor can decide, so the supervisor may die at any moment and come back to the same state.
 *
 * How it works. All signals are blocked for good and read from a signalfd, so there is one loop and no handler, and
 * nothing that happens is ever missed. What happened becomes an event in a queue; the queue is sent to the supervisor
 * and shrinks when a commit acknowledges it. A commit is checked whole before any of it is applied. Memory is static
 * and bounded; its pages are touched only when they are needed, which keeps an idle init below 100 KB.
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
#include <unistd.h>

#include "../informants/informants.h"
#include "init.h"

static int64_t earliest(const int64_t *times, size_t count) {
  int64_t first = NEVER;
  for (size_t i = 0; i < count; i++)
    if (times[i] < first) first = times[i];
  return first;
}

static int timeout(struct init *init) {
  const int64_t times[] = {
      init->children.check_at,  init->helpers.check_at,        init->strays.sweep_at, init->liveness.accept_at,
      init->supervisor.start_at, next_watch(&init->supervisor), next_own_step(init), leaves_at(init),
      init->sleep.is_asleep ? init->supervisor.watch.due : NEVER,
      next_look(&init->directory), prepared_until(init),
  };
  int64_t next = earliest(times, sizeof times / sizeof *times);
  if (next == NEVER) return -1;
  int64_t left = next - now_ms();
  return left < 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

/* What is due by the clock. */
static void act_in_time(struct init *init) {
  if (init->supervisor.start_at <= now_ms()) start_supervisor(init);
  if (init->children.check_at <= now_ms()) report_gone_children(init);
  if (init->helpers.check_at <= now_ms()) report_ended_helpers(&init->helpers, &init->queue);
  if (init->strays.sweep_at <= now_ms()) continue_sweep(init);
  if (init->liveness.accept_at <= now_ms()) init->liveness.accept_at = NEVER;
  look_when_changed(init);
  stop_in_time(init);
  watch_supervisor(init);
}

enum { POLLED_SIGNALS, POLLED_SUPERVISOR, POLLED_PEERS, EACH_POLL_MS = 20 };

/*
 * One at a time, where the limit of open files was lowered to less than init polls at once: poll(2), EINVAL. Where it
 * is 0 signals are still taken.
 */
static void poll_each(struct pollfd *polled, size_t count) {
  poll(NULL, 0, EACH_POLL_MS);
  for (size_t i = 0; i < count; i++)
    if (poll(&polled[i], 1, 0) < 0) polled[i].revents = i == POLLED_SIGNALS;
}

static void wait_for_anything(struct init *init) {
  struct pollfd *polled = init->storage.polled;
  bool unsent = has_unsent(&init->connection, &init->queue);
  polled[POLLED_SIGNALS] = (struct pollfd){.fd = init->signals, .events = POLLIN};
  polled[POLLED_SUPERVISOR] =
      (struct pollfd){.fd = init->connection.fd, .events = (short)(unsent ? POLLIN | POLLOUT : POLLIN)};
  size_t peers_end = poll_peers(&init->liveness, polled, POLLED_PEERS);
  size_t watched_end = poll_watched(init, polled, peers_end);
  size_t count = poll_helpers(&init->helpers, polled, watched_end);
  count = poll_mains(&init->reflexes, polled, count);
  if (poll(polled, (nfds_t)count, timeout(init)) < 0) poll_each(polled, count);
  take_polled_watched(init, polled, peers_end, watched_end);
}

static _Noreturn void run(struct init *init) {
  const struct pollfd *polled = init->storage.polled;
  for (;;) {
    act_in_time(init);
    if (init->has_to_reap) reap(init);
    end_with_mains(init);
    leave_without_supervisor(init);
    attend_without_supervisor(init);
    wake_when_needed(init);
    send_events(&init->connection, &init->queue, &init->helpers, &init->directory);
    wait_for_anything(init);
    size_t peers = init->liveness.count;
    if (polled[POLLED_SUPERVISOR].revents && !read_commits(init)) {
      /* It cannot come back on this connection. What follows from its death waits until it is reaped. */
      disconnect(&init->connection);
      kill_supervisor(&init->supervisor);
    }
    take_polled_peers(&init->liveness, polled, POLLED_PEERS, peers);
    read_helpers(&init->helpers, polled);
    if (polled[POLLED_SIGNALS].revents) read_signals(init);
  }
}

/*
 * Random per start of init. Not AT_RANDOM alone: the C library's stack protector is made of those bytes, and this id
 * is published.
 */
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

static void require_node(const struct init *init) {
  const char *const *lacks = init->node.lacks;
  if (!lacks[0]) return;
  refuse(init->in.env, lacks[0], lacks[1], lacks[2]);
  _exit(EXIT_OWN_ERROR);
}

static _Noreturn void run_in_foreground(const struct init *init) {
  require_node(init);
  set_mask(inherited_mask, NULL);
  execve(init->node.argv[0], init->node.argv, init->node.env);
  refuse(init->in.env, "sexton: cannot run ", init->node.argv[0], ": the system refuses to execute it\n");
  _exit(EXIT_OWN_ERROR);
}

/*
 * What dumb-init was started with does not reach its command: it unblocks all, and had a handler for each of these,
 * which exec resets.
 */
static void reset_signals(void) {
  for (int number = 1; number < 32; number++) signal(number, SIG_DFL);
  inherited_mask = 0;
}

static void prepare(struct init *init) {
  struct sigaction chld;
  sigset_t all;
  if (init->in.drop_in.as == AS_DUMB_INIT) reset_signals();
  /* Ignored, it would have the kernel reap for init and keep the status: wait(2). */
  if (sigaction(SIGCHLD, NULL, &chld) == 0 && chld.sa_handler == SIG_IGN) {
    init->in.ignores_chld = true;
    signal(SIGCHLD, SIG_DFL);
  }
  /* Half of what may be open: peers must not use up the descriptors that a new supervisor or child needs. */
  struct rlimit files;
  init->liveness.limit = MAX_PEERS;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 2 < MAX_PEERS)
    init->liveness.limit = (size_t)files.rlim_cur / 2;
  memset(&all, 0xff, sizeof all);
  init->signals = move_high(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (init->signals == -1) {
    refuse(init->in.env, "sexton: cannot receive signals: signalfd failed; raise the limit of open files\n", "", "");
    _exit(EXIT_OWN_ERROR);
  }
  if (!init->self.is_pid1 && init->in.drop_in.subreaper && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == -1)
    say("sexton: cannot become a subreaper: orphans of the application will not be reaped here\n", "", "");
}

/*
 * As the supervisor will order it for such a member: each stop request goes on to the command at once, as with little
 * CPU the supervisor takes a minute to be there. So does every other signal where there is no supervisor.
 */
static void forward_as_ordered(struct init *init) {
  struct forwarding *forwarding = &init->forwarding;
  forwarding->once.child = forwarding->always.child = 1;
  if (init->supervisor.is_deferred)
    memcpy(forwarding->always.as, init->in.drop_in.forward, sizeof forwarding->always.as);
  forwarding->once.as[SIGTERM] = forwarding->always.as[SIGTERM] = SIGTERM;
  forwarding->once.as[SIGINT] = forwarding->always.as[SIGINT] = SIGINT;
}

/* As dumb-init does, so that it keeps no file system busy. Nothing is started after the command but Node. */
static void leave_directory(struct inherited *in) {
  int here = move_high(open(".", O_PATH | O_CLOEXEC));
  /* Without the permission to search it there is no way back: then init stays. */
  if (here > 0 && go_to(here) && chdir("/") == 0) in->directory = here;
}

static void start_at_once(struct init *init) {
  const struct drop_in *drop_in = &init->in.drop_in;
  struct plain_form form = init->in.form = read_plain_form(&init->in);
  bool starts = form.command != 0 && (drop_in->plain || !stop_is_pending());
  if (starts && form.why[0][0] == 0) defer_supervisor(init);
  if (!init->supervisor.is_deferred) require_node(init);
  if (!starts) return;
  if (drop_in->plain && init->node.anywhere) leave_directory(&init->in);
  spawn(&init->children, &init->terminal, &init->queue, &init->in, 1, init->in.argv + form.command);
  if (init->in.directory > 0) close(init->in.directory);
  init->in.directory = 0;
  if (!drop_in->plain) {
    struct fallback *fallback = &init->forwarding.fallback;
    fallback->grace_ms = init->supervisor.is_deferred ? shorten_grace(form.grace_ms) : form.grace_ms;
    if (form.grace_ms / 2 < fallback->wait_ms) fallback->wait_ms = form.grace_ms / 2;
    if (form.forwards_first_stop) forward_as_ordered(init);
    return;
  }
  /*
   * Here a stop request is a signal like any other: it is passed on from the first moment, and so is what is pending.
   */
  init->forwarding.always.child = 1;
  memcpy(init->forwarding.always.as, drop_in->forward, sizeof drop_in->forward);
  if (drop_in->first_only) init->children.first_only = 1;
  init->reports_reaped = drop_in->reports_reaped;
  init->forwarding.fallback.stops = 0;
}

/* All that is not zero at the start. */
static void set_up(struct init *init) {
  struct storage *storage = &init->storage;
  init->supervisor.watch = (struct watch){.due = NEVER, .looked_at = NEVER, .abandon_at = NEVER};
  init->children.check_at = init->helpers.check_at = init->strays.sweep_at = NEVER;
  init->grace.kill_at = init->grace.leave_at = init->grace.ends_at = init->liveness.accept_at = NEVER;
  init->connection.fd = init->liveness.listener = init->children.last_status = -1;
  init->directory.fd = init->directory.inotify = init->sleep.shown = -1;
  init->supervisor.oom_kills = -1;
  init->forwarding.fallback.stops = UINT64_C(1) << (SIGTERM - 1) | UINT64_C(1) << (SIGINT - 1);
  init->forwarding.fallback.wait_ms = DEFAULT_WAIT_MS;
  init->forwarding.fallback.grace_ms = init->forwarding.fallback.at = NEVER;
  init->connection.in = storage->in;
  init->connection.out = storage->out;
  init->memo.bytes = storage->memo;
  init->queue.events = storage->events;
  init->liveness.peers = storage->peers;
  init->sleep.peers = storage->watched;
  init->directory.known = storage->known;
  init->directory.names = storage->names;
  init->directory.news = storage->news;
  init->strays.swept = storage->swept;
  init->helpers.outputs = storage->outputs;
  init->reflexes.words = storage->prepared;
}

int main(int argc, char **argv, char **env) {
  if (argc > 0 && strcmp(argv[0], "sexton-sockets") == 0) tell_sockets();
  if (argc > 0 && strcmp(argv[0], "sexton-plain") == 0)
    tell_why_supervised(&(struct inherited){.argc = argc, .argv = argv, .env = env});
  static struct init instance; /* all zero, so that it takes no room in the file */
  struct init *init = &instance;
#ifndef SEXTON_ENTRY
  set_mask(~UINT64_C(0), &inherited_mask);
#endif
  set_up(init);
  init->in = (struct inherited){.argc = argc, .argv = argv, .env = env};
  init->in.drop_in = read_drop_in(&init->in);
  init->self.pid = getpid();
  init->self.parent = getppid();
  init->self.is_pid1 = init->self.pid == 1;
  bool foreground = wants_foreground(&init->in);
  find_node(&init->node, &init->in, !foreground);
  if (foreground) run_in_foreground(init);
  prepare(init);
  init->self.started_at = init->supervisor.heard_at = init->supervisor.gone_at = now_ms();
  start_at_once(init);
  make_host_id(init->self.host_id);
  run(init);
}
