/* Carries out what the supervisor has left behind: "Orders" in protocol.md. */
#include "init.h"

/*
 * Init acts for a lost supervisor PATIENCE_MS after a commit of one that had lived for 5 s, and GAP_MS after one of any.
 * Both times have to pass. LAST_MS before a KILL, all processes that are left get the stop signal.
 */
enum { PATIENCE_MS = 5000, GAP_MS = 500, LAST_MS = 200 };
/* How long a stop waits for the first supervisor. */
enum { FIRST_WAIT_MS = 5000 };

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t after(int64_t at, int64_t ms) { return at == NEVER || ms == NEVER ? NEVER : at + ms; }

void begin_orders(struct orders *orders, int64_t ms) {
  orders->child = 1;
  orders->stops = UINT64_C(1) << (SIGTERM - 1) | UINT64_C(1) << (SIGINT - 1);
  orders->rows[0] = (struct order){.when = ON_UNHEARD, .at = earlier(FIRST_WAIT_MS, ms / 2)};
  orders->rows[1] = (struct order){.when = ON_GRACE, .at = ms};
  orders->count = ms == NEVER ? 1 : 2;
}

bool is_stop(const struct orders *orders, int number) { return orders->stops >> (number - 1) & 1; }

static const struct order *find_order(const struct orders *orders, enum when when) {
  for (size_t i = 0; i < orders->count; i++)
    if (orders->rows[i].when == when) return &orders->rows[i];
  return NULL;
}

int64_t grace_ms(const struct orders *orders) {
  const struct order *grace = find_order(orders, ON_GRACE);
  return grace ? grace->at : NEVER;
}

int exit_code(const struct init *init) {
  const struct order *leave = find_order(&init->orders, ON_LEAVE);
  int status = init->children.last_status;
  return leave && leave->is_zero && status != 128 + SIGKILL ? 0 : status;
}

bool waits_for_stop(const struct orders *orders) { return find_order(orders, ON_UNHEARD) != NULL; }

const struct event *oldest_stop(const struct init *init) {
  for (size_t i = 0; i < init->queue.count; i++) {
    const struct event *event = &init->queue.events[i];
    if (event->kind == EV_SIGNAL && is_stop(&init->orders, event->value)) return event;
    if (is_passed_on(event) && event->flag) return event;
  }
  return NULL;
}

bool has_unacknowledged_stop(const struct init *init) { return oldest_stop(init) != NULL; }

bool is_stopping(const struct init *init) {
  return find_order(&init->orders, ON_LOST) || has_unacknowledged_stop(init);
}

static int64_t time_of(const struct init *init, const struct order *order);

/* The earliest time of the rows of these kinds, including those that were carried out or no longer apply. */
static int64_t first_of(const struct init *init, enum when from, enum when to) {
  int64_t first = NEVER;
  for (size_t i = 0; i < init->orders.count; i++) {
    const struct order *order = &init->orders.rows[i];
    if (order->when >= from && order->when <= to) first = earlier(first, time_of(init, order));
  }
  return first;
}

static int64_t kill_at(const struct init *init) { return first_of(init, ON_GRACE, ON_DEADLINE); }

int64_t platform_ends_at(const struct init *init) {
  return earlier(first_of(init, ON_GRACE, ON_GRACE), first_of(init, ON_LEAVE, ON_LEAVE));
}

/* Close to the KILL, half of the time left is the command's. */
static int64_t patience_ends_at(const struct init *init, int64_t since, int64_t most_ms) {
  return since + earlier(most_ms, later(0, kill_at(init) - since) / 2);
}

/* When the supervisor has been lost for long enough. */
static int64_t lost_at(const struct init *init) {
  int64_t heard_at = supervisor_lost_at(init);
  if (heard_at == NEVER) return NEVER;
  return later(patience_ends_at(init, heard_at, PATIENCE_MS), patience_ends_at(init, supervisor_gone_at(init), GAP_MS));
}

