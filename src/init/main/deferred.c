/* The deferred supervisor, which finds in the queue what has happened before its start. */
#include "deferred.h"

#include "init.h"
#include "oom.h"

/* The supervisor records the end of the command in the platform's termination log: docs/observability.md. */
static bool has_termination_log(void) { return access("/dev/termination-log", W_OK) == 0; }

void defer_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  /* Only an earlier count shows whether the OOM killer has ended the command. */
  bool counts = !has_termination_log() || (supervisor->oom_kills = count_oom_kills()) != -1;
  if (!counts && !init->node.lacks[0]) return;
  supervisor->is_deferred = true;
  supervisor->start_at = NEVER;
}

/*
 * A signal that init has forwarded or dropped, and an end that leaves no root, need no supervisor. The third interrupt from
 * a terminal is a KILL.
 */
static bool needs_supervisor(const struct event *event, const struct orders *orders) {
  switch ((enum event_kind)event->kind) {
    case EV_SPAWNED:
    case EV_EXITED:
    case EV_KILLED:
    case EV_ROOTS_GONE:
    case EV_TOLD:
      return false;
    case EV_SIGNAL:
      return event->flag && is_stop(orders, event->value);
    case EV_ORDERED:
      return !is_passed_on(event);
    default:
      return true;
  }
}

/*
 * A stop is recorded from its beginning, because the platform may kill the whole container before its end. An end
 * without a stop needs an explanation only after a KILL.
 */
static bool owes_evidence(const struct init *init) {
  bool stops = has_unacknowledged_stop(init);
  return (stops || init->children.last_status == 128 + SIGKILL) && has_termination_log();
}

/* Without Node init says so once, and does what it can do alone. */
static void do_without(struct init *init) {
  const char *const *lacks = init->node.lacks;
  struct children *children = &init->children;
  init->alone = true;
  if (init->queue.events[0].kind == EV_SPAWN_FAILED) {
    say("sexton: cannot start ", init->in.argv[init->in.form.command],
        children->last_status == 127 ? ": not found; check the spelling and the PATH\n"
                                     : ": it cannot be executed; check its mode and its format\n");
    if (init->in.drop_in.as == AS_DUMB_INIT) children->last_status = 2;
  } else {
    say(lacks[0], lacks[1], lacks[2]);
  }
  forward_queued(init);
  leave_without_supervisor(init);
}

void attend_without_supervisor(struct init *init) {
  struct supervisor *supervisor = &init->supervisor;
  const struct children *children = &init->children;
  bool ended = children->last_status >= 0;
  if (!supervisor->is_deferred) return;
  bool stops = has_unacknowledged_stop(init);
  bool has_roots = ended && children->child.id > 0;
  bool needed = (has_roots && !stops) || owes_evidence(init);
  for (size_t i = 0; i < init->queue.count; i++)
    needed = needed || needs_supervisor(&init->queue.events[i], &init->orders);
  if (needed) {
    supervisor->is_deferred = false;
    supervisor->heard_at = supervisor->gone_at = now_ms();
    if (init->node.lacks[0]) do_without(init);
    else supervisor->start_at = supervisor->gone_at;
  } else if (ended && !has_roots) {
    leave(init, children->last_status);
  }
}
