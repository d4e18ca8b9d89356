/*
 * The queue of events. An event stays, in order, until the supervisor acknowledges it, and is sent again to the next
 * one. The queue is bounded: only signals can come without limit, and unread ones of one number stand for each other.
 */
#pragma once

#include "frame.h"

enum {
  MAX_HELPERS = 16,
  MAX_QUEUED_SIGNALS = 4096,
  MAX_SPAWNS = 256, /* lives without an acknowledgement */
  /* Queued signals leave room: one for each number, five a child, one a helper, one forwarded once, one notification,
     one silence, one that tells whom a signal has reached. */
  MAX_EVENTS = MAX_QUEUED_SIGNALS + MAX_SIGNAL + 5 * MAX_SPAWNS + MAX_HELPERS + 4,
};

struct queue {
  uint64_t last_seq, acknowledged;
  size_t count, sent; /* sent: how many of the events this supervisor was sent */
  struct event *events;
};

/* Whether init has passed on a signal that it was sent. */
bool is_passed_on(const struct event *event);
void push(struct queue *queue, struct event event);
void acknowledge(struct queue *queue, uint64_t seq);
/* The sequence number of the last event that the supervisor can know. */
uint64_t last_sent(const struct queue *queue);
