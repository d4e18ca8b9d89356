/* The supervisor's process, and the watchdog that KILLs one that hangs: "When the supervisor hangs" in protocol.md. */
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "init.h"
#include "oom.h"

/* Some tests acknowledge nothing and build init with a longer time: src/init/build.ts. */
#ifndef SEXTON_HANG_MS
#define SEXTON_HANG_MS 10000
#endif

/* The memory of a waking supervisor, with something to spare: docs/internals/scale.md. */
enum { NEEDED_BYTES = 16 << 20 };

enum { MAX_HANG_MS = SEXTON_HANG_MS, TURN_MS = 1000, SOUND_LIFE_MS = 5000, ABANDON_MS = 2000 };

bool is_sound(const struct supervisor *supervisor) {
  return supervisor->committed && !supervisor->hangs && now_ms() - supervisor->started_at >= SOUND_LIFE_MS;
}

void forgive_failures(struct supervisor *supervisor) {
  supervisor->failures = 0;
  supervisor->delay_ms = 0;
}

void on_commit(struct supervisor *supervisor) {
  supervisor->committed = true;
  supervisor->watch.looked_at = NEVER;
  if (!is_sound(supervisor)) return;
  forgive_failures(supervisor);
  supervisor->heard_at = now_ms();
}

/* Since when it owes a commit; NEVER: it owes none. */
static int64_t owes_since(const struct init *init) {
  const struct supervisor *supervisor = &init->supervisor;
  int64_t since = supervisor->committed ? supervisor->watch.due : supervisor->started_at;
  if (init->queue.count > 0 && init->queue.events[0].at < since) since = init->queue.events[0].at;
  return since;
}

int64_t supervisor_gone_at(const struct init *init) {
  const struct supervisor *supervisor = &init->supervisor;
  return supervisor->pid == 0 || !supervisor->committed ? supervisor->gone_at : owes_since(init);
}

int64_t supervisor_lost_at(const struct init *init) {
  int64_t gone_at = supervisor_gone_at(init);
  return gone_at == NEVER || is_sound(&init->supervisor) ? gone_at : init->supervisor.heard_at;
}

/* The OOM killer takes the supervisor before the command: proc(5), oom_score_adj. */
static void offer_to_oom_killer(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd == -1 || write(fd, "1000", 4) == -1) return;
}

static _Noreturn void become_supervisor(const struct init *init, int fd) {
  setsid();
  int null = open("/dev/null", O_RDWR);
  if (null != -1) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
  }
  /* Node aborts when one of these is closed and it finds no /dev/null to put there. */
  for (int low = STDIN_FILENO; low <= STDERR_FILENO; low++)
    if (fcntl(low, F_GETFD) == -1) dup2(null != -1 ? null : fd, low);
  if (fd == 3) fcntl(fd, F_SETFD, 0);
  else dup2(fd, 3);
  close_from(4, false);
  offer_to_oom_killer();
  prlimit(0, RLIMIT_CORE, &(struct rlimit){0, 0}, NULL); /* a core takes half a gigabyte in the application's directory */
  set_mask(0, NULL);
  execve(init->node.argv[0], init->node.argv, init->node.env);
  _exit(127);
}

const char *start_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  struct connection *connection = &init->connection;
  int pair[2];
  supervisor->start_at = NEVER;
  supervisor->committed = supervisor->hangs = false;
  supervisor->why = "it was not there in time";
  /* The rows of the last supervisor expire when it was due; the next one has not said when it is. */
  if (supervisor->watch.due < init->rows_until) init->rows_until = supervisor->watch.due;
  supervisor->watch.due = supervisor->watch.looked_at = supervisor->watch.abandon_at = NEVER;
  supervisor->started_at = now_ms();
  /* Without a command a lack of memory can harm nothing. */
  supervisor->lacks_room = find_last_child(&init->children) && !has_free_memory(NEEDED_BYTES);
  if (supervisor->lacks_room) return "the memory limit leaves it no room";
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1) return "no socket can be opened";
  pair[0] = move_high(pair[0]);
  pair[1] = move_high(pair[1]);
  pid_t pid = start_process();
  if (pid == 0) become_supervisor(init, pair[1]);
  close(pair[1]);
  connection->fd = pair[0];
  supervisor->pid = pid > 0 ? pid : 0;
  if (pid == -1) return "no process can be started, the limit of processes may be reached";
  init->queue.sent = 0;
  connection->out_used = encode_hello(connection->out, init->self.host_id, init->self.started_at, init->self.is_pid1,
                                      init->memo.bytes, init->memo.length, init->sleep.why, supervisor->oom_kills,
                                      init->in.form.why[0], supervisor->ended, supervisor->killed);
  init->sleep.why[0] = supervisor->ended[0] = 0;
  return NULL;
}

void kill_supervisor(struct supervisor *supervisor) {
  if (supervisor->pid == 0) return;
  kill(supervisor->pid, SIGKILL);
  if (supervisor->watch.abandon_at == NEVER) supervisor->watch.abandon_at = now_ms() + ABANDON_MS;
}

/* 0 where the kernel does not tell. */
static int64_t cpu_used_ns(pid_t pid) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) == -1) return 0;
  return (int64_t)used.tv_sec * SECOND_NS + used.tv_nsec;
}

int64_t next_watch(const struct init *init) {
  const struct watch *watch = &init->supervisor.watch;
  if (init->supervisor.pid == 0) return NEVER;
  if (watch->abandon_at != NEVER) return watch->abandon_at;
  /* This turn of the loop may have queued the first event after the watchdog looked. */
  return watch->looked_at != NEVER ? watch->looked_at + TURN_MS : owes_since(init);
}

bool watch_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  struct watch *watch = &supervisor->watch;
  int64_t now = now_ms();
  if (supervisor->pid == 0) return false;
  if (watch->abandon_at != NEVER) return watch->abandon_at <= now;
  if (owes_since(init) > now) {
    watch->looked_at = NEVER;
    return false;
  }
  if (watch->looked_at != NEVER && now - watch->looked_at < TURN_MS) return false;
  int64_t cpu_ns = cpu_used_ns(supervisor->pid);
  if (watch->looked_at == NEVER) {
    watch->idle_ms = 0;
    watch->first_cpu_ns = cpu_ns;
  } else {
    watch->idle_ms = cpu_ns == watch->cpu_ns ? watch->idle_ms + TURN_MS : 0;
  }
  watch->cpu_ns = cpu_ns;
  watch->looked_at = now;
  int64_t used_ms = (cpu_ns - watch->first_cpu_ns) / 1000000;
  supervisor->hangs = watch->idle_ms >= MAX_HANG_MS || used_ms >= MAX_HANG_MS;
  if (supervisor->hangs) kill_supervisor(supervisor);
  return false;
}
