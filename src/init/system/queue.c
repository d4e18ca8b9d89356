/* The queue of events, and what is dropped when it is full. */
#include "queue.h"

bool is_passed_on(const struct event *event) { return event->kind == EV_ORDERED && event->row <= ON_FIRST; }

void push(struct queue *queue, struct event event) {
  if (queue->count >= MAX_QUEUED_SIGNALS) {
    if (event.kind == EV_TOLD || (is_passed_on(&event) && !event.flag)) return;
    if (event.kind == EV_SIGNAL || is_passed_on(&event) || event.kind == EV_SILENT)
      for (size_t i = 0; i < queue->count; i++) {
        const struct event *other = &queue->events[i];
        if (other->kind == event.kind && other->value == event.value && other->row == event.row) return;
      }
  }
  if (queue->count == MAX_EVENTS) return; /* cannot happen: a commit leaves room for all that it can cause */
  event.seq = ++queue->last_seq;
  event.at = now_ms();
  if (event.kind == EV_ORDERED) event.wall = wall_ns();
  queue->events[queue->count++] = event;
}

void acknowledge(struct queue *queue, uint64_t seq) {
  size_t done = 0;
  while (done < queue->count && queue->events[done].seq <= seq) done++;
  memmove(queue->events, queue->events + done, (queue->count - done) * sizeof *queue->events);
  queue->count -= done;
  queue->sent -= done;
  if (seq > queue->acknowledged) queue->acknowledged = seq;
}

uint64_t last_sent(const struct queue *queue) {
  return queue->sent > 0 ? queue->events[queue->sent - 1].seq : queue->acknowledged;
}
