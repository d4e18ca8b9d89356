/*
 * The queue of events. What the supervisor has not acknowledged stays, in order, and is sent again to the next one; the bound
 * holds because only signals can come without limit, and those of one number that nobody has looked at may stand for each other.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "init.h"

void push(struct init *init, struct event event) {
  if (init->queued >= SIGNALS_QUEUED_MAX) {
    if (event.kind == EV_FORWARDED && !event.flag) return;
    if (event.kind == EV_SIGNAL || event.kind == EV_FORWARDED || event.kind == EV_STRAYS_GONE)
      for (size_t i = 0; i < init->queued; i++)
        if (init->queue[i].kind == event.kind && init->queue[i].value == event.value) return;
  }
  if (init->queued == QUEUE_MAX) return; /* cannot be: a commit leaves room for all that it can cause */
  event.seq = ++init->last_seq;
  event.at = now_ms();
  init->queue[init->queued++] = event;
}

void acknowledge(struct init *init, uint64_t seq) {
  size_t done = 0;
  while (done < init->queued && init->queue[done].seq <= seq) done++;
  for (size_t i = 0; i < done; i++)
    if (init->queue[i].kind >= EV_HELPER_EXITED) release_helper(init, init->queue[i].id);
  memmove(init->queue, init->queue + done, (init->queued - done) * sizeof *init->queue);
  init->queued -= done;
  init->sent -= done;
  if (seq > init->acknowledged) init->acknowledged = seq;
}

void send_events(struct init *init) {
  while (init->supervisor.fd != -1) {
    if (init->out_at == init->out_used) {
      forget(init->out, init->out_used);
      init->out_at = init->out_used = 0;
      if (init->sent == init->queued) return;
      size_t length;
      const struct event *event = &init->queue[init->sent++];
      const char *output = output_of(init, event, &length);
      init->out_used = encode_event(init->out, event, output, length);
    }
    ssize_t n = send(init->supervisor.fd, init->out + init->out_at, init->out_used - init->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) return;
    init->out_at += (size_t)n;
  }
}

void give_back(char *bytes, size_t length) {
  uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ); /* 4 to 64 KiB */
  uintptr_t start = ((uintptr_t)bytes + page - 1) / page * page;
  uintptr_t end = ((uintptr_t)bytes + length) / page * page;
  if (start < end) madvise(bytes + (start - (uintptr_t)bytes), end - start, MADV_DONTNEED);
}

void forget(char *buffer, size_t used) {
  if (used > LARGE_BYTES) give_back(buffer, used);
}
