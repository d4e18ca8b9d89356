/* Strays, such as daemons of the application. The kernel has no event for an adoption, so init polls for them. */
#include "init.h"

bool is_own(const struct init *init, pid_t pid, pid_t group) {
  const struct supervisor *supervisor = &init->supervisor;
  if (supervisor->pid > 0 && (pid == supervisor->pid || group == supervisor->pid)) return true;
  if (pid == supervisor->abandoned || pid == closer) return true;
  /* A new helper leads no group before its process has run. */
  return is_helpers_group(&init->helpers, group) || is_helpers_group(&init->helpers, pid);
}

/* A process in the group of a child or helper is signalled, and waited for, with that group. */
static bool is_stray(const struct init *init, pid_t pid) {
  pid_t group = getpgid(pid);
  return !is_own(init, pid, group) && !is_childs(&init->children, pid, group);
}

static bool visit_stray(void *init, pid_t pid) { return is_stray(init, pid); }

size_t count_strays(struct init *init) { return visit_living_children(visit_stray, init); }

/* Whether to signal this target, a pid or a negative group, now. A sweep signals each target once. */
static bool take_target(struct strays *strays, pid_t target) {
  if (strays->sweep_signal == SIGKILL) return true; /* a second one does no harm */
  for (size_t i = 0; i < strays->swept_count; i++)
    if (strays->swept[i] == target) return false;
  if (strays->swept_count == MAX_SWEPT) return false; /* it waits until some of these have ended */
  strays->swept[strays->swept_count++] = target;
  return true;
}

static bool sweep_stray(void *with, pid_t pid) {
  struct init *init = with;
  if (!is_stray(init, pid)) return false;
  pid_t group = getpgid(pid);
  pid_t target = group > 1 && group != getpgrp() ? -group : pid;
  if (take_target(&init->strays, target)) signal_target(target, init->strays.sweep_signal);
  return true;
}

void continue_sweep(struct init *init) {
  struct strays *strays = &init->strays;
  strays->sweep_at = NEVER;
  if (strays->sweep_signal == 0) return;
  size_t kept = 0;
  for (size_t i = 0; i < strays->swept_count; i++)
    if (kill(strays->swept[i], 0) == 0 || errno != ESRCH) strays->swept[kept++] = strays->swept[i];
  strays->swept_count = kept;
  if (visit_living_children(sweep_stray, init) > 0) {
    strays->sweep_at = now_ms() + GROUP_CHECK_MS;
    return;
  }
  strays->sweep_signal = 0;
  push(&init->queue, (struct event){.kind = EV_STRAYS_GONE});
}

void sweep_strays(struct init *init, int number) {
  init->strays.sweep_signal = number;
  init->strays.swept_count = 0;
  continue_sweep(init);
}
