/*
 * Frames between sexton-init and its supervisor, as protocol.md defines them: a decoder for `commit` and an encoder for
 * init's own frames. Nothing here allocates, blocks or keeps state, so that the fuzz target runs exactly this code.
 */
#pragma once

#include "system.h"

enum {
  FRAME_HEADER_BYTES = 4,
  MAX_FRAME_BYTES = 1048576,
  MAX_MEMO_BYTES = 65536,
  MAX_SOCKET_PATH_BYTES = 107,
  MAX_SIGNAL = 64,
  MAX_OUTPUT_BYTES = 4096,
  MAX_NAME_BYTES = 63,
  MAX_DIRECTORY_BYTES = 4095,
  MAX_QUIET = 128,
  MAX_WATCHED = 128,
  MAX_WHY_BYTES = 128,
  MAX_TEXTS_BYTES = 32768,
  TEXT_WORDS = 7,
  MAX_MAINS = 16,
};

enum operation_kind {
  OP_ACK, OP_MEMO, OP_SPAWN, OP_KILL, OP_STOP, OP_FORWARD, OP_FORWARD_ONCE, OP_FALLBACK, OP_KILL_AT, OP_LEAVE_AT, OP_DUE,
  OP_LISTEN, OP_EXEC, OP_END_HELPER, OP_SIGNAL_TO, OP_PARENT_DEATH, OP_TELL_REAPED, OP_WATCH, OP_CONNECT,
  OP_HANG_UP, OP_SLEEP, OP_ASLEEP_AT, OP_TEXTS, OP_PREPARED_ENDS, OP_END_WITH, OP_NOTIFY, OP_WATCHDOG, OP_EXIT,
};

/* One operation of a commit. A member means something only for the kinds it names. */
struct operation {
  enum operation_kind kind;
  uint64_t seq;          /* ack */
  uint64_t id;           /* exec, end-helper: of a helper; watch, connect, hang-up: a number; all others: of a child */
  uint32_t index, count; /* spawn; count: all with words; watch: sockets, quiet names; index: end-with, killed count;
                            notify, all?; signal-to: group, or first process */
  uint32_t limit;        /* exec; end-with: how many mains have to be gone */
  uint32_t code, holds;  /* exit; end-with */
  const char *text;      /* memo, listen, connect, asleep-at, and the first of `count` words; watch: all of its strings */
  size_t length;         /* the length of text */
  uint8_t table[MAX_SIGNAL + 1]; /* forward, forward-once: table[from] is to, 0 is "not forwarded" */
  uint64_t stops;                /* fallback: bit n-1 stands for signal n */
  int64_t wait_ms, grace_ms;     /* fallback; wait_ms: prepared-ends, end-with, notify, watchdog, too; NEVER: none */
  int64_t at, last_at;           /* fallback, kill-at, leave-at, due, stop; NEVER: never */
  int signal;                    /* kill, stop, fallback, parent-death, prepared-ends, end-with */
};

/* What a commit may refer to: the last event sent, and how many words init's own argv has. */
struct bounds {
  uint64_t last_event;
  uint32_t words;
};

struct fields {
  const char *at, *end;
};

enum decoded { DECODED_OPERATION, DECODED_END, DECODED_BAD };

/* Whether the frame is a commit with every operation in range. Only then may it be applied. */
bool is_valid_commit(const char *body, size_t length, struct bounds bounds);
/* Reads the name of the frame; false when it is not a commit. */
bool begin_commit(struct fields *fields, const char *body, size_t length);
enum decoded next_operation(struct fields *fields, struct operation *op);
/* The next field, or the next number in this range; false when it is not there. */
bool next_field(struct fields *fields, const char **text, size_t *length);
bool next_number(struct fields *fields, uint64_t min, uint64_t max, uint64_t *number);
/* The length of the body that a header announces. */
uint32_t frame_length(const char header[FRAME_HEADER_BYTES]);

enum event_kind {
  EV_SIGNAL, EV_FORWARDED, EV_SPAWNED, EV_SPAWN_FAILED, EV_OVERDUE, EV_EXITED, EV_KILLED, EV_END_WRITTEN, EV_STOP_SENT,
  EV_ROOTS_GONE, EV_TOLD, EV_HELPER_EXITED, EV_HELPER_KILLED, EV_HELPER_FAILED, EV_NOTIFIED, EV_SILENT,
};

struct event {
  uint64_t seq, id;
  int64_t at;
  int64_t wall;      /* end-written, stop-sent: nanoseconds since 1970 */
  int32_t pid;       /* sender of a signal, or the child */
  int32_t value;     /* signal, errno, exit code, signal of death, number of dropped messages */
  int32_t count;     /* told: how many; forwarded, stop-sent: the pid of the only receiver, 0: others */
  uint8_t as;        /* forwarded: the number it was sent as; told: why */
  uint8_t kind;      /* enum event_kind */
  bool flag;         /* signal: from a terminal; forwarded: by `once`; exited, killed: core dumped;
                        stop-sent: with the mains */
  char name[MAX_PROGRAM_BYTES], of[MAX_PROGRAM_BYTES]; /* told: of the first process; of the one that it came by */
};

/* No frame but hello is longer. */
enum { MAX_EVENT_BYTES = 192 + MAX_OUTPUT_BYTES, MAX_HELLO_BYTES = 192 + MAX_MEMO_BYTES + MAX_WHY_BYTES };

/*
 * Each returns the length of the frame with its header. `out` holds MAX_EVENT_BYTES, or MAX_HELLO_BYTES for `hello` and
 * news. `output` is that of a helper, or a notification, without NUL. `why` is empty where no supervisor slept,
 * `plain`, of which 64 bytes are sent, where none is needed, and `ended` where none has died.
 */
size_t encode_event(char *out, const struct event *event, const char *output, size_t length);
size_t encode_hello(char *out, const char *host_id, int64_t started_at, bool pid1, const char *memo, size_t memo_length,
                    bool has_memo, const char *why, int64_t oom_kills, const char *plain, const char *ended, int killed);
/* `watching` or `contact`; `error` is an errno, or 0. */
size_t encode_answer(char *out, const char *name, uint64_t number, int error);
/* `names` are NUL-terminated, one behind the other. */
size_t encode_changed(char *out, const char *names, size_t length);
