/*
 * The watchdog: a supervisor that lives and does not act (stopped, in a file operation that never ends, in a loop)
 * must not take a stop request with it. It is KILLed like one that crashed, and the next one goes on in its place.
 *
 * A supervisor owes a commit before its first one, while an event is not acknowledged, and once the time has come
 * that it named itself. With too little CPU that may take minutes, and after a KILL the next one would have to begin
 * anew. So init waits for a supervisor that makes progress: only turns in which it has not used the CPU at all count,
 * or all the CPU that it has used. A turn counts as one second at most, as one in which the whole container stood
 * still is not its fault.
 */
#include <time.h>

#include "init.h"

/* Some tests, which acknowledge nothing, build it longer: src/init/build.ts. */
#ifndef SEXTON_HANG_MS
#define SEXTON_HANG_MS 10000
#endif

enum { MAX_HANG_MS = SEXTON_HANG_MS, TURN_MS = 1000 };

/* 0 where the kernel does not tell. */
static int64_t cpu_used_ns(pid_t pid) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) == -1) return 0;
  return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

int64_t owes_since(const struct init *init) {
  const struct supervisor *supervisor = &init->supervisor;
  int64_t since = supervisor->committed ? supervisor->watch.due : supervisor->started_at;
  if (init->queue.count > 0 && init->queue.events[0].at < since) since = init->queue.events[0].at;
  return since;
}

int64_t next_watch(const struct supervisor *supervisor) {
  const struct watch *watch = &supervisor->watch;
  if (supervisor->pid == 0) return NEVER;
  if (watch->abandon_at != NEVER) return watch->abandon_at;
  if (watch->looked_at != NEVER) return watch->looked_at + TURN_MS;
  return watch->due;
}

void watch_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  struct watch *watch = &supervisor->watch;
  int64_t now = now_ms();
  if (supervisor->pid == 0) return;
  if (watch->abandon_at != NEVER) {
    if (watch->abandon_at <= now) abandon_supervisor(init);
    return;
  }
  if (owes_since(init) > now) {
    watch->looked_at = NEVER;
    return;
  }
  if (watch->looked_at != NEVER && now - watch->looked_at < TURN_MS) return;
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
}
