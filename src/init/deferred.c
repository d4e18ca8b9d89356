/* The deferred supervisor: see deferred.h. */
#define _GNU_SOURCE
#include "deferred.h"

#include <unistd.h>

#include "init.h"

/*
 * Where the platform keeps a termination log the supervisor writes there how the command ended
 * (docs/observability.md). For that it counts the kernel's OOM kills from the start.
 */
static bool has_termination_log(void) { return access("/dev/termination-log", W_OK) == 0; }

void defer_supervisor(struct init *init) {
  if (has_termination_log()) return;
  init->supervisor.is_deferred = true;
  init->supervisor.start_at = NEVER;
}

/* Signals, which init has forwarded or was told to drop, and an end that leaves no strays behind need none. */
static bool needs_supervisor(const struct event *event) {
  switch ((enum event_kind)event->kind) {
    case EV_SPAWNED:
    case EV_SIGNAL:
    case EV_FORWARDED:
    case EV_EXITED:
    case EV_KILLED:
      return false;
    case EV_GROUP_GONE:
      return event->value > 0;
    default:
      return true;
  }
}

void attend_without_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  const struct children *children = &init->children;
  bool ended = children->last_status >= 0;
  bool needed = ended && children->count > 0; /* others of its group are left */
  if (!supervisor->is_deferred) return;
  for (size_t i = 0; i < init->queue.count; i++) needed = needed || needs_supervisor(&init->queue.events[i]);
  if (needed) {
    supervisor->is_deferred = false;
    supervisor->start_at = now_ms();
  } else if (ended) {
    leave(init, children->last_status);
  }
}
