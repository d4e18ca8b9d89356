/* The queue of events, and what is dropped when it is full. */
#include "queue.h"

#include "system.h"

void push(struct queue *queue, struct event event) {
  if (queue->count >= MAX_QUEUED_SIGNALS) {
    if (event.kind == EV_FORWARDED && !event.flag) return;
    if (event.kind == EV_SIGNAL || event.kind == EV_FORWARDED || event.kind == EV_STRAYS_GONE)
      for (size_t i = 0; i < queue->count; i++)
        if (queue->events[i].kind == event.kind && queue->events[i].value == event.value) return;
  }
  if (queue->count == MAX_EVENTS) return; /* cannot happen: a commit leaves room for all that it can cause */
  event.seq = ++queue->last_seq;
  event.at = now_ms();
  queue->events[queue->count++] = event;
}

size_t count_up_to(const struct queue *queue, uint64_t seq) {
  size_t count = 0;
  while (count < queue->count && queue->events[count].seq <= seq) count++;
  return count;
}

void acknowledge(struct queue *queue, uint64_t seq) {
  size_t done = count_up_to(queue, seq);
  memmove(queue->events, queue->events + done, (queue->count - done) * sizeof *queue->events);
  queue->count -= done;
  queue->sent -= done;
  if (seq > queue->acknowledged) queue->acknowledged = seq;
}

uint64_t last_sent(const struct queue *queue) {
  return queue->sent > 0 ? queue->events[queue->sent - 1].seq : queue->acknowledged;
}

bool has_room_for(const struct queue *queue, size_t events) {
  return events == 0 || queue->count + events <= MAX_QUEUED_SIGNALS;
}
