/* The end with the mains: a sidecar gets its stop signal when the mains that it lives for have ended. */
#include <sys/socket.h>

#include "init.h"

void set_end_with(struct reflexes *reflexes, const struct operation *op) {
  struct fields fields = {op->text, op->text + op->length};
  const char *host_id, *path;
  size_t length;
  reflexes->until = NEVER;
  reflexes->mains_child = op->limit > 0 ? op->id : 0;
  if (op->count == 0) return; /* the connections stay for a time without a supervisor */
  while (reflexes->count > 0) let_go(reflexes->mains[--reflexes->count].fd);
  reflexes->signal = op->signal;
  reflexes->ends_with_lost = op->index;
  reflexes->holds = op->holds;
  reflexes->needed = op->limit;
  reflexes->linger_ms = op->wait_ms == NEVER ? 0 : op->wait_ms;
  reflexes->ended_at = now_ms();
  reflexes->final = reflexes->ended = reflexes->lost = 0;
  while (reflexes->count < MAX_MAINS && next_field(&fields, &host_id, &length) && length == HOST_ID_BYTES &&
         next_field(&fields, &path, &length) && length <= MAX_SOCKET_PATH_BYTES) {
    struct watched_main *main = &reflexes->mains[reflexes->count++];
    memcpy(main->host_id, host_id, HOST_ID_BYTES);
    main->fd = connect_to(path);
    if (main->fd == -1) reflexes->lost++;
  }
}

size_t poll_mains(struct reflexes *reflexes, struct pollfd *polled, size_t at) {
  reflexes->polled_at = at;
  for (size_t i = 0; i < reflexes->count; i++)
    polled[at++] = (struct pollfd){.fd = reflexes->mains[i].fd, .events = POLLIN};
  return at;
}

/*
 * Only the first bytes of a main count, so that one that goes on talking costs init nothing. A main that has ended by
 * itself before the stop request may come back: it counts as gone, and the supervisor decides. If init hears of both at
 * once, the end may have been first: notices are read before signals.
 */
void read_notices(struct init *init) {
  struct reflexes *reflexes = &init->reflexes;
  const struct pollfd *polled = init->storage.polled + reflexes->polled_at;
  for (size_t i = 0; i < reflexes->count; i++) {
    struct watched_main *main = &reflexes->mains[i];
    char expected[NOTICE_BYTES], notice[NOTICE_BYTES] = "";
    if (polled[i].fd != main->fd || polled[i].revents == 0) continue;
    ssize_t n = read_safely(main->fd, notice, NOTICE_BYTES);
    if (n < 0 && errno == EAGAIN) continue; /* the event belonged to an older connection */
    char how = notice[NOTICE_BYTES - 2];
    make_notice(expected, main->host_id, how);
    bool is_whole = memcmp(notice, expected, NOTICE_BYTES) == 0;
    if (is_whole && how == ENDS_FOR_GOOD) reflexes->final++;
    else if (is_whole && (how == ENDS_AS_ASKED || (how == ENDS && init->queue.count > 0))) reflexes->ended++;
    else reflexes->lost++;
    let_go(main->fd);
    main->fd = -1;
    reflexes->ended_at = now_ms();
  }
}

/* Whether the only event is a stop request that is held, every main has ended, and no supervisor is awake to see it. */
static bool is_hold_over(struct init *init) {
  const struct reflexes *reflexes = &init->reflexes;
  bool is_held = reflexes->holds && init->queue.count == 1 && init->queue.events[0].kind == EV_SIGNAL;
  return is_held && is_ahead(prepared_until(init)) && have_all_ended(reflexes);
}

/* Whether as many mains as needed are gone for good. */
static bool have_mains_finished(const struct init *init) {
  const struct reflexes *reflexes = &init->reflexes;
  size_t needed = reflexes->needed > 0 ? reflexes->needed : reflexes->count;
  /* During a stop a killed main does not come back. */
  bool counts_lost = init->alone && (reflexes->ends_with_lost || is_stopping(init));
  if (reflexes->final + (counts_lost ? reflexes->lost + reflexes->ended : 0) < needed) return false;
  return init->alone || (reflexes->mains_child != 0 && init->queue.count == 0 && holds_at(init, now_ms()));
}

int64_t ends_with_mains_at(struct init *init) {
  const struct reflexes *reflexes = &init->reflexes;
  const struct child *child = find_last_child(&init->children);
  if (!child || child->exited || reflexes->count == 0 || init->own_stop.child == child->id) return NEVER;
  if (!waits_for_stop(&init->orders)) return NEVER; /* the supervisor has begun to stop it */
  if (!is_hold_over(init) && !have_mains_finished(init)) return NEVER;
  return reflexes->ended_at + reflexes->linger_ms;
}

void end_with_mains(struct init *init) {
  if (ends_with_mains_at(init) > now_ms()) return;
  init->reflexes.mains_child = 0;
  send_stop(init, ON_MAINS, init->reflexes.signal);
}