static int64_t time_of(const struct init *init, const struct order *order) {
  const struct event *stop = oldest_stop(init);
  bool is_passed = stop && is_passed_on(stop);
  switch (order->when) {
    case ON_UNHEARD:
      return stop && !is_passed ? stop->at + order->at : NEVER;
    case ON_LOST:
      /* A request that was passed on was the stop signal. After a long pause the KILL is due first, and sets the limit. */
      return is_passed ? NEVER : earlier(kill_at(init), later(order->at, lost_at(init)));
    case ON_GRACE:
      return stop ? stop->at + order->at : NEVER;
    case ON_MAINS_GRACE:
      return init->own_stop.child == init->children.last_id ? after(init->own_stop.by_mains_at, order->at) : NEVER;
    case ON_DEADLINE:
    case ON_LEAVE:
      return order->at;
    default:
      return NEVER; /* a signal or a notice is the time */
  }
}

/* NEVER: the child has had its stop signal from init, or has ended. */
static int64_t stop_at(const struct init *init) {
  const struct child *child = &init->children.child;
  if (child->id == 0 || child->exited || init->own_stop.child == child->id) return NEVER;
  return first_of(init, ON_UNHEARD, ON_LOST);
}

static int64_t own_kill_at(const struct init *init) {
  const struct child *child = &init->children.child;
  return child->id == 0 || init->own_stop.killed == child->id ? NEVER : kill_at(init);
}

int64_t next_order(const struct init *init) { return earlier(stop_at(init), own_kill_at(init)); }

/* Returns a grace period that is 500 ms or a twentieth shorter, as `killAtMs` in `src/core/pod/deadline.ts`. */
int64_t shorten_grace(int64_t ms) { return ms == NEVER ? NEVER : ms - (ms < 10000 ? ms / 20 : 500); }

/*
 * Processes that have not been signalled get the signal after two thirds of the time to KILL, and at the latest LAST_MS
 * before it. The supervisor computes the same times in `core/lifecycle/stop/untold.ts`.
 */
void begin_own_rung(struct init *init, int number) {
  /* A supervisor has not seen this stop, and may have to go on with it. */
  make_room(init, now_ms() + PATIENCE_MS);
  int64_t now = now_ms(), left_ms = grace_ms(&init->orders);
  /* A plain command has a shortened grace period already. */
  if (!init->supervisor.is_deferred) left_ms = shorten_grace(left_ms);
  int64_t ends_at = earlier(kill_at(init), after(now, left_ms));
  if (ends_at == NEVER) return begin_rung(init, number, NEVER, NEVER);
  begin_rung(init, number, ends_at - (ends_at - now) / 3, ends_at - earlier(LAST_MS, (ends_at - now) / 10));
}

void send_stop(struct init *init, enum when when, int number) {
  struct own_stop *own = &init->own_stop;
  own->child = init->children.last_id;
  own->by_mains_at = when == ON_MAINS && !has_unacknowledged_stop(init) ? now_ms() : NEVER;
  begin_own_rung(init, number);
  struct event event = {.kind = EV_ORDERED, .id = own->child, .row = (uint8_t)when, .as = (uint8_t)number};
  event.count = take_receiver(init);
  push(&init->queue, event);
}

/* The row that is due, of these kinds. */
static const struct order *due_order(const struct init *init, enum when from, enum when to) {
  for (size_t i = 0; i < init->orders.count; i++) {
    const struct order *order = &init->orders.rows[i];
    if (order->when >= from && order->when <= to && time_of(init, order) <= now_ms()) return order;
  }
  return NULL;
}

void carry_out_orders(struct init *init) {
  const struct order *order;
  if (stop_at(init) <= now_ms() && (order = due_order(init, ON_UNHEARD, ON_LOST))) {
    const struct event *stop = oldest_stop(init);
    send_stop(init, order->when, order->signal > 0 || !stop ? order->signal : stop->value);
  }
  if (own_kill_at(init) > now_ms() || !(order = due_order(init, ON_GRACE, ON_DEADLINE))) return;
  init->own_stop.killed = init->children.last_id;
  begin_rung(init, SIGKILL, NEVER, NEVER);
  push(&init->queue, (struct event){.kind = EV_ORDERED, .id = init->children.last_id, .row = (uint8_t)order->when, .as = SIGKILL});
}
