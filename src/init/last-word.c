/* The last word: see reflex.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

enum { TOMBSTONE_BYTES = 8192, MAX_SAID_BYTES = 4096 };
/* In the place of the container's exit code: it is the command's; there is none, as more is to be done. */
enum { CODE_OF_COMMAND = 256, STAYS = 257 };
/* What stands in a text for what is not known before: nothing else in it has these characters. */
enum { PLACE_OF_TIME = 1, PLACE_OF_CLOCK, PLACE_OF_CODE, PLACE_OF_MOMENT, PLACE_OF_HOUR };
/* Of a time with nanoseconds: what is behind the date, and behind the milliseconds. */
enum { AT_HOUR = 11, AT_MICROSECONDS = 23 };

/* What is to be done at an end; the texts are as they came. */
struct end {
  bool final, makes_evidence; /* makes: the file, where there is none */
  int leaves_with;
  const char *evidence_path, *tombstone, *log, *evidence;
};

void set_last_word(struct reflexes *reflexes, const struct operation *op) {
  reflexes->until = NEVER;
  reflexes->word_child = op->count > 0 ? op->id : 0;
  release_if_large(reflexes->words, reflexes->length);
  memcpy(reflexes->words, op->text, op->length);
  reflexes->length = op->length;
}

/* RFC 3339 with nanoseconds, UTC. By a calendar whose years begin in March: a leap day is the last of its year. */
static char *put_time(char *out, const struct timespec *time) {
  int64_t day = time->tv_sec / 86400 + 719468, second = time->tv_sec % 86400, of_era = day % 146097;
  int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
  const int64_t parts[] = {day / 146097 * 400 + year + (month >= 10), month < 10 ? month + 3 : month - 9,
                           of_year - (153 * month + 2) / 5 + 1,       second / 3600,
                           second / 60 % 60,                          second % 60,
                           time->tv_nsec};
  for (int i = 0; i < 7; i++) {
    out = put_digits(out, (uint64_t)parts[i], i == 0 ? 4 : i == 6 ? 9 : 2);
    *out++ = "--T::.Z"[i];
  }
  return out;
}

/* With milliseconds; from the time of day on, if only that is wanted. */
static char *put_moment(char *out, const struct timespec *time, int from) {
  char whole[40];
  put_time(whole, time);
  whole[AT_MICROSECONDS] = 'Z';
  return (char *)mempcpy(out, whole + from, (size_t)(AT_MICROSECONDS + 1 - from));
}

static char *put(char *out, char place, const struct event *event, const struct timespec *wall) {
  switch (place) {
    case PLACE_OF_TIME:
      return put_time(out, wall);
    case PLACE_OF_CLOCK:
      return put_digits(out, (uint64_t)event->at, 1);
    case PLACE_OF_CODE:
      return put_digits(out, (uint64_t)event->value, 1);
    case PLACE_OF_MOMENT:
      return put_moment(out, wall, 0);
    case PLACE_OF_HOUR:
      return put_moment(out, wall, AT_HOUR);
    default:
      *out = place;
      return out + 1;
  }
}

/* The text with its places filled; returns its length, or -1 when it is too long. */
static ssize_t fill(char *out, size_t size, const char *text, const struct event *event) {
  struct timespec wall = {event->wall / SECOND_NS, event->wall % SECOND_NS};
  size_t used = 0;
  for (; *text; text++) {
    char place[40];
    size_t length = (size_t)(put(place, *text, event, &wall) - place);
    if (length > size - used) return -1;
    memcpy(out + used, place, length);
    used += length;
  }
  return (ssize_t)used;
}

