/* The queue of events, and what is dropped when it is full. */
#include "queue.h"

void push(struct queue *queue, struct event event) {
  if (queue->count >= MAX_QUEUED_SIGNALS) {
    if (event.kind == EV_FORWARDED && !event.flag) return;
    if (event.kind == EV_TOLD) return;
    if (event.kind == EV_SIGNAL || event.kind == EV_FORWARDED || event.kind == EV_SILENT)
      for (size_t i = 0; i < queue->count; i++)
        if (queue->events[i].kind == event.kind && queue->events[i].value == event.value) return;
  }
  if (queue->count == MAX_EVENTS) return; /* cannot happen: a commit leaves room for all that it can cause */
  event.seq = ++queue->last_seq;
  event.at = now_ms();
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
