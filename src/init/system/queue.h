/*
 * The queue of events. What the supervisor has not acknowledged stays, in order, and is sent again to the next one.
 * The bound holds because only signals can come without limit, and those of one number that are not yet read may
 * stand for each other.
 */
#ifndef SEXTON_QUEUE_H
#define SEXTON_QUEUE_H

#include "frame.h"

enum {
  MAX_CHILDREN = 256,
  MAX_HELPERS = 16,
  MAX_QUEUED_SIGNALS = 4096,
  /*
   * Room that signals never take: one for each number, five for each child, one for each helper that has a place, one
   * for what was forwarded once and one for the end of a sweep.
   */
  MAX_EVENTS = MAX_QUEUED_SIGNALS + MAX_SIGNAL + 5 * MAX_CHILDREN + MAX_HELPERS + 2,
};

struct queue {
  uint64_t last_seq, acknowledged;
  size_t count, sent; /* how many of the events this supervisor was sent */
  struct event *events;
};

void push(struct queue *queue, struct event event);
/* How many events from the first on have at most this sequence number. */
size_t count_up_to(const struct queue *queue, uint64_t seq);
/* Drops these events. */
void acknowledge(struct queue *queue, uint64_t seq);
/* The sequence number of the last event that the supervisor can know. */
uint64_t last_sent(const struct queue *queue);
/* Whether so many more events that a commit causes find room, and with them all that those cause later. */
bool has_room_for(const struct queue *queue, size_t events);

#endif
