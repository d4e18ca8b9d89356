/* Open texts: the records that the supervisor has left without their ends, and how init closes them. */
#include "init.h"

/* A line of the log fits a pipe at once: pipe(7), PIPE_BUF. */
enum { CLOSING_BYTES = 512, MAX_EVIDENCE_BYTES = 2560, MAX_SAID_BYTES = 4096 };
/* The place of the hour in a time with nanoseconds, and the length of what stands behind its milliseconds. */
enum { AT_HOUR = 11, BELOW_MS = 7 };

void set_texts(struct texts *texts, const struct operation *op) {
  char *word = texts->words;
  release_if_large(texts->words, texts->length);
  memcpy(texts->words, op->text, op->length);
  texts->length = op->length;
  for (int i = 0; i < TEXT_WORDS; i++, word += strlen(word) + 1) texts->text[i] = word;
}

bool are_texts_closable(const struct texts *texts) {
  static const size_t most[TEXT_WORDS] = {[TOMBSTONE] = TOMBSTONE_BYTES - CLOSING_BYTES, [EVIDENCE] = MAX_EVIDENCE_BYTES,
                                          [LOG_LINE] = CLOSING_BYTES, [ERROR_LINE] = CLOSING_BYTES};
  if (!texts->text[TOMBSTONE]) return false;
  for (int i = TOMBSTONE; i < TEXT_WORDS; i++)
    if (strlen(texts->text[i]) > most[i]) return false;
  return true;
}

/* A stop by the mains has no deadline. */
static int64_t deadline_of(const struct ending *ending) {
  bool has_deadline = ending->asked && ending->asked->row != ON_MAINS && ending->grace_ms != NEVER;
  return has_deadline ? ending->asked->at + ending->grace_ms : NEVER;
}

/* RFC 3339, UTC, with nanoseconds. In this calendar years begin in March, so that a leap day is the last of its year. */
static char *put_time(char *out, const struct event *event) {
  int64_t wall = event->wall > 0 ? event->wall : wall_at(event->at), seconds = wall / SECOND_NS;
  int64_t day = seconds / 86400 + 719468, second = seconds % 86400, of_era = day % 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  const int64_t parts[] = {day / 146097 * 400 + year + (month >= 10), month < 10 ? month + 3 : month - 9,
                           of_year - (153 * month + 2) / 5 + 1,       second / 3600,
                           second / 60 % 60,                          second % 60,
                           wall % SECOND_NS};
  for (int i = 0; i < 7; i++) {
    out = put_digits(out, (uint64_t)parts[i], i == 0 ? 4 : i == 6 ? 9 : 2);
    *out++ = "--T::.Z"[i];
  }
  *out = 0;
  return out;
}

/* `40 ms`, `4.2 s`, `23 s` */
static char *put_seconds(char *out, uint64_t ms) {
  if (ms < 1000) return stpcpy(put_digits(out, ms, 1), " ms");
  if (ms >= 10000) return stpcpy(put_digits(out, (ms + 500) / 1000, 1), " s");
  out = put_digits(out, (ms + 50) / 1000, 1);
  *out++ = '.';
  return stpcpy(put_digits(out, (ms + 50) / 100 % 10, 1), " s");
}

/* A text, and what it has before and behind each key, and around each word. */
struct writer {
  char *at;
  const char *before, *behind, *quote;
};

static void put(struct writer *writer, const char *text) { writer->at = stpcpy(writer->at, text); }

static void put_key(struct writer *writer, const char *key) {
  put(writer, writer->before);
  put(writer, key);
  put(writer, writer->behind);
}

static void put_word(struct writer *writer, const char *key, const char *word) {
  put_key(writer, key);
  put(writer, writer->quote);
  put(writer, word);
  put(writer, writer->quote);
}

static void put_number(struct writer *writer, const char *key, int64_t number) {
  put_key(writer, key);
  if (number < 0) put(writer, "-");
  writer->at = put_digits(writer->at, (uint64_t)(number < 0 ? -number : number), 1);
}

