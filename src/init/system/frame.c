/* The decoder. It is strict and bounded, and the only code in init that reads what the supervisor wrote. */
#include "frame.h"

/* The largest integer that a JavaScript number holds exactly. */
static const uint64_t MAX_NUMBER = 9007199254740991U;

bool next_field(struct fields *fields, const char **text, size_t *length) {
  if (fields->at == fields->end) return false;
  const char *nul = memchr(fields->at, 0, (size_t)(fields->end - fields->at));
  if (!nul) return false;
  *text = fields->at;
  *length = (size_t)(nul - fields->at);
  fields->at = nul + 1;
  return true;
}

bool next_number(struct fields *fields, uint64_t min, uint64_t max, uint64_t *number) {
  const char *text;
  size_t length;
  if (!next_field(fields, &text, &length) || length == 0 || length > 16) return false;
  if (text[0] == '0' && length > 1) return false;
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return false;
    value = value * 10 + (uint64_t)(text[i] - '0');
  }
  if (value < min || value > max) return false;
  *number = value;
  return true;
}

static bool next_u32(struct fields *fields, uint32_t max, uint32_t *number) {
  uint64_t value;
  if (!next_number(fields, 0, max, &value)) return false;
  *number = (uint32_t)value;
  return true;
}

static bool next_signal(struct fields *fields, uint64_t min, int *number) {
  uint64_t value;
  if (!next_number(fields, min, MAX_SIGNAL, &value)) return false;
  *number = (int)value;
  return true;
}

/* A time or a duration in milliseconds; 0 stands for NEVER. */
static bool next_time(struct fields *fields, int64_t *time) {
  uint64_t number;
  if (!next_number(fields, 0, MAX_NUMBER, &number)) return false;
  *time = number > 0 ? (int64_t)number : NEVER;
  return true;
}

/* A number of words, and as many words. */
static bool next_words(struct fields *fields, struct operation *op) {
  const char *word;
  size_t length;
  if (!next_u32(fields, MAX_FRAME_BYTES, &op->count)) return false;
  op->text = fields->at;
  for (uint32_t i = 0; i < op->count; i++)
    if (!next_field(fields, &word, &length)) return false;
  op->length = (size_t)(fields->at - op->text);
  return true;
}

/* Pairs of signals: what has come, and what it is passed on as. */
static bool next_table(struct fields *fields, uint8_t table[MAX_SIGNAL + 1]) {
  uint64_t count;
  if (!next_number(fields, 0, MAX_SIGNAL, &count)) return false;
  for (; count > 0; count--) {
    int from, to;
    if (!next_signal(fields, 1, &from) || !next_signal(fields, 1, &to)) return false;
    table[from] = (uint8_t)to;
  }
  return true;
}

static const char whens[WHENS][12] = {"each",  "first",       "unheard",  "lost",  "mains",
                                      "grace", "mains-grace", "deadline", "leave", "end"};

const char *name_of_row(enum when when) { return whens[when]; }

static bool next_mains(struct fields *fields, struct mains_order *mains) {
  const char *text;
  size_t length;
  if (!next_u32(fields, MAX_MAINS, &mains->needed) || !next_u32(fields, 1, &mains->counts_lost)) return false;
  if (!next_u32(fields, 1, &mains->holds) || !next_u32(fields, INT32_MAX, &mains->linger_ms)) return false;
  if (!next_signal(fields, 1, &mains->signal) || !next_u32(fields, MAX_MAINS, &mains->count)) return false;
  mains->words = fields->at;
  for (uint32_t i = 0; i < mains->count; i++) {
    if (!next_field(fields, &text, &length) || length != HOST_ID_BYTES) return false;
    if (!next_field(fields, &text, &length) || length == 0 || length > MAX_SOCKET_PATH_BYTES) return false;
  }
  return mains->count > 0;
}

static bool next_word(struct fields *fields, char *word, size_t most) {
  const char *text;
  size_t length;
  if (!next_field(fields, &text, &length) || length > most) return false;
  memcpy(word, text, length + 1);
  return true;
}

