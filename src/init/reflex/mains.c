/* Reflexes: see reflex.h. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

enum { HOST_ID_BYTES = 32 };
static const char word_form[] = "dead 00000000000000000000000000000000 0\n";
enum { AT_HOST_ID = 5, AT_FINAL = WORD_BYTES - 2 };

void make_word(char word[WORD_BYTES], const char *host_id, bool final) {
  memcpy(word, word_form, WORD_BYTES);
  memcpy(word + AT_HOST_ID, host_id, HOST_ID_BYTES);
  word[AT_FINAL] = final ? '1' : '0';
}

int64_t wall_at(int64_t at) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return wall_ns() - (now.tv_sec * SECOND_NS + now.tv_nsec - at * (SECOND_NS / 1000));
}

bool holds_at(const struct init *init, int64_t at) {
  return at > init->reflexes.committed_at && at < init->reflexes.until && at < init->supervisor.watch.due;
}

static void hang_up(struct watched_main *main) {
  if (main->fd != -1) close(main->fd);
  main->fd = -1;
}

void set_end_with(struct reflexes *reflexes, const struct operation *op) {
  struct fields fields = {op->text, op->text + op->length};
  const char *host_id, *path;
  size_t length;
  reflexes->until = NEVER;
  reflexes->mains_child = op->limit > 0 ? op->id : 0;
  if (op->count == 0) return; /* the connections are kept for a time without a supervisor */
  while (reflexes->count > 0) hang_up(&reflexes->mains[--reflexes->count]);
  reflexes->signal = op->signal;
  reflexes->ends_with_lost = op->index;
  reflexes->holds = op->holds;
  reflexes->needed = op->limit;
  reflexes->said = reflexes->ended = reflexes->gone = 0;
  while (reflexes->count < MAX_MAINS && next_field(&fields, &host_id, &length) && length == HOST_ID_BYTES &&
         next_field(&fields, &path, &length) && length <= MAX_SOCKET_PATH_BYTES) {
    struct watched_main *main = &reflexes->mains[reflexes->count++];
    memcpy(main->host_id, host_id, HOST_ID_BYTES);
    main->fd = connect_to(path);
    if (main->fd == -1) reflexes->gone++;
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
    char last[WORD_BYTES], expected[WORD_BYTES], heard[WORD_BYTES] = "";
    if (polled[i].fd != main->fd || polled[i].revents == 0) continue;
    make_word(last, main->host_id, true);
    make_word(expected, main->host_id, false);
    ssize_t n = recv(main->fd, heard, WORD_BYTES, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) continue; /* a new connection: the event was that of an old one */
    if (memcmp(heard, last, WORD_BYTES) == 0) reflexes->said++;
    else if (memcmp(heard, expected, WORD_BYTES) == 0) reflexes->ended++;
    else reflexes->gone++;
    hang_up(main);
  }
}

/* Whether the only news is a stop request that is held, and all mains have said that they have ended. */
static bool is_hold_over(const struct init *init) {
  const struct reflexes *reflexes = &init->reflexes;
  bool is_held = reflexes->holds && init->queue.count == 1 && init->queue.events[0].kind == EV_SIGNAL;
  return is_held && prepared_until(init) > now_ms() && reflexes->said + reflexes->ended == reflexes->count;
}

/* Whether as many mains as are needed are gone for good. */
static bool have_mains_finished(const struct init *init) {
  const struct reflexes *reflexes = &init->reflexes;
  size_t needed = reflexes->needed > 0 ? reflexes->needed : reflexes->count;
  /* In a stop a main that was killed does not come back. */
  bool counts_lost = init->alone && (reflexes->ends_with_lost || is_stopping(init));
  if (reflexes->said + (counts_lost ? reflexes->gone + reflexes->ended : 0) < needed) return false;
  return init->alone || (reflexes->mains_child != 0 && init->queue.count == 0 && holds_at(init, now_ms()));
}

void end_with_mains(struct init *init) {
  struct reflexes *reflexes = &init->reflexes;
  hear_mains(reflexes, init->storage.polled + reflexes->polled_at);
  const struct child *child = find_last_child(&init->children);
  if (!child || child->exited || reflexes->count == 0 || init->grace.stopped == child->id) return;
  if (init->forwarding.fallback.wait_ms == NEVER) return; /* the supervisor has begun to stop it */
  if (!is_hold_over(init) && !have_mains_finished(init)) return;
  reflexes->mains_child = 0;
  send_stop(init, child, reflexes->signal, true);
}
