/* The deferred supervisor, which finds in the queue what has happened before its start. */
#include "deferred.h"

#include "init.h"
#include "oom.h"

/* The kubelet mounts this file, and sexton writes the evidence to it: docs/observability.md. */
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

/* NULL: the command lives. */
static const struct event *find_end(const struct queue *queue) {
  for (size_t i = queue->count; i > 0; i--) {
    const struct event *event = &queue->events[i - 1];
    if (event->kind == EV_EXITED || event->kind == EV_KILLED) return event;
  }
  return NULL;
}

/* The reason that the supervisor would give: `deathReasonOf` in `src/core/ends.ts`. */
static const char *reason_of(const struct event *died, bool by_oom, bool is_stopped) {
  bool by_signal = died->kind == EV_KILLED;
  if (by_oom) return "oom";
  if (by_signal && died->value == SIGKILL) return "killed";
  if (is_stopped || (by_signal && died->value == SIGINT)) return "stopped";
  return !by_signal && died->value == 0 ? "completed" : "error";
}

/*
 * Leaves the evidence of a stop, at its request and at its end: the platform may kill the whole container in between. An
 * end without a stop needs an explanation only after a KILL.
 */
static void leave_plain_evidence(struct init *init, const struct event *died) {
  const struct event *asked = oldest_stop(init);
  struct texts *texts = &init->texts;
  bool by_kill = died && died->kind == EV_KILLED && died->value == SIGKILL;
  if ((!asked && !by_kill) || (!died && texts->length > 0) || !has_termination_log()) return;
  struct plain_words plain = read_plain_words(&init->in);
  bool by_oom = by_kill && count_oom_kills() > init->supervisor.oom_kills;
  struct end_order end = {.stop_reason = ""};
  struct ending ending = {.end = &end, .asked = asked, .died = died, .grace_ms = plain.grace_ms};
  ending.status = ending.code = init->children.last_status;
  if (by_kill) ending.killer = by_oom ? "OOM killer" : "an unknown sender";
  if (died) strcpy(end.reason, reason_of(died, by_oom, asked));
  if (died && died->kind == EV_KILLED) name_signal(end.signal, died->value);
  if (asked) strcpy(end.stop_reason, asked->value == SIGINT ? "signal INT" : "signal TERM");
  open_plain_texts(texts, &plain, init->queue.events, by_oom);
  leave_evidence(texts, &ending);
  if (by_kill) write_log(texts, &ending);
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
  bool needed = has_roots && !stops;
  for (size_t i = 0; i < init->queue.count; i++)
    needed = needed || needs_supervisor(&init->queue.events[i], &init->orders);
  if (needed) {
    supervisor->is_deferred = false;
    supervisor->heard_at = supervisor->gone_at = now_ms();
    if (init->node.lacks[0]) do_without(init);
    else supervisor->start_at = supervisor->gone_at;
    return;
  }
  bool is_over = ended && !has_roots;
  leave_plain_evidence(init, is_over ? find_end(&init->queue) : NULL);
  if (is_over) leave(init, children->last_status);
}
