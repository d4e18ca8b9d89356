/* Reflexes: see reflex.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

enum { TOMBSTONE_BYTES = 8192, HOST_ID_BYTES = 32 };
/* In the place of the container's exit code: it is the command's; there is none, as more is to be done. */
enum { CODE_OF_COMMAND = 256, STAYS = 257 };
static const int64_t SECOND_NS = 1000000000;
/* What stands in the text of a last word for what is not known before: no tombstone has these characters. */
enum { PLACE_OF_TIME = 1, PLACE_OF_CLOCK = 2, PLACE_OF_CODE = 3 };
/* A word on a liveness socket: `dead`, the host id, `1` when no other life will follow, a line end. */
static const char word_form[] = "dead 00000000000000000000000000000000 0\n";
enum { WORD_BYTES = sizeof word_form - 1, AT_HOST_ID = 5, AT_FINAL = WORD_BYTES - 2 };

static void make_word(char word[WORD_BYTES], const char *host_id, bool final) {
  memcpy(word, word_form, WORD_BYTES);
  memcpy(word + AT_HOST_ID, host_id, HOST_ID_BYTES);
  word[AT_FINAL] = final ? '1' : '0';
}

void set_last_word(struct reflexes *reflexes, const struct operation *op) {
  reflexes->until = NEVER;
  reflexes->word_child = op->count > 0 ? op->id : 0;
  release_if_large(reflexes->words, reflexes->length);
  memcpy(reflexes->words, op->text, op->length);
  reflexes->length = op->length;
}

/* A number of at least this width. */
static char *put_digits(char *out, int64_t number, int width) {
  char digits[20];
  int count = 0;
  for (; number > 0 || count < width; number /= 10) digits[count++] = (char)('0' + number % 10);
  while (count > 0) *out++ = digits[--count];
  return out;
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
    out = put_digits(out, parts[i], i == 0 ? 4 : i == 6 ? 9 : 2);
    *out++ = "--T::.Z"[i];
  }
  return out;
}

/* The text with its places filled, padded as every tombstone is; false when it is too long. */
static bool fill(char out[TOMBSTONE_BYTES], const char *text, const struct event *event, const struct timespec *wall) {
  char *at = out, *end = out + TOMBSTONE_BYTES - 1;
  for (; *text; text++) {
    char place[40], *to = place;
    if (*text == PLACE_OF_TIME) to = put_time(to, wall);
    else if (*text == PLACE_OF_CLOCK) to = put_digits(to, event->at, 1);
    else if (*text == PLACE_OF_CODE) to = put_digits(to, event->value, 1);
    else *to++ = *text;
    if (to - place > end - at) return false;
    memcpy(at, place, (size_t)(to - place));
    at += to - place;
  }
  memset(at, ' ', (size_t)(end - at));
  *end = '\n';
  return true;
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
static bool find_end(const struct reflexes *reflexes, int code, bool *final, int *leaves_with, const char **text) {
  struct fields fields = {reflexes->words + strlen(reflexes->words) + 1, reflexes->words + reflexes->length};
  uint64_t from, to, is_final, container;
  size_t length;
  while (next_number(&fields, 0, 255, &from) && next_number(&fields, from, 255, &to) &&
         next_number(&fields, 0, 1, &is_final) && next_number(&fields, 0, STAYS, &container) &&
         next_field(&fields, text, &length)) {
    *final = is_final;
    *leaves_with = container == CODE_OF_COMMAND ? code : (int)container;
    if ((uint64_t)code >= from && (uint64_t)code <= to) return true;
  }
  return false;
}

static int64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * SECOND_NS + time.tv_nsec;
}

/* What the wall clock showed at that moment of CLOCK_MONOTONIC, in milliseconds. */
static int64_t wall_at(int64_t at) {
  return clock_ns(CLOCK_REALTIME) - (clock_ns(CLOCK_MONOTONIC) - at * (SECOND_NS / 1000));
}

static bool holds_at(const struct init *init, int64_t at) {
  return at > init->reflexes.committed_at && at < init->reflexes.until && at < init->supervisor.watch.due;
}

