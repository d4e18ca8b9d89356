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
  MAX_CONNECTIONS = 256,
  MAX_WHY_BYTES = 128,
  MAX_TEXTS_BYTES = 32768,
  TEXT_WORDS = 7,
  MAX_MAINS = 16,
  MAX_ORDERS = 16,
  HOST_ID_BYTES = 32,
  MAX_PRELUDE = 2,
  MAX_WORD_BYTES = 15,
};

/* Whom the signals to a child reach. */
enum signal_to { TO_TREE, TO_GROUP, TO_FIRST };

enum operation_kind {
  OP_ACK, OP_MEMO, OP_SPAWN, OP_KILL, OP_STOP, OP_ORDERS, OP_DUE, OP_LISTEN, OP_EXEC, OP_END_HELPER, OP_WATCH,
  OP_CONNECTIONS, OP_SLEEP, OP_TEXTS, OP_NOTIFY, OP_WATCHDOG, OP_EXIT,
};

/* What a row is for: when it is carried out, and what init does then. */
enum when {
  ON_EACH,        /* one of its signals has come: pass it on */
  ON_FIRST,       /* the first of its signals has come, and no stop request waits: pass it on */
  ON_UNHEARD,     /* no supervisor has acknowledged a stop request for so long: send the stop signal */
  ON_LOST,        /* the time has come, and no supervisor acts: send the stop signal */
  ON_MAINS,       /* the mains that the child lives for have ended: send the stop signal */
  ON_GRACE,       /* no supervisor has acknowledged a stop request for so long: KILL */
  ON_MAINS_GRACE, /* so long after ON_MAINS: KILL */
  ON_DEADLINE,    /* the time has come: KILL */
  ON_LEAVE,       /* the child has ended, and the time has come: leave */
  ON_END,         /* the child has ended in this way: close the texts, and leave */
  WHENS,
};

/* A row with a time. */
struct order {
  enum when when;
  int signal; /* unheard, lost: the stop signal; 0: the one that has come */
  int64_t at; /* milliseconds for unheard, grace and mains-grace, else a time */
  uint32_t is_zero; /* leave: with exit code 0, unless KILL has ended the child */
};

/* The row ON_MAINS. */
struct mains_order {
  uint32_t needed; /* how many have to end for good; 0: only a supervisor can tell, while one can be started */
  uint32_t counts_lost; /* a killed main counts while no supervisor can be started */
  uint32_t holds;  /* a stop request waits until all of them have ended */
  int signal;
  uint32_t linger_ms; /* from the last end to the signal */
  uint32_t count;    /* 0: there is no such row */
  const char *words; /* for each the host id and the path of its socket, in the frame */
};

/* The container exits with the command's code, or not at all. An end by signal n counts as SIGNAL_EXIT + n. */
enum { CODE_OF_COMMAND = 256, STAYS = 257, SIGNAL_EXIT = 256 };

/* A row ON_END. */
struct end_order {
  char prelude[MAX_PRELUDE + 1]; /* the events before the end */
  bool final;
  uint32_t patience_ms; /* from the first of those events to the start of a supervisor */
  uint32_t first, last, leaves_with;
  char signal[MAX_WORD_BYTES + 1]; /* that has ended it; empty: none */
  char reason[MAX_WORD_BYTES + 1], stop_reason[MAX_WORD_BYTES + 1];
};

/* What init does by itself: "Orders" in protocol.md. */
struct orders {
  uint64_t child;
  uint64_t stops;                /* the signals that are stop requests; bit n-1 stands for signal n */
  uint8_t each[MAX_SIGNAL + 1];  /* the number that a signal is passed on as; 0: it is not */
  uint8_t first[MAX_SIGNAL + 1];
  size_t count, end_count;
  struct order rows[MAX_ORDERS];
  struct mains_order mains;
  struct end_order ends[MAX_ORDERS];
};

/* One operation of a commit. A member means something only for the kinds it names. */
struct operation {
  enum operation_kind kind;
  uint64_t seq;          /* ack */
  uint64_t id;           /* exec, end-helper: of a helper; watch: a number; all others: of a child */
  uint32_t index, count; /* spawn; count: all with words; watch: quiet names; index:
                            notify, all? */
  uint32_t limit;        /* exec; spawn: enum signal_to */
  uint32_t code;         /* exit */
  const char *text;      /* memo, listen, sleep, and the first of `count` words; watch: all of its strings */
  size_t length;         /* the length of text */
  struct orders orders;
  int64_t wait_ms;     /* notify, watchdog; NEVER: none */
  int64_t at, last_at; /* due, stop; NEVER: never */
  int signal;          /* kill, stop */
};

/* What a commit may refer to: the last event sent, and how many words the supervisor was started with. */
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
/* The name of a row in frames. */
const char *name_of_row(enum when when);
enum decoded next_operation(struct fields *fields, struct operation *op);
/* The next field, or the next number in this range; false when it is not there. */
bool next_field(struct fields *fields, const char **text, size_t *length);
bool next_number(struct fields *fields, uint64_t min, uint64_t max, uint64_t *number);
/* The length of the body that a header announces. */
uint32_t frame_length(const char header[FRAME_HEADER_BYTES]);

enum event_kind {
  EV_SIGNAL, EV_ORDERED, EV_SPAWNED, EV_SPAWN_FAILED, EV_EXITED, EV_KILLED, EV_END_WRITTEN, EV_ROOTS_GONE, EV_TOLD, EV_HELPER_EXITED, EV_HELPER_KILLED, EV_HELPER_FAILED, EV_NOTIFIED, EV_SILENT,
};

struct event {
  uint64_t seq, id;
  int64_t at;
  int64_t wall;      /* end-written, ordered: nanoseconds since 1970 */
  int32_t pid;       /* sender of a signal, or the child */
  int32_t value;     /* signal that has come, errno, exit code, signal of death, number of dropped messages */
  int32_t count;     /* told: how many; ordered: the pid of the only receiver, 0: others */
  uint8_t as;        /* ordered: the signal that was sent; told: why */
  uint8_t row;       /* ordered: enum when */
  uint8_t kind;      /* enum event_kind */
  bool flag;         /* signal: from a terminal; ordered: it is a stop request that was passed on;
                        exited, killed: core dumped */
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
                    const char *why, int64_t oom_kills, const char *plain, const char *ended, int killed);
/* `watching` with its number, or `contact` with its path; `error` is an errno, or 0. */
size_t encode_answer(char *out, const char *name, const char *key, int error);
/* `names` are NUL-terminated, one behind the other. */
size_t encode_changed(char *out, const char *names, size_t length);
