/* The row `mains`: a sidecar gets its stop signal when the mains that it lives for have ended. */
#include "init.h"

void set_mains(struct mains *mains, struct contacts *contacts, const struct mains_order *order) {
  mains->is_ordered = order->count > 0 && order->needed > 0;
  if (order->count == 0) return;
  const char *word = order->words;
  for (size_t i = 0; i < contacts->count; i++) contacts->places[i].is_main = false;
  *mains = (struct mains){.order = *order, .is_ordered = mains->is_ordered, .ended_at = now_ms()};
  for (uint32_t i = 0; i < order->count; i++) {
    const char *host_id = word, *path = word + HOST_ID_BYTES + 1;
    struct contact *contact = find_contact(contacts, path);
    if (contact) renew_contact(contact);
    bool is_held = contact && contact->fd != -1;
    word = path + strlen(path) + 1;
    if (!is_held) mains->lost++;
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
  struct mains *mains = &init->mains;
  for (size_t i = 0; i < init->contacts.count; i++) {
    struct contact *main = &init->contacts.places[i];
    if (!main->is_main || (main->fd != -1 && !main->has_spoken)) continue;
    char expected[NOTICE_BYTES], how = main->notice[NOTICE_BYTES - 2];
    make_notice(expected, main->host_id, how);
    bool is_whole = main->has_spoken && memcmp(main->notice, expected, NOTICE_BYTES) == 0;
    if (is_whole && how == ENDS_FOR_GOOD) mains->final++;
    else if (is_whole && (how == ENDS_AS_ASKED || (how == ENDS && init->queue.count > 0))) mains->ended++;
    else mains->lost++;
    main->is_main = false;
    mains->ended_at = now_ms();
  }
  drop_contacts(&init->contacts);
}

/* Whether the only event is a stop request that is held, every main has ended, and no supervisor has seen it. */
static bool is_hold_over(struct init *init) {
  const struct mains *mains = &init->mains;
  bool is_held = mains->order.holds && init->queue.count == 1 && init->queue.events[0].kind == EV_SIGNAL;
  return is_held && is_prelude(init) && !has_decided(init) && have_all_ended(mains);
}

/* Whether as many mains as needed are gone for good. */
static bool have_mains_finished(const struct init *init) {
  const struct mains *mains = &init->mains;
  size_t needed = mains->order.needed > 0 ? mains->order.needed : mains->order.count;
  /* During a stop a killed main does not come back. */
  bool counts_lost = init->alone && (mains->order.counts_lost || is_stopping(init));
  if (mains->final + (counts_lost ? mains->lost + mains->ended : 0) < needed) return false;
  return init->alone || (mains->is_ordered && init->queue.count == 0 && holds_at(init, now_ms()));
}

int64_t ends_with_mains_at(struct init *init) {
  const struct mains *mains = &init->mains;
  const struct child *child = find_last_child(&init->children);
  if (!child || child->exited || mains->order.count == 0 || init->own_stop.child == child->id) return NEVER;
  if (!waits_for_stop(&init->orders)) return NEVER; /* the supervisor has begun to stop it */
  if (!is_hold_over(init) && !have_mains_finished(init)) return NEVER;
  return mains->ended_at + mains->order.linger_ms;
}

void end_with_mains(struct init *init) {
  if (ends_with_mains_at(init) > now_ms()) return;
  init->mains.is_ordered = false;
  send_stop(init, ON_MAINS, init->mains.order.signal);
}
