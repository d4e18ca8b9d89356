/* The supervisor: see supervisor.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init.h"
#include "oom.h"

enum {
  /*
   * What counts for how much until init goes on alone: a start that fails, a short life, which may be a coincidence, and
   * one that hangs, which takes long enough.
   */
  FAILED_START = 2,
  SHORT_LIFE = 1,
  HANG = 8,
  MAX_FAILURES = 10,
  FIRST_DELAY_MS = 50,
  MAX_DELAY_MS = 5000,
  MAX_PAUSE_MS = 60000,
  SOUND_LIFE_MS = 5000,
  ABANDON_MS = 2000,
};

bool read_commits(struct init *init) {
  if (!receive_bytes(&init->connection)) return false;
  if (apply_frames(init)) return true;
  say("sexton: the supervisor sent a frame that is not in the protocol; starting it again\n", "", "");
  return false;
}

static bool is_sound(const struct supervisor *supervisor) {
  return supervisor->committed && !supervisor->hangs && now_ms() - supervisor->started_at >= SOUND_LIFE_MS;
}

void on_commit(struct supervisor *supervisor) {
  supervisor->committed = true;
  supervisor->watch.looked_at = NEVER;
  if (!is_sound(supervisor)) return;
  supervisor->failures = 0;
  supervisor->heard_at = now_ms();
}

int64_t supervisor_gone_at(const struct init *init) {
  const struct supervisor *supervisor = &init->supervisor;
  return supervisor->pid == 0 || !supervisor->committed ? supervisor->gone_at : owes_since(init);
}

int64_t supervisor_lost_at(const struct init *init) {
  int64_t gone_at = supervisor_gone_at(init);
  return gone_at == NEVER || is_sound(&init->supervisor) ? gone_at : init->supervisor.heard_at;
}

/* For whoever looks for memory the supervisor is the first to go: the command must not. See proc(5), oom_score_adj. */
static void offer_to_oom_killer(void) {
  int fd = open("/proc/self/oom_score_adj", O_WRONLY);
  if (fd == -1 || write(fd, "1000", 4) == -1) return;
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
  close_from(4);
  offer_to_oom_killer();
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}); /* half a gigabyte each, in the application's directory */
  ignore_signals();
  set_mask(0, NULL);
  execve(init->node.argv[0], init->node.argv, init->node.env);
  _exit(127);
}

void start_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  struct connection *connection = &init->connection;
  int pair[2];
  supervisor->start_at = NEVER;
  supervisor->committed = supervisor->hangs = false;
  supervisor->why = "it was not there in time";
  /* Of the one before; the next has yet to say when it is due. */
  if (supervisor->watch.due < init->reflexes.until) init->reflexes.until = supervisor->watch.due;
  supervisor->watch.due = supervisor->watch.looked_at = supervisor->watch.abandon_at = NEVER;
  supervisor->started_at = now_ms();
  /* Without a command there is nothing that it could harm. */
  if (find_last_child(&init->children) && !has_memory_for_supervisor())
    return on_supervisor_died(init, "the memory limit leaves it no room");
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == -1)
    return on_supervisor_died(init, "no socket can be opened");
  pair[0] = move_high(pair[0]);
  pair[1] = move_high(pair[1]);
  pid_t pid = start_process();
  if (pid == 0) become_supervisor(init, pair[1]);
  close(pair[1]);
  connection->fd = pair[0];
  supervisor->pid = pid > 0 ? pid : 0;
  if (pid == -1) return on_supervisor_died(init, "no process can be started, the limit of processes may be reached");
  init->queue.sent = 0;
  connection->out_used = encode_hello(connection->out, init->self.host_id, init->self.started_at, init->self.is_pid1,
                                      init->memo.bytes, init->memo.length, init->memo.exists, init->sleep.why,
                                      init->supervisor.oom_kills, init->in.form.why[0]);
  init->sleep.why[0] = 0;
}

void kill_supervisor(struct supervisor *supervisor) {
  if (supervisor->pid == 0) return;
  kill(supervisor->pid, SIGKILL);
  if (supervisor->watch.abandon_at == NEVER) supervisor->watch.abandon_at = now_ms() + ABANDON_MS;
}

void abandon_supervisor(struct init *init) {
  say("sexton: the supervisor cannot be ended; starting another\n", "", "");
  init->supervisor.abandoned = init->supervisor.pid;
  on_supervisor_died(init, init->supervisor.why);
}

/* A whole frame that it sent before its death is applied; a part of one is not. */
void on_supervisor_died(struct init *init, const char *why) {
  struct supervisor *supervisor = &init->supervisor;
  supervisor->pid = 0;
  /*
   * Bounded, because a process that it left behind may hold the socket open; one read takes all that a socket can
   * hold.
   */
  for (int reads = 0; reads < 4 && read_commits(init); reads++) continue;
  disconnect(&init->connection);
  if (has_gone_to_sleep(init)) return;
  int64_t now = now_ms();
  if (supervisor->committed) supervisor->gone_at = now;
  if (is_sound(supervisor)) {
    supervisor->failures = 0;
    supervisor->delay_ms = 0;
    supervisor->heard_at = now;
  } else {
    int weight = supervisor->hangs ? HANG : supervisor->committed ? SHORT_LIFE : FAILED_START;
    supervisor->failures += init->alone ? 1 : weight;
    supervisor->why = supervisor->hangs ? "it hangs" : why;
  }
  if (supervisor->failures >= MAX_FAILURES) {
    if (!init->alone) {
      supervisor->failures = MAX_FAILURES;
      go_on_alone(init);
    }
    /* A lack of CPU may pass; a broken installation may not, and each start costs. */
    int pauses = supervisor->failures - MAX_FAILURES;
    supervisor->start_at = now + (pauses < 4 ? (int64_t)MAX_DELAY_MS << pauses : MAX_PAUSE_MS);
    return;
  }
  supervisor->start_at = now + supervisor->delay_ms;
  supervisor->delay_ms = supervisor->delay_ms == 0 ? FIRST_DELAY_MS : 2 * supervisor->delay_ms;
  if (supervisor->delay_ms > MAX_DELAY_MS) supervisor->delay_ms = MAX_DELAY_MS;
}
