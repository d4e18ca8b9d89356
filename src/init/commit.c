/*
 * Commits: what the supervisor orders. Each is checked whole before any of it is applied, so that it is applied whole or not at
 * all.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "init.h"

/* The words as an argument vector, in a mapping of `size` bytes; NULL when there is no memory. */
static char **lay_words(const struct operation *op, size_t *size) {
  *size = ((size_t)op->count + 1) * sizeof(char *);
  char **argv = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (argv == MAP_FAILED) return NULL;
  const char *word = op->text;
  for (uint32_t i = 0; i < op->count; i++, word += strlen(word) + 1) argv[i] = (char *)(uintptr_t)word;
  return argv;
}

static void start_words(struct init *init, const struct operation *op) {
  size_t size;
  if (op->kind == OP_SPAWN && op->index > 0) {
    spawn(init, op->id, init->in.argv + op->index);
    return;
  }
  char **argv = lay_words(op, &size);
  if (op->kind == OP_EXEC) exec_helper(init, op->id, op->limit, argv);
  else spawn(init, op->id, argv);
  if (argv) munmap(argv, size);
}

/* The signal of prctl(2) comes when the parent dies; it may have died before we could ask for it. A supervisor that comes back asks again. */
static void signal_at_parents_death(struct init *init, int number) {
  prctl(PR_SET_PDEATHSIG, number, 0, 0, 0);
  if (init->parent > 0 && getppid() != init->parent) take_signal(init, number);
  init->parent = 0;
}

/* A stop request that init has passed on by itself as this signal, and that the supervisor has not heard of yet: the child has it. */
static bool was_passed_on(const struct init *init, int number) {
  for (size_t i = 0; i < init->queued; i++)
    if (init->queue[i].kind == EV_FORWARDED && init->queue[i].flag && init->queue[i].as == number) return true;
  return false;
}

static void apply(struct init *init, const struct operation *op) {
  struct child *child = find_child(init, op->id);
  switch (op->kind) {
    case OP_ACK:
      acknowledge(init, op->seq);
      break;
    case OP_MEMO:
      forget(init->memo, init->memo_length);
      memcpy(init->memo, op->text, op->length);
      init->memo_length = op->length;
      init->has_memo = true;
      break;
    case OP_SPAWN:
      /* A supervisor that is new does not know what was started at once; the queued `spawned` tells it. */
      if (op->id <= init->last_child) break;
      /* A stop request that the supervisor has not seen comes first. */
      read_signals(init);
      if (stop_waits(init)) push(init, (struct event){.kind = EV_SPAWN_FAILED, .id = op->id, .value = ECANCELED});
      else start_words(init, op);
      break;
    case OP_KILL:
      if (child && !was_passed_on(init, op->signal)) signal_child(init, child, op->signal);
      break;
    case OP_FORWARD:
      init->forward_to = op->id;
      memcpy(init->forward, op->table, sizeof init->forward);
      break;
    case OP_ONCE:
      init->once_to = op->id;
      memcpy(init->once, op->table, sizeof init->once);
      break;
    case OP_FALLBACK:
      init->fallback = (struct fallback){op->stops, op->signal, op->grace_ms};
      break;
    case OP_KILL_AT:
      init->kill_at = op->at > 0 ? op->at : NEVER;
      break;
    case OP_DUE:
      init->supervisor.due = op->at > 0 ? op->at : NEVER;
      break;
    case OP_LISTEN:
      listen_at(init, op->text, op->length);
      break;
    case OP_EXEC:
      if (op->id > init->last_helper) start_words(init, op);
      break;
    case OP_END_HELPER:
      end_helper(init, op->id);
      break;
    case OP_SWEEP:
      sweep(init, op->signal);
      break;
    case OP_SINGLE:
      init->single = op->id;
      break;
    case OP_PARENT_DEATH:
      signal_at_parents_death(init, op->signal);
      break;
    case OP_TELL_REAPED:
      init->tell_reaped = true;
      break;
    case OP_EXIT:
      init->leaving = op->code;
      break;
  }
}

/*
 * Whether the events that this commit causes at once find room, and so what those cause later. What it acknowledges does not
 * count. A helper that finds a free place has room already.
 */
static bool has_room(const struct init *init, const char *body, size_t length) {
  struct operation op;
  struct fields fields;
  size_t spawns = 0, helpers = 0, places = free_helpers(init);
  commit_begin(&fields, body, length);
  while (next_operation(&fields, &op) == DECODED_OPERATION) {
    spawns += op.kind == OP_SPAWN;
    helpers += op.kind == OP_EXEC;
  }
  size_t events = spawns + (helpers > places ? helpers - places : 0);
  return events == 0 || init->queued + events <= SIGNALS_QUEUED_MAX;
}

static bool apply_commit(struct init *init, const char *body, size_t length) {
  struct operation op;
  struct fields fields;
  uint64_t last_event = init->sent > 0 ? init->queue[init->sent - 1].seq : init->acknowledged;
  if (!commit_is_valid(body, length, (struct bounds){last_event, (uint32_t)init->in.argc})) return false;
  if (!has_room(init, body, length)) return false;
  init->supervisor.committed = true;
  init->supervisor.failed_starts = 0;
  init->supervisor.watched_at = NEVER;
  init->alone = false;
  commit_begin(&fields, body, length);
  while (next_operation(&fields, &op) == DECODED_OPERATION) apply(init, &op);
  if (init->leaving >= 0) leave(init, init->leaving);
  return true;
}

bool apply_frames(struct init *init) {
  size_t at = 0;
  while (init->in_used - at >= FRAME_HEADER) {
    size_t length = frame_length(init->in_bytes + at);
    if (length == 0 || length > FRAME_MAX) return false;
    if (init->in_used - at - FRAME_HEADER < length) break;
    if (!apply_commit(init, init->in_bytes + at + FRAME_HEADER, length)) return false;
    at += FRAME_HEADER + length;
  }
  memmove(init->in_bytes, init->in_bytes + at, init->in_used - at);
  if (at == init->in_used) forget(init->in_bytes, at);
  init->in_used -= at;
  return true;
}
