/*
 * Commits: what the supervisor orders. Each is checked whole before any of it is applied, so that it is applied whole
 * or not at all.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "init.h"

/* The words as an argument vector, in a mapping of `size` bytes; NULL when there is no memory. */
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
  char **argv = op->index > 0 ? init->in.argv + op->index : mapped;
  if (op->kind == OP_EXEC) start_helper(&init->helpers, &init->queue, &init->in, op->id, op->limit, argv);
  else spawn(&init->children, &init->terminal, &init->queue, &init->in, op->id, argv);
  if (mapped) munmap(mapped, size);
}

/*
 * The signal of prctl(2) comes when the parent dies; it may have died before init could ask. A supervisor that comes
 * back asks again.
 */
static void signal_at_parents_death(struct init *init, int number) {
  prctl(PR_SET_PDEATHSIG, number, 0, 0, 0);
  if (init->self.parent > 0 && getppid() != init->self.parent) receive_signal(init, number);
  init->self.parent = 0;
}

/*
 * A stop that init has begun by itself with this signal, and that the supervisor has not heard of yet: the child has
 * it.
 */
static bool was_forwarded(const struct queue *queue, int number) {
  for (size_t i = 0; i < queue->count; i++) {
    const struct event *event = &queue->events[i];
    if (event->kind == EV_FORWARDED && event->flag && event->as == number) return true;
    if (event->kind == EV_STOP_SENT && event->value == number) return true;
  }
  return false;
}

static void acknowledge_events(struct init *init, uint64_t seq) {
  size_t count = count_up_to(&init->queue, seq);
  for (size_t i = 0; i < count; i++) release_helper(&init->helpers, &init->queue.events[i]);
  acknowledge(&init->queue, seq);
}

static void store_memo(struct memo *memo, const struct operation *op) {
  release_if_large(memo->bytes, memo->length);
  memcpy(memo->bytes, op->text, op->length);
  memo->length = op->length;
  memo->exists = true;
}

static void spawn_if_not_stopped(struct init *init, const struct operation *op) {
  /* A supervisor that is new does not know what was started at once; the queued `spawned` tells it. */
  if (op->id <= init->children.last_id) return;
  /* A stop request that the supervisor has not seen comes first. */
  read_signals(init);
  if (!has_unacknowledged_stop(&init->queue, &init->forwarding.fallback)) start_words(init, op);
  else push(&init->queue, (struct event){.kind = EV_SPAWN_FAILED, .id = op->id, .value = ECANCELED});
}

static void set_route(struct route *route, const struct operation *op) {
  route->child = op->id;
  memcpy(route->as, op->table, sizeof route->as);
}

static void apply(struct init *init, const struct operation *op) {
  const struct child *child = find_child(&init->children, op->id);
  switch (op->kind) {
    case OP_ACK:
      acknowledge_events(init, op->seq);
      break;
    case OP_MEMO:
      store_memo(&init->memo, op);
      break;
    case OP_SPAWN:
      spawn_if_not_stopped(init, op);
      break;
    case OP_KILL:
      if (child && !was_forwarded(&init->queue, op->signal)) signal_child(&init->children, child, op->signal);
      break;
    case OP_FORWARD:
      set_route(&init->forwarding.always, op);
      break;
    case OP_FORWARD_ONCE:
      set_route(&init->forwarding.once, op);
      break;
    case OP_FALLBACK:
      init->forwarding.fallback = (struct fallback){op->stops, op->signal, op->wait_ms, op->grace_ms, op->at};
      break;
    case OP_KILL_AT:
      init->grace.kill_at = op->at;
      break;
    case OP_LEAVE_AT:
      init->grace.leave_at = op->at;
      break;
    case OP_DUE:
      init->supervisor.watch.due = op->at;
      break;
    case OP_LISTEN:
      listen_at(&init->liveness, op->text);
      break;
    case OP_EXEC:
      if (op->id > init->helpers.last_id) start_words(init, op);
      break;
    case OP_END_HELPER:
      end_helper(&init->helpers, op->id);
      break;
    case OP_SWEEP:
      sweep_strays(init, op->signal);
      break;
    case OP_FIRST_ONLY:
      init->children.first_only = op->id;
      break;
    case OP_PARENT_DEATH:
      signal_at_parents_death(init, op->signal);
      break;
    case OP_TELL_REAPED:
      init->reports_reaped = true;
      break;
    case OP_WATCH:
      watch(init, op);
      break;
    case OP_ASLEEP_AT:
      show_asleep(&init->sleep, op->text);
      break;
    case OP_PREPARED_ENDS:
      set_prepared_ends(&init->reflexes, op);
      break;
    case OP_END_WITH:
      set_end_with(&init->reflexes, op);
      break;
    case OP_SLEEP: /* both when all of the commit is applied */
    case OP_EXIT:
      break;
  }
}

/*
 * Whether the events that this commit causes at once find room, and so what those cause later. What it acknowledges
 * does not count. A helper that finds a free place has room already.
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
  return has_room_for(&init->queue, spawns + (helpers > places ? helpers - places : 0));
}

static bool apply_commit(struct init *init, const char *body, size_t length) {
  struct operation op;
  struct fields fields;
  struct bounds bounds = {.last_event = last_sent(&init->queue), .words = (uint32_t)init->in.argc};
  int exit_code = -1;
  bool sleeps = false;
  if (!is_valid_commit(body, length, bounds) || !has_room(init, body, length)) return false;
  on_commit(&init->supervisor);
  init->alone = false;
  /* It was let go, and had begun something by then. */
  if (init->sleep.is_asleep) wake(init, "commit");
  init->reflexes.committed_at = now_ms();
  begin_commit(&fields, body, length);
  while (next_operation(&fields, &op) == DECODED_OPERATION) {
    apply(init, &op);
    if (op.kind == OP_EXIT) exit_code = op.code;
    if (op.kind == OP_SLEEP) sleeps = true;
  }
  if (exit_code >= 0) leave(init, exit_code);
  if (sleeps) go_to_sleep(init);
  return true;
}

bool apply_frames(struct init *init) {
  const struct connection *connection = &init->connection;
  size_t at = 0;
  while (connection->in_used - at >= FRAME_HEADER_BYTES) {
    size_t length = frame_length(connection->in + at);
    if (length == 0 || length > MAX_FRAME_BYTES) return false;
    if (connection->in_used - at - FRAME_HEADER_BYTES < length) break;
    if (!apply_commit(init, connection->in + at + FRAME_HEADER_BYTES, length)) return false;
    at += FRAME_HEADER_BYTES + length;
  }
  drop_bytes(&init->connection, at);
  return true;
}
