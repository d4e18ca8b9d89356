/* Prepared ends: what the supervisor has left behind for the end of the command, and how init carries it out. */
#include <stdio.h>
#include <sys/stat.h>

#include "init.h"

/* MAX_MOMENTS: the longest prelude and the end itself. */
enum { TOMBSTONE_BYTES = 8192, MAX_SAID_BYTES = 4096, MAX_MOMENTS = 3 };
/* The container exits with the command's code, or not at all. An end by signal n counts as SIGNAL_EXIT + n. */
enum { CODE_OF_COMMAND = 256, STAYS = 257, SIGNAL_EXIT = 256 };
/* The placeholders in a text for values that are known only at the end: `src/core/lifecycle/prepared/placeholders.ts`. */
enum { PLACE_OF_TIME = 1, PLACE_OF_NUMBER, PLACE_OF_CODE, PLACE_OF_MOMENT, PLACE_OF_HOUR };
/* Offsets in a time with nanoseconds: behind the date, and behind the milliseconds. */
enum { AT_HOUR = 11, AT_MICROSECONDS = 23 };

/* What to do at an end. The texts are those of the operation. */
struct end {
  bool final, makes_evidence; /* makes: creates the file */
  int leaves_with;
  const char *evidence_path, *tombstone, *log, *evidence;
};

/* The values for the places. */
struct course {
  const struct event *moments; /* the prelude and the end */
  int code;
};

bool holds_at(const struct init *init, int64_t at) {
  return at > init->reflexes.committed_at && at < init->reflexes.until && at < init->supervisor.watch.due;
}

bool have_all_ended(const struct reflexes *reflexes) { return reflexes->final + reflexes->ended == reflexes->count; }

void make_notice(char notice[NOTICE_BYTES], const char *host_id, int how) {
  char *end = mempcpy(stpcpy(notice, "dead "), host_id, HOST_ID_BYTES);
  memcpy(end, (char[]){' ', (char)how, '\n'}, 3);
}

void set_prepared_ends(struct reflexes *reflexes, const struct operation *op) {
  reflexes->until = NEVER;
  reflexes->end_child = op->count > 0 ? op->id : 0;
  reflexes->stop = op->signal;
  reflexes->patience_ms = op->wait_ms;
  release_if_large(reflexes->words, reflexes->length);
  memcpy(reflexes->words, op->text, op->length);
  reflexes->length = op->length;
}

/*
 * RFC 3339, UTC, with nanoseconds; a moment has milliseconds, and an hour no date. In this calendar years begin in
 * March, so that a leap day is the last of its year.
 */
static char *put_time(char *out, const struct event *event, unsigned char place) {
  int64_t wall = event->wall > 0 ? event->wall : wall_at(event->at), seconds = wall / SECOND_NS;
  int64_t day = seconds / 86400 + 719468, second = seconds % 86400, of_era = day % 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  const int64_t parts[] = {day / 146097 * 400 + year + (month >= 10), month < 10 ? month + 3 : month - 9,
                           of_year - (153 * month + 2) / 5 + 1,       second / 3600,
                           second / 60 % 60,                          second % 60,
                           wall % SECOND_NS};
  char whole[40], *from = place == PLACE_OF_HOUR ? whole + AT_HOUR : whole, *end = whole;
  for (int i = 0; i < 7; i++) {
    end = put_digits(end, (uint64_t)parts[i], i == 0 ? 4 : i == 6 ? 9 : 2);
    *end++ = "--T::.Z"[i];
  }
  if (place != PLACE_OF_TIME) end = (char *)mempcpy(whole + AT_MICROSECONDS, "Z", 1);
  return (char *)mempcpy(out, from, (size_t)(end - from));
}

/* `40 ms`, `4.2 s`, `23 s` */
static char *put_seconds(char *out, uint64_t ms) {
  if (ms < 1000) return stpcpy(put_digits(out, ms, 1), " ms");
  if (ms >= 10000) return stpcpy(put_digits(out, (ms + 500) / 1000, 1), " s");
  out = put_digits(out, (ms + 50) / 1000, 1);
  *out++ = '.';
  return stpcpy(put_digits(out, (ms + 50) / 100 % 10, 1), " s");
}

/* A form, the moments that are added and subtracted, and a number, up to the next such character. */
static char *put_span(char *out, const struct course *course, const char **text) {
  const char *at = *text;
  char form = *at++;
  int64_t ms = *at == '-' ? 0 : course->moments[*at - '0'].at;
  at++;
  if (*at != '-') ms -= course->moments[*at - '0'].at;
  int64_t constant = 0;
  for (at++; *at != PLACE_OF_NUMBER; at++) constant = constant * 10 + (*at - '0');
  *text = at;
  return form == 's' ? put_seconds(out, (uint64_t)(ms + constant)) : put_digits(out, (uint64_t)(ms + constant), 1);
}

