/*
 * A supervisor that lives and does not act (stopped, in a file operation that never ends, in a loop) must not take a stop request with
 * it: it is KILLed like one that crashed, and the next one goes on in its place.
 *
 * It owes a commit before its first one, while an event is not acknowledged, and once the time has come that it named itself. With too
 * little CPU that may take minutes, and killing it would only begin them anew; so who gets on is waited for: only turns in which it has
 * not used the CPU at all count, or all that it has used. A turn counts no more than a second, as who stood still with us is not to blame.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <time.h>

#include "init.h"

/* 0 where the kernel does not tell. */
static int64_t cpu_used_ns(pid_t pid) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) == -1) return 0;
  return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static bool owes_a_commit(const struct init *init) {
  return !init->supervisor.committed || init->queued > 0 || init->supervisor.due <= now_ms();
}

int64_t next_watch(const struct init *init) {
  const struct supervisor *supervisor = &init->supervisor;
  if (supervisor->pid == 0) return NEVER;
  if (supervisor->forget_at != NEVER) return supervisor->forget_at;
  if (supervisor->watched_at != NEVER) return supervisor->watched_at + PATIENCE_TURN_MS;
  return supervisor->due;
}

void kill_supervisor(struct init *init) {
  if (init->supervisor.pid == 0) return;
  kill(init->supervisor.pid, SIGKILL);
  if (init->supervisor.forget_at == NEVER) init->supervisor.forget_at = now_ms() + DIES_MS;
}

/* Whoever sleeps in the kernel does not die, and never comes back to do anything either: another can take over. */
static void forget_supervisor(struct init *init) {
  say("sexton: the supervisor cannot be ended; starting another\n", "", "");
  init->forgotten = init->supervisor.pid;
  supervisor_died(init);
}

void watch_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  int64_t now = now_ms();
  if (supervisor->pid == 0) return;
  if (supervisor->forget_at != NEVER) {
    if (supervisor->forget_at <= now) forget_supervisor(init);
    return;
  }
  if (!owes_a_commit(init)) {
    supervisor->watched_at = NEVER;
    return;
  }
  if (supervisor->watched_at != NEVER && now - supervisor->watched_at < PATIENCE_TURN_MS) return;
  int64_t cpu_ns = cpu_used_ns(supervisor->pid);
  if (supervisor->watched_at == NEVER) {
    supervisor->waited_ms = 0;
    supervisor->first_cpu_ns = cpu_ns;
  } else {
    supervisor->waited_ms = cpu_ns == supervisor->cpu_ns ? supervisor->waited_ms + PATIENCE_TURN_MS : 0;
  }
  supervisor->cpu_ns = cpu_ns;
  supervisor->watched_at = now;
  int64_t used_ms = (cpu_ns - supervisor->first_cpu_ns) / 1000000;
  if (supervisor->waited_ms >= PATIENCE_MS || used_ms >= PATIENCE_MS) kill_supervisor(init);
}
