/*
 * Fuzz target of the commit decoder. The first two bytes of the input are the bounds, the rest is the body of a frame.
 * A body that validates decodes to the end without an error, and always to the same operations. Each is in the range
 * that protocol.md gives, and its text lies in the body.
 */
#include <stdlib.h>
#include <string.h>

#include "frame.h"

enum { BOUNDS_BYTES = 2 };

static void require(bool holds) {
  if (!holds) abort();
}

static void check_text(const struct operation *op, const char *body, size_t length) {
  require(op->text >= body && op->text + op->length <= body + length);
}

static void check_words(const struct operation *op, const char *body, size_t length) {
  check_text(op, body, length);
  const char *word = op->text;
  for (uint32_t i = 0; i < op->count; i++) word += strlen(word) + 1;
  require(word == op->text + op->length);
}

static void check_watch(const struct operation *op, const char *body, size_t length) {
  check_text(op, body, length);
  require(op->id >= 1 && op->count <= MAX_QUIET);
  const char *at = op->text;
  for (uint32_t i = 0; i < 2 + op->count; i++) {
    require(*at && strlen(at) <= (i == 0 ? MAX_DIRECTORY_BYTES : MAX_NAME_BYTES));
    at += strlen(at) + 1;
  }
  require(at == op->text + op->length);
}

static void check_connections(const struct operation *op, const char *body, size_t length) {
  check_words(op, body, length);
  require(op->count <= MAX_CONNECTIONS);
  const char *path = op->text;
  for (uint32_t i = 0; i < op->count; i++, path += strlen(path) + 1)
    require(*path && strlen(path) <= MAX_SOCKET_PATH_BYTES);
}

static void check_path(const struct operation *op, const char *body, size_t length) {
  check_text(op, body, length);
  require(op->length >= 1 && op->length <= MAX_SOCKET_PATH_BYTES && strlen(op->text) == op->length);
}

static void check_mains(const struct mains_order *mains, const char *body, size_t length) {
  require(mains->count <= MAX_MAINS && mains->needed <= MAX_MAINS && mains->holds <= 1 && mains->counts_lost <= 1);
  const char *word = mains->words;
  for (uint32_t i = 0; i < mains->count; i++) {
    require(word >= body && word < body + length && strlen(word) == HOST_ID_BYTES);
    word += HOST_ID_BYTES + 1;
    require(*word && strlen(word) <= MAX_SOCKET_PATH_BYTES);
    word += strlen(word) + 1;
  }
  require(mains->count == 0 || (mains->signal >= 1 && mains->signal <= MAX_SIGNAL && word <= body + length));
}

static void check_orders(const struct orders *orders, const char *body, size_t length) {
  for (int from = 0; from <= MAX_SIGNAL; from++)
    require(orders->each[from] <= MAX_SIGNAL && orders->first[from] <= MAX_SIGNAL);
  require(orders->child >= 1 && orders->each[0] == 0 && orders->first[0] == 0 && orders->count <= MAX_ORDERS);
  for (size_t i = 0; i < orders->count; i++) {
    const struct order *order = &orders->rows[i];
    require(order->when > ON_FIRST && order->when < WHENS && order->at > 0 && order->at < NEVER);
    require(order->signal >= 0 && order->signal <= MAX_SIGNAL);
  }
  require(orders->end_count <= MAX_ORDERS);
  for (size_t i = 0; i < orders->end_count; i++) {
    const struct end_order *end = &orders->ends[i];
    require(end->first <= end->last && end->last <= SIGNAL_EXIT + MAX_SIGNAL && end->leaves_with <= STAYS);
    require(strlen(end->prelude) <= MAX_PRELUDE && strlen(end->signal) <= MAX_WORD_BYTES);
    require(strlen(end->reason) <= MAX_WORD_BYTES && strlen(end->stop_reason) <= MAX_WORD_BYTES);
  }
  check_mains(&orders->mains, body, length);
}

static void check_operation(const struct operation *op, const char *body, size_t length, const struct bounds *bounds) {
  switch (op->kind) {
    case OP_WATCH:
      check_watch(op, body, length);
      break;
    case OP_CONNECTIONS:
      check_connections(op, body, length);
      break;
    case OP_ACK:
      require(op->seq <= bounds->last_event);
      break;
    case OP_MEMO:
      check_text(op, body, length);
      require(op->length <= MAX_MEMO_BYTES && strlen(op->text) == op->length);
      break;
    case OP_SPAWN:
      check_words(op, body, length);
      require(op->id >= 1 && op->limit <= TO_FIRST && op->index < bounds->words && (op->index == 0) != (op->count == 0));
      break;
    case OP_EXEC:
      check_words(op, body, length);
      require(op->id >= 1 && op->count >= 1 && op->limit <= MAX_OUTPUT_BYTES);
      break;
    case OP_TEXTS:
      check_words(op, body, length);
      require(op->count == TEXT_WORDS && op->length <= MAX_TEXTS_BYTES);
      break;
    case OP_END_HELPER:
      require(op->id >= 1);
      break;
    case OP_STOP:
      require(op->id >= 1 && op->signal >= 1 && op->signal <= MAX_SIGNAL && op->at > 0 && op->last_at > 0);
      break;
    case OP_NOTIFY:
      require(op->index <= 1 && op->wait_ms > 0);
      break;
    case OP_WATCHDOG:
      require(op->id >= 1 && op->wait_ms > 0);
      break;
    case OP_SLEEP:
      require(op->length <= MAX_DIRECTORY_BYTES && strlen(op->text) == op->length);
      break;
    case OP_KILL:
      require(op->id >= 1 && op->signal >= 1 && op->signal <= MAX_SIGNAL);
      break;
    case OP_ORDERS:
      check_orders(&op->orders, body, length);
      break;
    case OP_DUE:
      require(op->at >= 0);
      break;
    case OP_LISTEN:
      check_path(op, body, length);
      break;
    case OP_EXIT:
      require(op->code <= 255);
      break;
  }
}

static void check_commit(const char *body, size_t length, struct bounds bounds) {
  struct fields first, second;
  struct operation op, again;
  require(begin_commit(&first, body, length) && begin_commit(&second, body, length));
  for (;;) {
    enum decoded decoded = next_operation(&first, &op);
    require(decoded != DECODED_BAD && next_operation(&second, &again) == decoded && first.at == second.at);
    if (decoded == DECODED_END) break;
    require(op.kind == again.kind && op.id == again.id && op.text == again.text && op.length == again.length);
    require(memcmp(op.orders.each, again.orders.each, sizeof op.orders.each) == 0);
    require(op.orders.stops == again.orders.stops && op.orders.count == again.orders.count);
    check_operation(&op, body, length, &bounds);
  }
  require(first.at == body + length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < BOUNDS_BYTES) return 0;
  struct bounds bounds = {.last_event = data[0], .words = data[1]};
  size_t length = size - BOUNDS_BYTES;
  /* The block has exactly this size, so that the sanitizer sees a read behind its end. */
  char *body = malloc(length ? length : 1);
  if (!body) return 0;
  memcpy(body, data + BOUNDS_BYTES, length);
  bool valid = is_valid_commit(body, length, bounds);
  require(valid == is_valid_commit(body, length, bounds));
  if (valid) check_commit(body, length, bounds);
  if (length >= FRAME_HEADER_BYTES) (void)frame_length(body);
  free(body);
  return 0;
}
