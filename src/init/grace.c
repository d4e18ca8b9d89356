/* The grace period: see grace.h. */
#define _GNU_SOURCE
#include <signal.h>

#include "init.h"

bool is_stop(const struct fallback *fallback, int number) { return fallback->stops >> (number - 1) & 1; }

static const struct event *oldest_stop(const struct queue *queue, const struct fallback *fallback) {
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

int64_t grace_ends_at(struct init *init) {
  const struct grace *grace = &init->grace;
  const struct fallback *fallback = &init->forwarding.fallback;
  if (grace->overdue == init->children.last_id || !find_last_child(&init->children)) return NEVER;
  const struct event *stop = oldest_stop(&init->queue, fallback);
  if (!stop || fallback->grace_ms < 0) return grace->kill_at;
  int64_t ends_at = stop->at + fallback->grace_ms;
  return ends_at < grace->kill_at ? ends_at : grace->kill_at;
}

/* As `src/core/pod/deadline.ts` has it. */
int64_t shorten_grace(int64_t grace_ms) { return grace_ms - (grace_ms < 10000 ? grace_ms / 20 : 500); }

void enforce_grace(struct init *init) {
  if (grace_ends_at(init) > now_ms()) return;
  const struct child *child = find_last_child(&init->children);
  init->grace.overdue = child->id;
  signal_group(child, SIGKILL);
  push(&init->queue, (struct event){.kind = EV_OVERDUE, .id = child->id});
}