static bool next_end(struct fields *fields, struct end_order *end) {
  uint32_t final;
  if (!next_word(fields, end->prelude, MAX_PRELUDE) || !next_u32(fields, INT32_MAX, &end->patience_ms)) return false;
  if (!next_u32(fields, SIGNAL_EXIT + MAX_SIGNAL, &end->first)) return false;
  if (!next_u32(fields, SIGNAL_EXIT + MAX_SIGNAL, &end->last) || end->last < end->first) return false;
  if (!next_u32(fields, 1, &final) || !next_u32(fields, STAYS, &end->leaves_with)) return false;
  end->final = final;
  return next_word(fields, end->signal, MAX_WORD_BYTES) && next_word(fields, end->reason, MAX_WORD_BYTES) &&
         next_word(fields, end->stop_reason, MAX_WORD_BYTES);
}

static bool next_row(struct fields *fields, struct orders *orders) {
  const char *name;
  size_t length, when = 0;
  if (!next_field(fields, &name, &length)) return false;
  while (when < WHENS && strcmp(whens[when], name) != 0) when++;
  if (when == ON_EACH) return next_table(fields, orders->each);
  if (when == ON_FIRST) return next_table(fields, orders->first);
  if (when == ON_MAINS) return next_mains(fields, &orders->mains);
  if (when == ON_END) return next_end(fields, &orders->ends[orders->end_count++]);
  if (when == WHENS) return false;
  struct order *order = &orders->rows[orders->count++];
  order->when = (enum when)when;
  if (!next_time(fields, &order->at) || order->at == NEVER) return false;
  if (when == ON_LEAVE) return next_u32(fields, 1, &order->is_zero);
  return when > ON_LOST || next_signal(fields, 0, &order->signal);
}

static bool decode_orders(struct fields *fields, struct orders *orders) {
  uint64_t stops, rows;
  if (!next_number(fields, 1, MAX_NUMBER, &orders->child) || !next_number(fields, 0, MAX_SIGNAL, &stops)) return false;
  for (; stops > 0; stops--) {
    int stop;
    if (!next_signal(fields, 1, &stop)) return false;
    orders->stops |= UINT64_C(1) << (stop - 1);
  }
  if (!next_number(fields, 0, MAX_ORDERS, &rows)) return false;
  while (rows > 0 && next_row(fields, orders)) rows--;
  return rows == 0;
}

/* Strings of 1 to `most` bytes, one behind the other. */
static bool next_texts(struct fields *fields, uint32_t count, size_t most) {
  for (const char *text; count > 0; count--) {
    size_t length;
    if (!next_field(fields, &text, &length) || length == 0 || length > most) return false;
  }
  return true;
}

static bool decode_watch(struct fields *fields, struct operation *op) {
  if (!next_number(fields, 1, MAX_NUMBER, &op->id)) return false;
  if (!next_u32(fields, MAX_QUIET, &op->count)) return false;
  op->text = fields->at;
  if (!next_texts(fields, 1, MAX_DIRECTORY_BYTES) || !next_texts(fields, 1 + op->count, MAX_NAME_BYTES)) return false;
  op->length = (size_t)(fields->at - op->text);
  return true;
}

static bool decode_connections(struct fields *fields, struct operation *op) {
  if (!next_u32(fields, MAX_CONNECTIONS, &op->count)) return false;
  op->text = fields->at;
  if (!next_texts(fields, op->count, MAX_SOCKET_PATH_BYTES)) return false;
  op->length = (size_t)(fields->at - op->text);
  return true;
}

/* The name of each operation, and its fields, a letter each as in decode_field(). */
static const struct {
  char name[12], fields[5];
} forms[] = {
    [OP_ACK] = {"ack", "q"},
    [OP_MEMO] = {"memo", "m"},
    [OP_SPAWN] = {"spawn", "irxw"},
    [OP_KILL] = {"kill", "is"},
    [OP_STOP] = {"stop", "istT"},
    [OP_ORDERS] = {"orders", "O"},
    [OP_DUE] = {"due", "t"},
    [OP_LISTEN] = {"listen", "l"},
    [OP_EXEC] = {"exec", "iow"},
    [OP_END_HELPER] = {"end-helper", "i"},
    [OP_WATCH] = {"watch", "W"},
    [OP_CONNECTIONS] = {"connections", "C"},
    [OP_SLEEP] = {"sleep", "p"},
    [OP_TEXTS] = {"texts", "w"},
    [OP_NOTIFY] = {"notify", "bd"},
    [OP_WATCHDOG] = {"watchdog", "id"},
    [OP_EXIT] = {"exit", "c"},
};

