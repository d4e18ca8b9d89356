/* Commits: what the supervisor orders. Init checks each one whole before it applies any of it. */
#include <sys/mman.h>

#include "init.h"

/* Maps `size` bytes for an argument vector of the words; NULL when there is no memory. */
static char **map_words(const struct operation *op, size_t *size) {
  *size = ((size_t)op->count + 1) * sizeof(char *);
  char **argv = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (argv == MAP_FAILED) return NULL;
  const char *word = op->text;
  for (uint32_t i = 0; i < op->count; i++, word += strlen(word) + 1) argv[i] = (char *)(uintptr_t)word;
  return argv;
}

static void start_words(struct init *init, const struct operation *op) {
  size_t size;
  char **mapped = op->index > 0 ? NULL : map_words(op, &size);
  char **argv = op->index > 0 ? init->node.words + op->index : mapped;
  if (op->kind == OP_EXEC) start_helper(init, op->id, op->limit, argv);
  else spawn(init, op->id, argv);
  if (mapped) munmap(mapped, size);
}

static void acknowledge_events(struct init *init, uint64_t seq) {
  struct queue *queue = &init->queue;
  for (size_t i = 0; i < queue->count && queue->events[i].seq <= seq; i++)
    if (queue->events[i].kind == EV_NOTIFIED) release_notification(init);
    else release_helper(&init->helpers, &queue->events[i]);
  acknowledge(queue, seq);
}

static void store_memo(struct memo *memo, const struct operation *op) {
  release_if_large(memo->bytes, memo->length);
  memcpy(memo->bytes, op->text, op->length);
  memo->length = op->length;
}

static void spawn_if_not_stopped(struct init *init, const struct operation *op) {
  /* A new supervisor has not yet read the queued `spawned` of a child that was started at once. */
  if (op->id <= init->children.last_id) return;
  /* An unacknowledged stop request comes first. */
  read_signals(init);
  if (has_unacknowledged_stop(init)) {
    push(&init->queue, (struct event){.kind = EV_SPAWN_FAILED, .id = op->id, .value = ECANCELED});
    return;
  }
  init->rung.to = (enum signal_to)op->limit;
  start_words(init, op);
}

static void replace_orders(struct init *init, const struct orders *orders) {
  init->orders = *orders;
  init->rows_until = NEVER;
  set_mains(&init->mains, &init->contacts, &orders->mains);
  init->orders.mains.words = NULL; /* they go with the frame */
}

static void apply(struct init *init, const struct operation *op) {
  const struct child *child = find_child(&init->children, op->id);
  switch (op->kind) {
    case OP_ACK:
      return acknowledge_events(init, op->seq);
    case OP_MEMO:
      return store_memo(&init->memo, op);
    case OP_SPAWN:
      return spawn_if_not_stopped(init, op);
    case OP_KILL:
      if (child && op->signal == SIGKILL) begin_rung(init, SIGKILL, NEVER, NEVER);
      else if (child) signal_program(init, op->signal);
      return;
    case OP_STOP:
      if (!child) return;
      if (op->signal != SIGKILL) make_room(init, NEVER);
      return continue_rung(init, op->signal, op->at, op->last_at);
    case OP_ORDERS:
      return replace_orders(init, &op->orders);
    case OP_DUE:
      /* A time in the past counts from now: the commit that sets it cannot be late. */
      init->supervisor.watch.due = op->at > now_ms() ? op->at : now_ms();
      return;
    case OP_LISTEN:
      return listen_at(&init->liveness, op->text);
    case OP_EXEC:
      if (op->id > init->helpers.last_id) start_words(init, op);
      return;
    case OP_END_HELPER:
      return end_helper(&init->helpers, op->id);
    case OP_WATCH:
      return watch(init, op);
    case OP_CONNECTIONS:
      return set_contacts(&init->contacts, op);
    case OP_SLEEP:
      if (op->length > 0) show_asleep(&init->sleep, op->text);
      return;
    case OP_TEXTS:
      return set_texts(&init->texts, op);
    case OP_NOTIFY:
      return open_notifications(init, op->index, op->wait_ms);
    case OP_WATCHDOG:
      return set_watchdog(&init->notifications.watchdog, op->id, op->wait_ms);
    case OP_EXIT:
      return;
  }
}

/*
 * Whether the events that this commit causes at once find room, and with them all later ones. Its acknowledgements do
 * not count. A helper that finds a free place has room already.
 */
static bool has_room(const struct init *init, const char *body, size_t length) {
  struct operation op;
  struct fields fields;
  size_t spawns = 0, helpers = 0, places = count_free_helpers(&init->helpers);
  begin_commit(&fields, body, length);
  while (next_operation(&fields, &op) == DECODED_OPERATION) {
    spawns += op.kind == OP_SPAWN;
    helpers += op.kind == OP_EXEC;
  }
  size_t events = spawns + (helpers > places ? helpers - places : 0);
  return events == 0 || init->queue.count + events <= MAX_QUEUED_SIGNALS;
}

static enum outcome apply_commit(struct init *init, const char *body, size_t length, int *code) {
  struct operation op;
  struct fields fields;
  struct bounds bounds = {.last_event = last_sent(&init->queue), .words = (uint32_t)init->node.count};
  enum outcome outcome = STAY;
  if (!is_valid_commit(body, length, bounds) || !has_room(init, body, length)) return BAD_FRAME;
  on_commit(&init->supervisor);
  init->alone = false;
  /* The supervisor had sent this after its `sleep`. One that was ended to make room had not asked to sleep. */
  if (init->sleep.is_asleep && !init->sleep.makes_room) wake(init, "commit");
  init->committed_at = now_ms();
  begin_commit(&fields, body, length);
  while (next_operation(&fields, &op) == DECODED_OPERATION) {
    apply(init, &op);
    if (op.kind == OP_SLEEP && outcome == STAY) outcome = SLEEP;
    if (op.kind != OP_EXIT) continue;
    outcome = EXIT;
    *code = (int)op.code;
  }
  return outcome;
}

enum outcome apply_frame(struct init *init, size_t *at, int *code) {
  const struct connection *connection = &init->connection;
  const char *header = connection->in + *at;
  if (connection->in_used - *at < FRAME_HEADER_BYTES) return NO_FRAME;
  size_t length = frame_length(header);
  if (length == 0 || length > MAX_FRAME_BYTES) return BAD_FRAME;
  if (connection->in_used - *at - FRAME_HEADER_BYTES < length) return NO_FRAME;
  *at += FRAME_HEADER_BYTES + length;
  return apply_commit(init, header + FRAME_HEADER_BYTES, length, code);
}
