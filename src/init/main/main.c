/*
 * sexton-init is PID 1 of a container, and a subreaper elsewhere. It takes every signal from its first instruction on,
 * starts and reaps processes, and reports to the supervisor by the protocol in protocol.md. It decides nothing that the
 * supervisor can decide, so the supervisor may die at any moment and come back to the same state.
 *
 * All signals stay blocked, and init reads them from a signalfd: there is one loop and no handler. What happens becomes
 * an event in a queue, which shrinks when a commit acknowledges it. Memory is static and bounded. Init touches a page
 * only when it needs it, which keeps an idle init below 100 KB.
 */
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../../informants/informants.h"
#include "init.h"
#include "oom.h"

static int timeout(struct init *init) {
  const int64_t times[] = {
      init->children.check_at,      init->helpers.check_at,         init->rung.walk_at,
      init->liveness.accept_at,     init->supervisor.start_at,      next_watch(init),
      next_order(init),             leaves_at(init),                next_look(&init->directory),
      prepared_until(init),         next_notification(init),        ends_with_mains_at(init),
      wakes_at(init),
  };
  int64_t next = NEVER;
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (times[i] < next) next = times[i];
  if (next == NEVER) return -1;
  int64_t left = next - now_ms();
  return left < 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
}

/* Does what is due by the clock. */
static void act_in_time(struct init *init) {
  start_due_supervisor(init);
  if (init->rung.walk_at <= now_ms()) walk(init);
  if (init->children.check_at <= now_ms()) settle_end(init);
  if (init->helpers.check_at <= now_ms()) report_ended_helpers(&init->helpers, &init->queue);
  if (init->liveness.accept_at <= now_ms()) init->liveness.accept_at = NEVER;
  look_when_changed(init);
  notice_silence(init);
  carry_out_orders(init);
  end_hanging_supervisor(init);
}

enum {
  POLLED_SIGNALS, POLLED_SUPERVISOR, POLLED_NOTIFICATIONS, POLLED_DIRECTORY, POLLED_PEERS,
  EACH_POLL_MS = 20,
};

/*
 * Polls one descriptor at a time, where the limit of open files is below what init polls at once: poll(2), EINVAL.
 * Signals are taken even where the limit is 0.
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
  polled[POLLED_NOTIFICATIONS] = (struct pollfd){.fd = polled_notifications(init), .events = POLLIN};
  int inotify = init->directory.has_changed ? -1 : init->directory.inotify;
  polled[POLLED_DIRECTORY] = (struct pollfd){.fd = inotify, .events = POLLIN};
  size_t peers_end = poll_peers(&init->liveness, polled, POLLED_PEERS);
  size_t helpers_end = poll_helpers(&init->helpers, polled, peers_end);
  size_t count = poll_contacts(&init->contacts, polled, helpers_end);
  if (poll(polled, (nfds_t)count, timeout(init)) < 0) poll_each(polled, count);
  if (polled[POLLED_DIRECTORY].revents) init->directory.has_changed = true;
  take_contacts(init, polled + helpers_end);
  read_notices(init);
}

static _Noreturn void run(struct init *init) {
  const struct pollfd *polled = init->storage.polled;
  for (;;) {
    act_in_time(init);
    if (init->has_to_reap) reap(init);
    end_with_mains(init);
    leave_without_supervisor(init);
    attend_without_supervisor(init);
    report_told(init);
    wake_when_needed(init, prepared_until(init));
    send_events(init);
    close_unread();
    wait_for_anything(init);
    size_t peers = init->liveness.count;
    if (polled[POLLED_SUPERVISOR].revents && !read_commits(init)) {
      /* This connection is over. The consequences of the death wait until the supervisor is reaped. */
      disconnect(&init->connection);
      kill_supervisor(&init->supervisor);
    }
    take_polled_peers(&init->liveness, polled, POLLED_PEERS, peers);
    read_helpers(&init->helpers, polled);
    if (polled[POLLED_NOTIFICATIONS].revents) read_notification(init);
    if (polled[POLLED_SIGNALS].revents) read_signals(init);
  }
}

