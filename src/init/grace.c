/*
 * The grace period: a stop request that nobody has dealt with yet is kept here, by the time of its arrival, whoever supervises. So a
 * supervisor that hangs, is being started or has too little CPU takes no stop request with it. What it has acknowledged holds by its own word.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "init.h"

/* The oldest stop request that is not acknowledged. */
static const struct event *waiting_stop(const struct init *init) {
  for (size_t i = 0; i < init->queued; i++) {
    const struct event *event = &init->queue[i];
    bool is_stop = event->kind == EV_SIGNAL && init->fallback.stops >> (event->value - 1) & 1;
    if (is_stop || (event->kind == EV_FORWARDED && event->flag)) return event;
  }
  return NULL;
}

bool stop_waits(const struct init *init) { return waiting_stop(init) != NULL; }

int64_t grace_ends(struct init *init) {
  if (init->overdue == init->last_child || !find_child(init, init->last_child)) return NEVER;
  const struct event *stop = waiting_stop(init);
  if (!stop || init->fallback.grace_ms < 0) return init->kill_at;
  int64_t ends = stop->at + init->fallback.grace_ms;
  return ends < init->kill_at ? ends : init->kill_at;
}

void keep_grace(struct init *init) {
  if (grace_ends(init) > now_ms()) return;
  const struct child *child = find_child(init, init->last_child);
  init->overdue = child->id;
  signal_group(child, SIGKILL);
  push(init, (struct event){.kind = EV_OVERDUE, .id = child->id});
}