void say_last_word(struct init *init) {
  struct reflexes *reflexes = &init->reflexes;
  const struct child *child = find_child(&init->children, reflexes->word_child);
  struct event *event = &init->queue.events[0];
  struct timespec wall;
  const char *text;
  char tombstone[TOMBSTONE_BYTES], word[WORD_BYTES];
  bool final;
  int code;
  if (!child || !child->exited || init->children.count > 1 || init->supervisor.abandoned > 0) return;
  /* Nothing has happened but this, and it is not told yet. */
  if (init->queue.count != 1 || init->queue.sent > 0 || event->kind != EV_EXITED || event->id != child->id) return;
  if (!holds_at(init, event->at) || !find_end(reflexes, event->value, &final, &code, &text)) return;
  if (kill(-child->pid, 0) == 0 || errno != ESRCH || count_strays(init) > 0) return;
  reflexes->word_child = reflexes->mains_child = 0;
  event->wall = wall_at(event->at);
  wall = (struct timespec){event->wall / SECOND_NS, event->wall % SECOND_NS};
  if (!fill(tombstone, text, event, &wall)) return;
  if (!replace_tombstone(reflexes->words, init->self.host_id, tombstone)) return;
  make_word(word, init->self.host_id, final);
  tell_peers(&init->liveness, word, WORD_BYTES);
  if (code != STAYS && init->supervisor.pid == 0) leave(init, code);
  event->kind = EV_WORDED;
  take_gone_child(&init->children);
}

static void hang_up(struct watched_main *main) {
  if (main->fd != -1) close(main->fd);
  main->fd = -1;
}

void set_end_with(struct reflexes *reflexes, const struct operation *op) {
  struct fields fields = {op->text, op->text + op->length};
  const char *host_id, *path;
  size_t length;
  while (reflexes->count > 0) hang_up(&reflexes->mains[--reflexes->count]);
  reflexes->until = NEVER;
  reflexes->mains_child = op->count > 0 ? op->id : 0;
  reflexes->signal = op->signal;
  reflexes->needed = op->limit;
  reflexes->said = 0;
  while (reflexes->count < MAX_MAINS && next_field(&fields, &host_id, &length) && length == HOST_ID_BYTES &&
         next_field(&fields, &path, &length) && length <= MAX_SOCKET_PATH_BYTES) {
    struct watched_main *main = &reflexes->mains[reflexes->count++];
    memcpy(main->host_id, host_id, HOST_ID_BYTES);
    main->fd = connect_to(path);
  }
}

size_t poll_mains(struct reflexes *reflexes, struct pollfd *polled, size_t at) {
  reflexes->polled_at = at;
  for (size_t i = 0; i < reflexes->count; i++)
    polled[at++] = (struct pollfd){.fd = reflexes->mains[i].fd, .events = POLLIN};
  return at;
}

/* The first bytes are its word, or nothing is: who talks on gets no work out of init. */
static void hear_mains(struct reflexes *reflexes, const struct pollfd *polled) {
  for (size_t i = 0; i < reflexes->count; i++) {
    struct watched_main *main = &reflexes->mains[i];
    char expected[WORD_BYTES], heard[WORD_BYTES];
    if (polled[i].fd != main->fd || polled[i].revents == 0) continue;
    make_word(expected, main->host_id, true);
    ssize_t n = recv(main->fd, heard, WORD_BYTES, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) continue; /* a new connection: the event was that of an old one */
    if (n == WORD_BYTES && memcmp(heard, expected, WORD_BYTES) == 0) reflexes->said++;
    hang_up(main);
  }
}

void end_with_mains(struct init *init) {
  struct reflexes *reflexes = &init->reflexes;
  hear_mains(reflexes, init->storage.polled + reflexes->polled_at);
  const struct child *child = find_child(&init->children, reflexes->mains_child);
  if (!child || child->exited || reflexes->said < reflexes->needed || init->queue.count > 0) return;
  if (!holds_at(init, now_ms())) return;
  reflexes->mains_child = reflexes->word_child = 0;
  signal_child(&init->children, child, reflexes->signal);
  /* The exact time: never before that of the word, which is the beginning of its millisecond. */
  struct event event = {.kind = EV_MAINS_ENDED, .id = child->id, .value = reflexes->signal};
  event.wall = clock_ns(CLOCK_REALTIME);
  push(&init->queue, event);
}