static void put_moment(struct writer *writer, const char *key, const struct event *event) {
  char time[40];
  put_time(time, event);
  put_word(writer, key, time);
}

/* Writes the entries that both the tombstone and the evidence end with. */
static void put_end(struct writer *writer, const struct ending *ending) {
  if (ending->asked) {
    put_word(writer, "StopReason", ending->end->stop_reason);
    put_moment(writer, "StopRequested", ending->asked);
  }
  if (!ending->died) return put_word(writer, "Unfinished", "ladder");
  put_word(writer, "Reason", ending->end->reason);
  put_number(writer, "ExitCode", ending->status);
  if (*ending->end->signal) put_word(writer, "Signal", ending->end->signal);
  put_moment(writer, "Died", ending->died);
}

void close_tombstone(char out[TOMBSTONE_BYTES], const struct texts *texts, const struct ending *ending) {
  struct writer writer = {stpcpy(out, texts->text[TOMBSTONE]), ",\n  \"", "\": ", "\""};
  put_word(&writer, "Phase", "dead");
  put_end(&writer, ending);
  if (deadline_of(ending) != NEVER) put_number(&writer, "Deadline", deadline_of(ending));
  put_number(&writer, "DiedMonotonic", ending->died->at);
  put_key(&writer, "Final");
  put(&writer, ending->end->final ? "true\n}" : "false\n}");
  memset(writer.at, ' ', (size_t)(out + TOMBSTONE_BYTES - writer.at));
  out[TOMBSTONE_BYTES - 1] = '\n';
}

/* The words of `src/core/format/evidence.ts`. */
static char *put_summary(char *out, const struct ending *ending) {
  int64_t deadline = deadline_of(ending);
  const char *killer = ending->killer;
  if (!ending->died) {
    out = stpcpy(stpcpy(stpcpy(out, "asked to stop ("), ending->end->stop_reason), "): the command had not ended; ");
    return stpcpy(out, "if nothing later is written it was killed from outside");
  }
  bool is_by_oom = strcmp(ending->end->reason, "oom") == 0;
  bool is_stop = ending->asked && !is_by_oom;
  if (killer && !is_stop) {
    out = stpcpy(stpcpy(stpcpy(out, is_by_oom ? "killed by the " : "killed by "), killer), ", ");
  } else if (is_stop) {
    out = put_seconds(stpcpy(out, "stopped in "), (uint64_t)(ending->died->at - ending->asked->at));
    out = stpcpy(stpcpy(stpcpy(out, " ("), ending->end->stop_reason), "): ");
  } else {
    out = stpcpy(out, "ended by itself, ");
  }
  if (*ending->end->signal) out = stpcpy(stpcpy(out, "ended by "), ending->end->signal);
  else out = put_digits(stpcpy(out, "exit code "), (uint64_t)ending->status, 1);
  if (ending->code != ending->status)
    out = put_digits(stpcpy(out, ", container's exit code "), (uint64_t)ending->code, 1);
  if (!is_stop) return out;
  out = stpcpy(stpcpy(out, killer ? ", killed by " : ", not forced"), killer ? killer : "");
  if (deadline == NEVER) return out;
  int64_t left = deadline - ending->died->at;
  out = put_seconds(stpcpy(out, ", "), (uint64_t)(left < 0 ? -left : left));
  return stpcpy(out, left < 0 ? " over its grace" : " of grace left");
}

static char *put_evidence(char *out, const struct texts *texts, const struct ending *ending) {
  out = put_summary(stpcpy(out, "{\"Summary\":\""), ending);
  struct writer writer = {stpcpy(out, "\""), ",\"", "\":", "\""};
  put_end(&writer, ending);
  if (ending->died) {
    put_number(&writer, "ContainerExitCode", ending->code);
    if (ending->killer) put_word(&writer, "ForcedBy", ending->killer);
    if (ending->asked) put_number(&writer, "StopMs", ending->died->at - ending->asked->at);
    if (deadline_of(ending) != NEVER) put_number(&writer, "GraceLeftMs", deadline_of(ending) - ending->died->at);
  }
  put(&writer, ",");
  put(&writer, texts->text[EVIDENCE]);
  put(&writer, "}");
  return writer.at;
}