/* As the supervisor does it: a new file takes the place of the old one. */
static bool replace_tombstone(char *path, const char *host_id, const char text[TOMBSTONE_BYTES]) {
  char temporary[MAX_NAME_BYTES + 19] = ".", *slash = strrchr(path, '/');
  if (!slash || strlen(slash + 1) > MAX_NAME_BYTES) return false;
  char *end = stpcpy(temporary + 1, slash + 1);
  *end++ = '.';
  memcpy(end, host_id, 12);
  memcpy(end + 12, ".tmp", 5);
  *slash = 0; /* it is said once only */
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

/* The first of the covered ends with this exit code. */
static bool find_end(const struct reflexes *reflexes, int code, struct end *end) {
  struct fields fields = {reflexes->words, reflexes->words + reflexes->length};
  uint64_t from, to, final, container, makes;
  const char *path;
  size_t length;
  if (!next_field(&fields, &path, &length) || !next_field(&fields, &end->evidence_path, &length)) return false;
  if (!next_number(&fields, 0, 1, &makes)) return false;
  while (next_number(&fields, 0, 255, &from) && next_number(&fields, from, 255, &to) &&
         next_number(&fields, 0, 1, &final) && next_number(&fields, 0, STAYS, &container) &&
         next_field(&fields, &end->tombstone, &length) && next_field(&fields, &end->log, &length) &&
         next_field(&fields, &end->evidence, &length)) {
    end->makes_evidence = makes;
    end->final = final;
    end->leaves_with = container == CODE_OF_COMMAND ? code : (int)container;
    if ((uint64_t)code >= from && (uint64_t)code <= to) return true;
  }
  return false;
}

/* Into a file that is empty. False: the supervisor has to look at what is there. */
static bool leave_evidence(const struct end *end, const struct event *event) {
  char text[MAX_SAID_BYTES];
  struct stat st;
  ssize_t length = fill(text, sizeof text, end->evidence, event);
  if (length < 0) return false;
  if (length == 0 || !*end->evidence_path) return true;
  int fd = open(end->evidence_path, O_RDWR | O_NONBLOCK | O_CLOEXEC | (end->makes_evidence ? O_CREAT : O_NOFOLLOW), 0644);
  if (fd == -1) return !end->makes_evidence; /* it is not there, or not for us: nothing is owed */
  bool left = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0 && write(fd, text, (size_t)length) == length;
  close(fd);
  return left;
}

/* False: the supervisor has to wait for the reader. */
static bool write_log(const struct end *end, const struct event *event) {
  char text[MAX_SAID_BYTES];
  ssize_t length = fill(text, sizeof text, end->log, event);
  if (length <= 0) return length == 0;
  /* A pipe that polls as writable takes them whole: pipe(7), PIPE_BUF. */
  struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
  return poll(&ready, 1, 0) == 1 && (write(STDERR_FILENO, text, (size_t)length) != -1 || errno != EAGAIN);
}

void say_last_word(struct init *init) {
  struct reflexes *reflexes = &init->reflexes;
  const struct child *child = find_child(&init->children, reflexes->word_child);
  struct event *event = &init->queue.events[0];
  char tombstone[TOMBSTONE_BYTES], word[WORD_BYTES];
  struct end end;
  if (!child || !child->exited || init->children.count > 1 || init->supervisor.abandoned > 0) return;
  /* Nothing has happened but this, and it is not told yet. */
  if (init->queue.count != 1 || init->queue.sent > 0 || event->kind != EV_EXITED || event->id != child->id) return;
  if (!holds_at(init, event->at) || !find_end(reflexes, event->value, &end)) return;
  if (kill(-child->pid, 0) == 0 || errno != ESRCH || count_strays(init) > 0) return;
  reflexes->word_child = reflexes->mains_child = 0;
  event->wall = wall_at(event->at);
  ssize_t length = fill(tombstone, sizeof tombstone - 1, end.tombstone, event);
  if (length < 0) return;
  memset(tombstone + length, ' ', sizeof tombstone - 1 - (size_t)length);
  tombstone[sizeof tombstone - 1] = '\n';
  /* Before the disk has its turn: it is so, whoever writes it down. */
  make_word(word, init->self.host_id, end.final);
  tell_peers(&init->liveness, word, WORD_BYTES);
  if (!replace_tombstone(reflexes->words, init->self.host_id, tombstone)) return;
  bool leaves = end.leaves_with != STAYS && init->supervisor.pid == 0;
  if (leaves && leave_evidence(&end, event) && write_log(&end, event)) leave(init, end.leaves_with);
  event->kind = EV_WORDED;
  take_gone_child(&init->children);
}
