/* The deferred supervisor: see deferred.h. */
#define _GNU_SOURCE
#include "deferred.h"

#include <unistd.h>

#include "init.h"
#include "oom.h"

/* Where the platform keeps a termination log the supervisor writes there how the command ended: docs/observability.md. */
static bool has_termination_log(void) { return access("/dev/termination-log", W_OK) == 0; }

void defer_supervisor(struct supervisor *supervisor) {
  /* Whether it was the OOM killer that ended the command shows only in a count from before. */
  if (has_termination_log() && (supervisor->oom_kills = count_oom_kills()) == -1) return;
  supervisor->is_deferred = true;
  supervisor->start_at = NEVER;
}

/*
 * Signals, which init has forwarded or was told to drop, and an end that leaves no strays behind need none. The third
 * interrupt from a terminal is a KILL.
 */
static bool needs_supervisor(const struct event *event, const struct fallback *fallback) {
  switch ((enum event_kind)event->kind) {
    case EV_SPAWNED:
    case EV_FORWARDED:
    case EV_EXITED:
    case EV_KILLED:
      return false;
    case EV_SIGNAL:
      return event->flag && is_stop(fallback, event->value);
    case EV_GROUP_GONE:
      return event->value > 0;
    default:
      return true;
  }
}

/* A stop is told from its beginning: the platform may kill the whole container before its end. */
static bool owes_evidence(const struct init *init) {
  bool stops = has_unacknowledged_stop(&init->queue, &init->forwarding.fallback);
  return (stops || init->children.last_status > 0) && has_termination_log();
}

void attend_without_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  const struct children *children = &init->children;
  bool ended = children->last_status >= 0;
  if (!supervisor->is_deferred) return;
  bool needed = (ended && children->count > 0) || owes_evidence(init); /* others of its group are left */
  for (size_t i = 0; i < init->queue.count; i++)
    needed = needed || needs_supervisor(&init->queue.events[i], &init->forwarding.fallback);
  if (needed) {
    supervisor->is_deferred = false;
    supervisor->start_at = supervisor->heard_at = supervisor->gone_at = now_ms();
  } else if (ended) {
    leave(init, children->last_status);
  }
}