/* Writes the character or place at `*text`, and leaves `*text` at its last character. */
static char *put(char *out, const struct course *course, const char **text) {
  unsigned char place = (unsigned char)**text; /* text may have UTF-8 */
  if (place == PLACE_OF_CODE) return put_digits(out, (uint64_t)course->code, 1);
  if (place > PLACE_OF_HOUR) {
    *out = (char)place;
    return out + 1;
  }
  ++*text;
  if (place == PLACE_OF_NUMBER) return put_span(out, course, text);
  return put_time(out, &course->moments[**text - '0'], place);
}

/* Fills the places of the text and returns its length, or -1 when it is too long. */
static ssize_t fill(char *out, size_t size, const char *text, const struct course *course) {
  size_t used = 0;
  for (; *text; text++) {
    char place[40];
    size_t length = (size_t)(put(place, course, &text) - place);
    if (length > size - used) return -1;
    memcpy(out + used, place, length);
    used += length;
  }
  return (ssize_t)used;
}

/* As the supervisor does it: a new file replaces the old one. */
static bool replace_tombstone(char *path, const char *host_id, const char text[TOMBSTONE_BYTES]) {
  char temporary[MAX_NAME_BYTES + 19] = ".", *slash = strrchr(path, '/');
  if (!slash || strlen(slash + 1) > MAX_NAME_BYTES) return false;
  char *end = stpcpy(temporary + 1, slash + 1);
  *end++ = '.';
  memcpy(end, host_id, 12);
  memcpy(end + 12, ".tmp", 5);
  *slash = 0; /* a prepared end is carried out once only */
  int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  mode_t mask = umask(022);
  int fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  umask(mask);
  bool replaced = fd != -1 && write(fd, text, TOMBSTONE_BYTES) == TOMBSTONE_BYTES &&
                renameat(directory, temporary, directory, slash + 1) == 0;
  if (fd != -1 && !replaced) unlinkat(directory, temporary, 0);
  if (fd != -1) close(fd);
  if (directory != -1) close(directory);
  return replaced;
}

/* Whether every place in the text is whole, and its moments are those of this prelude and the end. */
static bool are_places_whole(const char *text, size_t moments) {
  char last = (char)('0' + moments);
  for (; *text; text++) {
    if ((unsigned char)*text > PLACE_OF_HOUR || *text == PLACE_OF_CODE) continue;
    if (*text != PLACE_OF_NUMBER) {
      if (*++text < '0' || *text > last) return false;
      continue;
    }
    if (*++text != 'n' && *text != 's') return false;
    for (int operand = 0; operand < 2; operand++)
      if (*++text != '-' && (*text < '0' || *text > last)) return false;
    size_t digits = strspn(++text, "0123456789");
    if (digits == 0 || digits > 15 || text[digits] != PLACE_OF_NUMBER) return false;
    text += digits;
  }
  return true;
}

/* The first prepared end with this prelude and `how`. -1 stands for any end, and for any that the prelude begins. */
static bool find_end(const struct reflexes *reflexes, const char *prelude, int how, struct end *end) {
  struct fields fields = {reflexes->words, reflexes->words + reflexes->length};
  uint64_t from, to, final, container, makes;
  const char *path, *before;
  size_t length;
  if (!next_field(&fields, &path, &length) || !next_field(&fields, &end->evidence_path, &length)) return false;
  if (!next_number(&fields, 0, 1, &makes)) return false;
  while (next_field(&fields, &before, &length) && next_number(&fields, 0, SIGNAL_EXIT + MAX_SIGNAL, &from) &&
         next_number(&fields, from, SIGNAL_EXIT + MAX_SIGNAL, &to) && next_number(&fields, 0, 1, &final) &&
         next_number(&fields, 0, STAYS, &container) && next_field(&fields, &end->tombstone, &length) &&
         next_field(&fields, &end->log, &length) && next_field(&fields, &end->evidence, &length)) {
    if (how < 0 ? strncmp(before, prelude, strlen(prelude)) != 0 : strcmp(before, prelude) != 0) continue;
    if (how >= 0 && ((uint64_t)how < from || (uint64_t)how > to)) continue;
    size_t moments = strlen(before);
    if (moments >= MAX_MOMENTS || !are_places_whole(end->tombstone, moments)) return false;
    end->makes_evidence = makes;
    end->final = final;
    end->leaves_with = container == CODE_OF_COMMAND ? how : (int)container;
    return are_places_whole(end->log, moments) && are_places_whole(end->evidence, moments);
  }
  return false;
}

/* Writes a letter for each of these events; false: one of them belongs to no prelude. */
static bool read_prelude(const struct reflexes *reflexes, const struct queue *queue, size_t count, char *prelude) {
  if (count >= MAX_MOMENTS) return false;
  for (size_t i = 0; i < count; i++) {
    const struct event *event = &queue->events[i];
    bool asked = event->value == reflexes->stop && event->pid == 0;
    if (event->kind == EV_SIGNAL && asked && !event->flag) prelude[i] = 's';
    else if (is_passed_on(event) && asked && event->flag && event->count > 0) prelude[i] = 'f';
    else if (event->kind == EV_ORDERED && event->row == ON_MAINS && event->count > 0) prelude[i] = 't';
    else return false;
  }
  prelude[count] = 0;
  return true;
}

