/* The stop that init carries out by itself: "A stop without the supervisor" in protocol.md. */
#include "init.h"

/* Since the last sign of a supervisor that lived for 5 s; since that of any; by how much init KILLs later than one. */
enum { PATIENCE_MS = 5000, GAP_MS = 500, BEHIND_MS = 1000, LAST_MS = 200 };

bool is_stop(const struct fallback *fallback, int number) { return fallback->stops >> (number - 1) & 1; }

const struct event *oldest_stop(const struct queue *queue, const struct fallback *fallback) {
  for (size_t i = 0; i < queue->count; i++) {
    const struct event *event = &queue->events[i];
    if (event->kind == EV_SIGNAL && is_stop(fallback, event->value)) return event;
    if (event->kind == EV_FORWARDED && event->flag) return event;
  }
  return NULL;
}

bool has_unacknowledged_stop(const struct queue *queue, const struct fallback *fallback) {
  return oldest_stop(queue, fallback) != NULL;
}

bool has_forwarded_stop(const struct queue *queue) {
  for (size_t i = 0; i < queue->count; i++)
    if (queue->events[i].kind == EV_FORWARDED && queue->events[i].flag) return true;
  return false;
}

bool is_stopping(const struct init *init) {
  const struct fallback *fallback = &init->forwarding.fallback;
  return fallback->at != NEVER || has_unacknowledged_stop(&init->queue, fallback);
}

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t after(int64_t at, int64_t ms) { return ms == NEVER ? NEVER : at + ms; }

int64_t request_ends_at(const struct init *init) {
  const struct fallback *fallback = &init->forwarding.fallback;
  const struct event *stop = oldest_stop(&init->queue, fallback);
  return stop ? after(stop->at, fallback->grace_ms) : NEVER;
}

static int64_t stop_ends_at(const struct init *init) {
  const struct grace *grace = &init->grace;
  int64_t ends_at = grace->stopped == init->children.last_id ? grace->ends_at : NEVER;
  return earlier(ends_at, earlier(grace->kill_at, request_ends_at(init)));
}

/* Close to the KILL, half of the time left is the command's. */
static int64_t patience_ends_at(const struct init *init, int64_t since, int64_t most_ms) {
  return since + earlier(most_ms, later(0, stop_ends_at(init) - since) / 2);
}

static int64_t kill_at(struct init *init, const struct child *child) {
  return child && init->grace.overdue != child->id ? stop_ends_at(init) : NEVER;
}

static int64_t stop_at(const struct init *init, const struct child *child) {
  const struct fallback *fallback = &init->forwarding.fallback;
  if (!child || child->exited || init->grace.stopped == child->id) return NEVER;
  const struct event *stop = oldest_stop(&init->queue, fallback);
  if (stop && stop->kind == EV_FORWARDED) return NEVER;
  int64_t at = stop ? after(stop->at, fallback->wait_ms) : NEVER;
  if (fallback->at == NEVER) return at;
  /* After a pause that outlasts the grace period the KILL is due before a supervisor has had time to act. */
  at = earlier(at, stop_ends_at(init));
  int64_t lost_at = supervisor_lost_at(init);
  if (lost_at == NEVER) return at;
  int64_t planned = later(fallback->at, patience_ends_at(init, lost_at, PATIENCE_MS));
  return earlier(at, later(planned, patience_ends_at(init, supervisor_gone_at(init), GAP_MS)));
}

int64_t next_own_step(struct init *init) {
  const struct child *child = find_last_child(&init->children);
  return earlier(stop_at(init, child), kill_at(init, child));
}

/* The rule of `src/core/pod/deadline.ts`. */
int64_t shorten_grace(int64_t grace_ms) {
  return grace_ms == NEVER ? NEVER : grace_ms - (grace_ms < 10000 ? grace_ms / 20 : 500);
}

/* The times of `core/lifecycle/stop/untold.ts`. */
void begin_own_rung(struct init *init, int number) {
  int64_t now = now_ms(), grace_ms = init->forwarding.fallback.grace_ms;
  /* A plain command has a shortened grace period already. */
  if (!init->supervisor.is_deferred) grace_ms = shorten_grace(grace_ms);
  int64_t ends_at = earlier(stop_ends_at(init), after(now, grace_ms));
  if (ends_at == NEVER) return begin_rung(init, number, NEVER, NEVER);
  begin_rung(init, number, ends_at - (ends_at - now) / 3, ends_at - earlier(LAST_MS, (ends_at - now) / 10));
}

void send_stop(struct init *init, const struct child *child, int number, bool by_mains) {
  init->grace.stopped = child->id;
  /* Without a request the grace period begins now. Init KILLs late, so that a supervisor that comes back is first. */
  init->grace.ends_at = by_mains ? after(now_ms() + BEHIND_MS, init->forwarding.fallback.grace_ms) : NEVER;
  begin_own_rung(init, number);
  /* Tombstones round down to the millisecond. So the sidecar's stop never seems to precede the main's end. */
  struct event event = {.kind = EV_STOP_SENT, .id = child->id, .value = number, .wall = wall_ns(), .flag = by_mains};
  event.count = take_receiver(init);
  push(&init->queue, event);
}

void stop_in_time(struct init *init) {
  const struct child *child = find_last_child(&init->children);
  if (stop_at(init, child) <= now_ms()) {
    const struct event *stop = oldest_stop(&init->queue, &init->forwarding.fallback);
    int number = init->forwarding.fallback.signal;
    send_stop(init, child, number > 0 || !stop ? number : stop->value, false);
  }
  if (kill_at(init, child) > now_ms()) return;
  init->grace.overdue = child->id;
  begin_rung(init, SIGKILL, NEVER, NEVER);
  push(&init->queue, (struct event){.kind = EV_OVERDUE, .id = child->id});
}