void open_plain_texts(struct texts *texts, const struct plain_words *plain, const struct event *born, bool by_oom) {
  enum { EVIDENCE_BYTES = 1024 };
  char *words = texts->words, *line = words + EVIDENCE_BYTES;
  struct writer writer = {stpcpy(words, "\"Version\":1"), ",\"", "\":", "\""};
  put_word(&writer, "Name", plain->name);
  put_word(&writer, "Role", "main");
  if (plain->session) put_word(&writer, "Session", plain->session);
  if (plain->grace_ms != NEVER) put_number(&writer, "GraceMs", plain->grace_ms);
  put_number(&writer, "Restarts", 0);
  put_number(&writer, "OomKills", by_oom);
  put_moment(&writer, "Born", born);
  writer.at = line;
  put(&writer, plain->logs_text ? " error " : "{\"level\":\"error\",\"message\":\"dead\",\"member\":\"");
  put(&writer, plain->name);
  put(&writer, plain->logs_text ? ": dead" : "\"");
  texts->length = EVIDENCE_BYTES;
  texts->text[EVIDENCE_PATH] = "/dev/termination-log";
  texts->text[EVIDENCE_IS_MADE] = texts->text[LOG_LINE] = line + strlen(line);
  texts->text[EVIDENCE] = words;
  texts->text[ERROR_LINE] = line;
}

/* A command that has failed by itself: its exit code says all that init knows. */
static bool has_failed(const struct ending *ending) {
  return ending->died && !ending->asked && strcmp(ending->end->reason, "error") == 0;
}

bool leave_evidence(const struct texts *texts, const struct ending *ending) {
  char text[MAX_SAID_BYTES], *end = text;
  const char *path = texts->text[EVIDENCE_PATH];
  bool is_made = *texts->text[EVIDENCE_IS_MADE] == '1';
  if (!*path) return true;
  if (!has_failed(ending)) end = stpcpy(put_evidence(text, texts, ending), "\n");
  int flags = O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | (is_made ? O_CREAT : 0);
  if (!ending->died) flags |= O_APPEND;
  int fd = open(path, flags, 0644);
  if (fd == -1) return !is_made; /* there is no file for us: nothing is owed */
  bool is_left = leave_message(fd, text, (size_t)(end - text), !ending->died);
  close(fd);
  return is_left;
}

bool write_log(const struct texts *texts, const struct ending *ending) {
  char text[MAX_SAID_BYTES], time[40], summary[256];
  const char *line = texts->text[has_failed(ending) || ending->killer ? ERROR_LINE : LOG_LINE];
  bool is_json = *line == '{';
  struct writer writer = {text, " ", "=", ""};
  if (!*line) return true;
  put_summary(summary, ending);
  strcpy(put_time(time, ending->died) - BELOW_MS, "Z");
  if (is_json) writer = (struct writer){text, ",\"", "\":", "\""};
  else put(&writer, time + AT_HOUR);
  put(&writer, line);
  put_word(&writer, "reason", ending->end->reason);
  put_number(&writer, "exitCode", ending->status);
  put_number(&writer, "containerExitCode", ending->code);
  if (*ending->end->signal) put_word(&writer, "signal", ending->end->signal);
  put_word(&writer, "summary", summary);
  if (is_json) {
    put_word(&writer, "time", time);
    put_key(&writer, "evidence");
    writer.at = stpcpy(put_evidence(writer.at, texts, ending), "}");
  }
  put(&writer, "\n");
  struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
  if (poll(&ready, 1, 0) != 1) return false;
  return write(STDERR_FILENO, text, (size_t)(writer.at - text)) != -1 || errno != EAGAIN;
}