/* A stop request that has already come prevents the start. */
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

/* With the exit code of the program that init replaces. */
static void refuse_wrong_line(const struct drop_in *line) {
  if (!line->refusal) return;
  say("sexton: ", line->refusal, "\n");
  _exit(line->as == AS_KUBEXIT ? 2 : 1);
}

static _Noreturn void run_in_foreground(const struct init *init) {
  require_node(init);
  set_mask(inherited_mask, NULL);
  execve(init->node.argv[0], init->node.argv, init->node.env);
  refuse(init->in.env, "sexton: cannot run ", init->node.argv[0], ": the system refuses to execute it\n");
  _exit(EXIT_OWN_ERROR);
}

static void prepare(struct init *init) {
  struct sigaction chld;
  sigset_t all;
  /* As dumb-init does: its command starts with no signal blocked and none ignored. */
  for (int number = 1; number < 32 && init->in.drop_in.as == AS_DUMB_INIT; number++) signal(number, SIG_DFL);
  if (init->in.drop_in.as == AS_DUMB_INIT) inherited_mask = 0;
  /* If it were ignored, the kernel would reap for init and discard the status: wait(2). */
  if (sigaction(SIGCHLD, NULL, &chld) == 0 && chld.sa_handler == SIG_IGN) {
    init->in.ignores_chld = true;
    signal(SIGCHLD, SIG_DFL);
  }
  /* Peers take half of the limit at most, so that a new supervisor or child finds descriptors. */
  struct rlimit files;
  init->liveness.limit = MAX_PEERS;
  if (prlimit(0, RLIMIT_NOFILE, NULL, &files) == 0 && files.rlim_cur / 2 < MAX_PEERS)
    init->liveness.limit = (size_t)files.rlim_cur / 2;
  memset(&all, 0xff, sizeof all);
  init->signals = move_high(signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (init->signals == -1) {
    refuse(init->in.env, "sexton: cannot receive signals: signalfd failed; raise the limit of open files\n", "", "");
    _exit(EXIT_OWN_ERROR);
  }
  /* A sandbox that refuses it would leave init spinning and deaf. Other messages are polled for, too. */
  if (poll(NULL, 0, 0) == -1) {
    static const char cannot[] = "sexton: cannot wait for anything: poll failed; let the seccomp profile allow it\n";
    syscall(SYS_write, STDERR_FILENO, cannot, sizeof cannot - 1);
    _exit(EXIT_OWN_ERROR);
  }
  bool asks = !init->self.is_pid1 && init->in.drop_in.subreaper;
  init->adopts = init->self.is_pid1 || (asks && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
  if (asks && !init->adopts)
    say("sexton: cannot become a subreaper: orphans of the application will not be reaped here\n", "", "");
  if (init->in.drop_in.misses_orphans)
    say("sexton: orphans are not reaped here: this is not PID 1 and no subreaper; ",
        "add -s, set TINI_SUBREAPER, or make it PID 1\n", "");
}

/*
 * Forwards each stop request at once, as the supervisor will order it: with little CPU that takes a minute to start.
 * Where there is no supervisor all other signals are forwarded, too.
 */
static void forward_as_ordered(struct init *init) {
  struct orders *orders = &init->orders;
  if (init->supervisor.is_deferred) memcpy(orders->each, init->in.drop_in.forward, sizeof orders->each);
  orders->first[SIGTERM] = orders->each[SIGTERM] = SIGTERM;
  orders->first[SIGINT] = orders->each[SIGINT] = SIGINT;
}

/* As dumb-init does, so that it keeps no file system busy. Only Node starts after the command. */
static void leave_directory(struct inherited *in) {
  int here = move_high(open(".", O_PATH | O_CLOEXEC));
  /* Init stays where it lacks the permission to come back. */
  if (here > 0 && go_to(here) && chdir("/") == 0) in->directory = here;
}

static void start_at_once(struct init *init) {
  const struct drop_in *drop_in = &init->in.drop_in;
  struct plain_form form = init->in.form = read_plain_form(&init->in);
  bool starts = form.command != 0 && (drop_in->plain || !stop_is_pending());
  if (starts && form.why[0][0] == 0) defer_supervisor(init);
  if (!init->supervisor.is_deferred) require_node(init);
  if (!starts) return;
  /* Only an earlier count shows whether the OOM killer has ended the command. */
  if (!init->supervisor.is_deferred) init->supervisor.oom_kills = count_oom_kills();
  if (drop_in->plain && init->node.anywhere) leave_directory(&init->in);
  spawn(init, 1, init->in.argv + form.command);
  if (init->in.directory > 0) close(init->in.directory);
  init->in.directory = 0;
  if (!drop_in->plain) {
    begin_orders(&init->orders, init->supervisor.is_deferred ? shorten_grace(form.grace_ms) : form.grace_ms);
    if (form.forwards_first_stop) forward_as_ordered(init);
    return;
  }
  /* Here a stop request is a signal like any other: init passes it on, pending or not. */
  memcpy(init->orders.each, drop_in->forward, sizeof drop_in->forward);
  init->rung.to = drop_in->first_only ? TO_FIRST : TO_GROUP;
  init->orders.stops = 0;
}

/* Sets all that is not zero at the start. */
static void set_up(struct init *init) {
  struct storage *storage = &init->storage;
  init->supervisor.watch = (struct watch){.due = NEVER, .looked_at = NEVER, .abandon_at = NEVER};
  init->children.check_at = init->helpers.check_at = init->rung.walk_at = NEVER;
  init->own_stop.rest_at = init->liveness.accept_at = NEVER;
  init->connection.fd = init->liveness.listener = init->children.last_status = -1;
  init->directory.fd = init->directory.inotify = init->sleep.shown = init->notifications.fd = -1;
  init->notifications.watchdog.ms = init->notifications.watchdog.due = NEVER;
  init->supervisor.oom_kills = -1;
  begin_orders(&init->orders, NEVER);
  init->rows_until = NEVER;
  init->connection.in = storage->in;
  init->connection.out = storage->out;
  init->memo.bytes = storage->memo;
  init->queue.events = storage->events;
  init->liveness.peers = storage->peers;
  init->contacts.places = storage->contacts;
  init->directory.known = storage->known;
  init->directory.names = storage->names;
  init->directory.news = storage->news;
  init->rung.told = storage->told;
  init->helpers.outputs = storage->outputs;
  init->notifications.text = storage->notification;
  init->texts.words = storage->texts;
}

int main(int argc, char **argv, char **env) {
  if (argc > 0 && strcmp(argv[0], "sexton-sockets") == 0) tell_sockets();
  if (argc > 0 && strcmp(argv[0], "sexton-plain") == 0)
    tell_why_supervised(&(struct inherited){.argc = argc, .argv = argv, .env = env});
  if (argc > 0 && strcmp(argv[0], "sexton-line") == 0)
    tell_drop_in(&(struct inherited){.argc = argc - 1, .argv = argv + 1, .env = env});
  static struct init instance; /* zero, so that it takes no room in the file */
  struct init *init = &instance;
#ifndef SEXTON_ENTRY
  set_mask(~UINT64_C(0), &inherited_mask);
#endif
  set_up(init);
  init->in = (struct inherited){.argc = argc, .argv = argv, .env = env};
  init->in.drop_in = read_drop_in(&init->in);
  refuse_wrong_line(&init->in.drop_in);
  if (init->in.drop_in.parent_death > 0) prctl(PR_SET_PDEATHSIG, init->in.drop_in.parent_death, 0, 0, 0);
  init->self.pid = getpid();
  init->self.is_pid1 = init->self.pid == 1;
  bool foreground = wants_foreground(&init->in);
  find_node(&init->node, &init->in, !foreground);
  if (foreground) run_in_foreground(init);
  prepare(init);
  /* A child of the program that has become init may have ended before. */
  while (waitpid(-1, NULL, WNOHANG) > 0) {}
  init->self.started_at = init->supervisor.heard_at = init->supervisor.gone_at = now_ms();
  start_at_once(init);
  make_random_id(init->self.host_id);
  run(init);
}
