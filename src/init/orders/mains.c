/* The end with the mains: a sidecar gets its stop signal when the mains that it lives for have ended. */
#include "init.h"

void set_end_with(struct reflexes *reflexes, struct contacts *contacts, const struct operation *op) {
  struct fields fields = {op->text, op->text + op->length};
  const char *host_id, *path;
  size_t length;
  reflexes->until = NEVER;
  reflexes->mains_child = op->limit > 0 ? op->id : 0;
  if (op->count == 0) return; /* the mains stay for a time without a supervisor */
  for (size_t i = 0; i < contacts->count; i++) contacts->places[i].is_main = false;
  reflexes->signal = op->signal;
  reflexes->ends_with_lost = op->index;
  reflexes->holds = op->holds;
  reflexes->needed = op->limit;
  reflexes->linger_ms = op->wait_ms == NEVER ? 0 : op->wait_ms;
  reflexes->ended_at = now_ms();
  reflexes->count = reflexes->final = reflexes->ended = reflexes->lost = 0;
  while (reflexes->count < MAX_MAINS && next_field(&fields, &host_id, &length) && length == HOST_ID_BYTES &&
         next_field(&fields, &path, &length)) {
    struct contact *contact = find_contact(contacts, path);
    if (contact) renew_contact(contact);
    bool is_held = contact && contact->fd != -1;
    reflexes->count++;
    if (!is_held) reflexes->lost++;
    if (!is_held) continue;
    contact->is_main = true;
    memcpy(contact->host_id, host_id, HOST_ID_BYTES);
  }
  drop_contacts(contacts);
}

/*
 * A main that has ended by itself before the stop request may come back: it counts as gone, and the supervisor decides.
 * If init hears of both at once, the end may have been first: notices are read before signals.
 */
void read_notices(struct init *init) {
  struct reflexes *reflexes = &init->reflexes;
  for (size_t i = 0; i < init->contacts.count; i++) {
    struct contact *main = &init->contacts.places[i];
    if (!main->is_main || (main->fd != -1 && !main->has_spoken)) continue;
    char expected[NOTICE_BYTES], how = main->notice[NOTICE_BYTES - 2];
    make_notice(expected, main->host_id, how);
    bool is_whole = main->has_spoken && memcmp(main->notice, expected, NOTICE_BYTES) == 0;
    if (is_whole && how == ENDS_FOR_GOOD) reflexes->final++;
    else if (is_whole && (how == ENDS_AS_ASKED || (how == ENDS && init->queue.count > 0))) reflexes->ended++;
    else reflexes->lost++;
    main->is_main = false;
    reflexes->ended_at = now_ms();
  }
  drop_contacts(&init->contacts);
}

/* Whether the only event is a stop request that is held, every main has ended, and no supervisor has seen it. */
static bool is_hold_over(struct init *init) {
  const struct reflexes *reflexes = &init->reflexes;
  bool is_held = reflexes->holds && init->queue.count == 1 && init->queue.events[0].kind == EV_SIGNAL;
  return is_held && is_prelude(init) && !has_decided(init) && have_all_ended(reflexes);
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