static bool next_text(struct fields *fields, size_t most, struct operation *op) {
  return next_field(fields, &op->text, &op->length) && op->length <= most;
}

static bool decode_field(char field, struct fields *fields, struct operation *op) {
  switch (field) {
    case 'C':
      return decode_connections(fields, op);
    case 'O':
      return decode_orders(fields, &op->orders);
    case 'T':
      return next_time(fields, &op->last_at);
    case 'W':
      return decode_watch(fields, op);
    case 'b':
      return next_u32(fields, 1, &op->index);
    case 'c':
      return next_u32(fields, 255, &op->code);
    case 'd':
      return next_time(fields, &op->wait_ms);
    case 'i':
      return next_number(fields, 1, MAX_NUMBER, &op->id);
    case 'l':
      /* An empty path would bind an abstract socket of the kernel's choice: unix(7), "autobind". */
      return next_text(fields, MAX_SOCKET_PATH_BYTES, op) && op->length > 0;
    case 'm':
      return next_text(fields, MAX_MEMO_BYTES, op);
    case 'o':
      return next_u32(fields, MAX_OUTPUT_BYTES, &op->limit);
    case 'p':
      return next_text(fields, MAX_DIRECTORY_BYTES, op);
    case 'q':
      return next_number(fields, 0, MAX_NUMBER, &op->seq);
    case 'r':
      return next_u32(fields, TO_FIRST, &op->limit);
    case 's':
      return next_signal(fields, 1, &op->signal);
    case 't':
      return next_time(fields, &op->at);
    case 'w':
      return next_words(fields, op);
    default:
      return next_u32(fields, INT32_MAX, &op->index);
  }
}

/* Whether the number of words fits the kind. */
static bool has_right_words(const struct operation *op) {
  if (op->kind == OP_SPAWN) return (op->index == 0) != (op->count == 0);
  if (op->kind == OP_EXEC) return op->count > 0;
  return op->kind != OP_TEXTS || (op->count == TEXT_WORDS && op->length <= MAX_TEXTS_BYTES);
}

enum decoded next_operation(struct fields *fields, struct operation *op) {
  const char *name;
  size_t length;
  if (fields->at == fields->end) return DECODED_END;
  if (!next_field(fields, &name, &length)) return DECODED_BAD;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    if (strcmp(name, forms[i].name) != 0) continue;
    *op = (struct operation){.kind = (enum operation_kind)i};
    for (const char *field = forms[i].fields; *field; field++)
      if (!decode_field(*field, fields, op)) return DECODED_BAD;
    return has_right_words(op) ? DECODED_OPERATION : DECODED_BAD;
  }
  return DECODED_BAD;
}

bool begin_commit(struct fields *fields, const char *body, size_t length) {
  const char *name;
  size_t name_length;
  if (length == 0 || length > MAX_FRAME_BYTES || body[length - 1] != 0) return false;
  *fields = (struct fields){body, body + length};
  return next_field(fields, &name, &name_length) && strcmp(name, "commit") == 0;
}

bool is_valid_commit(const char *body, size_t length, struct bounds bounds) {
  struct fields fields;
  struct operation op;
  enum decoded decoded;
  if (!begin_commit(&fields, body, length)) return false;
  while ((decoded = next_operation(&fields, &op)) == DECODED_OPERATION) {
    if (op.kind == OP_ACK && op.seq > bounds.last_event) return false;
    if (op.kind == OP_SPAWN && op.index >= bounds.words) return false;
  }
  return decoded == DECODED_END;
}

uint32_t frame_length(const char header[FRAME_HEADER_BYTES]) {
  const unsigned char *byte = (const unsigned char *)header;
  return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 | (uint32_t)byte[3] << 24;
}
