/*
 * The queue of events. An event stays, in order, until the supervisor acknowledges it, and is sent again to the next
 * one. The queue is bounded: only signals can come without limit, and unread ones of one number stand for each other.
 */
#pragma once

#include "frame.h"

enum {
  MAX_CHILDREN = 256,
  MAX_HELPERS = 16,
  MAX_QUEUED_SIGNALS = 4096,
  /*
   * Signals never take this room: one for each number, five for each child, one for each helper, one for a stop that
   * was forwarded once, and one for the end of a sweep.
   */
  MAX_EVENTS = MAX_QUEUED_SIGNALS + MAX_SIGNAL + 5 * MAX_CHILDREN + MAX_HELPERS + 2,
};

struct queue {
  uint64_t last_seq, acknowledged;
  size_t count, sent; /* sent: how many of the events this supervisor was sent */
  struct event *events;
};

void push(struct queue *queue, struct event event);
/* How many events from the first on have at most this sequence number. */
size_t count_up_to(const struct queue *queue, uint64_t seq);
void acknowledge(struct queue *queue, uint64_t seq);
/* The sequence number of the last event that the supervisor can know. */
uint64_t last_sent(const struct queue *queue);
/* Whether as many events of a commit find room, together with all that they cause later. */
bool has_room_for(const struct queue *queue, size_t events);