/*
 * What has changed is mostly the end of a main, and its notice comes a moment later. If it was asked to stop, the stop
 * request of the pod follows, as the platform sends one to each container: `core/pod/hold.ts`.
 */
enum { NOTICE_MS = 20, REQUEST_MS = 500 };

int64_t prepared_until(struct init *init) {
  const struct reflexes *reflexes = &init->reflexes;
  const struct queue *queue = &init->queue;
  char prelude[MAX_MOMENTS];
  struct end end;
  if (!init->sleep.is_asleep || !find_child(&init->children, reflexes->end_child)) return NEVER;
  if (queue->count == 0) {
    if (!init->sleep.has_fired || reflexes->count == 0) return NEVER;
    return init->sleep.fired_at + (reflexes->holds && have_all_ended(reflexes) ? REQUEST_MS : NOTICE_MS);
  }
  if (!holds_at(init, queue->events[0].at) || !read_prelude(reflexes, queue, queue->count, prelude)) return NEVER;
  if (!find_end(reflexes, prelude, -1, &end)) return NEVER;
  return queue->events[0].at + reflexes->patience_ms;
}

/* Writes into an empty file. False: the supervisor has to look at the present content. */
static bool leave_evidence(const struct end *end, const struct course *course) {
  char text[MAX_SAID_BYTES];
  struct stat st;
  ssize_t length = fill(text, sizeof text, end->evidence, course);
  if (length < 0) return false;
  if (!*end->evidence_path) return true;
  int flags = O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | (end->makes_evidence ? O_CREAT : 0);
  int fd = open(end->evidence_path, flags, 0644);
  if (fd == -1) return !end->makes_evidence; /* there is no file for us: nothing is owed */
  bool is_empty = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
  bool left = is_empty && write(fd, text, (size_t)length) == length;
  close(fd);
  return left;
}

/* False: the reader is stalled, and the supervisor has to wait for it. */
static bool write_log(const struct end *end, const struct course *course) {
  char text[MAX_SAID_BYTES];
  ssize_t length = fill(text, sizeof text, end->log, course);
  if (length <= 0) return length == 0;
  /* A pipe that polls as writable takes this whole: pipe(7), PIPE_BUF. */
  struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
  return poll(&ready, 1, 0) == 1 && (write(STDERR_FILENO, text, (size_t)length) != -1 || errno != EAGAIN);
}

void end_as_prepared(struct init *init) {
  struct reflexes *reflexes = &init->reflexes;
  struct queue *queue = &init->queue;
  const struct child *child = find_child(&init->children, reflexes->end_child);
  char tombstone[TOMBSTONE_BYTES], notice[NOTICE_BYTES], prelude[MAX_MOMENTS];
  struct end end;
  if (!child || !child->exited || init->supervisor.abandoned > 0) return;
  /* The end and its prelude must be all that has happened, and unsent: a supervisor that sleeps reads no more. */
  bool is_asleep = init->sleep.is_asleep;
  if (queue->count == 0 || (queue->sent > 0 && !is_asleep)) return;
  if (!read_prelude(reflexes, queue, queue->count - 1, prelude)) return;
  struct event *event = &queue->events[queue->count - 1];
  bool is_killed = event->kind == EV_KILLED && !event->flag;
  if ((event->kind != EV_EXITED && !is_killed) || event->id != child->id) return;
  if (!holds_at(init, queue->events[0].at) || !holds_at(init, event->at)) return;
  if (*prelude && event->at < event[-1].at) return;
  /* After a prelude init leaves nothing to a supervisor, which would place the stop after the end. */
  if (*prelude && (!is_asleep || event->at > queue->events[0].at + reflexes->patience_ms)) return;
  if (!find_end(reflexes, prelude, is_killed ? SIGNAL_EXIT + event->value : event->value, &end)) return;
  if (!are_roots_gone(init)) return;
  reflexes->end_child = reflexes->mains_child = 0;
  event->wall = wall_at(event->at);
  struct course course = {queue->events, is_killed ? 128 + event->value : event->value};
  ssize_t length = fill(tombstone, sizeof tombstone - 1, end.tombstone, &course);
  if (length < 0) return;
  memset(tombstone + length, ' ', sizeof tombstone - 1 - (size_t)length);
  tombstone[sizeof tombstone - 1] = '\n';
  /* Peers hear first: the end is a fact, whatever becomes of the tombstone. */
  make_notice(notice, init->self.host_id, end.final ? ENDS_FOR_GOOD : *prelude ? ENDS_AS_ASKED : ENDS);
  notify_peers(&init->liveness, notice, NOTICE_BYTES);
  if (!replace_tombstone(reflexes->words, init->self.host_id, tombstone)) return;
  bool leaves = end.leaves_with != STAYS && (init->supervisor.pid == 0 || is_asleep);
  if (leaves && leave_evidence(&end, &course) && write_log(&end, &course)) leave(init, end.leaves_with);
  if (*prelude || is_killed) return;
  event->kind = EV_END_WRITTEN;
  init->children.child.id = 0;
}
