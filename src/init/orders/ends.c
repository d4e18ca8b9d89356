/* The rows `end`: the ends of the command that need no decision, and how init records them. */
#include <stdio.h>
#include <sys/stat.h>

#include "init.h"

bool holds_at(const struct init *init, int64_t at) {
  return at > init->committed_at && at < init->rows_until && at < init->supervisor.watch.due;
}

/* A supervisor that has not committed yet has decided nothing. */
bool has_decided(const struct init *init) {
  const struct supervisor *supervisor = &init->supervisor;
  bool is_leaving = init->sleep.is_asleep || init->sleep.is_parting;
  return supervisor->pid > 0 && supervisor->committed && !is_leaving;
}

bool have_all_ended(const struct mains *mains) { return mains->final + mains->ended == mains->order.count; }

/* The row with this prelude and `how`. -1 stands for any end, and for any prelude that begins like this. */
static const struct end_order *find_end(const struct orders *orders, const char *prelude, int how) {
  for (size_t i = 0; i < orders->end_count; i++) {
    const struct end_order *end = &orders->ends[i];
    if (how < 0 && starts_with(end->prelude, prelude)) return end;
    if (strcmp(end->prelude, prelude) == 0 && how >= (int)end->first && how <= (int)end->last) return end;
  }
  return NULL;
}

/* As the supervisor does it: a new file replaces the old one. */
static bool replace_tombstone(char *path, const char *host_id, const char text[TOMBSTONE_BYTES]) {
  char temporary[MAX_NAME_BYTES + 19] = ".", *slash = strrchr(path, '/');
  if (!slash || strlen(slash + 1) > MAX_NAME_BYTES) return false;
  char *end = stpcpy(temporary + 1, slash + 1);
  *end++ = '.';
  memcpy(end, host_id, 12);
  memcpy(end + 12, ".tmp", 5);
  *slash = 0; /* the texts are closed once only */
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

/* The queue in the words of a row `end`. */
struct happened {
  char prelude[MAX_PRELUDE + 1];
  const struct event *asked; /* the first of the prelude; NULL: there is none */
  struct event *end;         /* NULL: the command lives */
};

static char letter_of(const struct event *event) {
  bool asked = event->value == SIGTERM && event->pid == 0;
  if (event->kind == EV_SIGNAL && asked && !event->flag) return 's';
  if (is_passed_on(event) && asked && event->flag) return 'f';
  return event->kind == EV_ORDERED && event->row == ON_MAINS ? 't' : 0;
}

static bool is_end(const struct event *event) {
  return event->kind == EV_EXITED || (event->kind == EV_KILLED && !event->flag);
}

/* False: an event is in no row. `told` is skipped: a row does not depend on which processes got a signal. */
static bool read_queue(const struct queue *queue, struct happened *happened) {
  size_t count = 0;
  memset(happened, 0, sizeof *happened);
  for (size_t i = 0; i < queue->count; i++) {
    struct event *event = &queue->events[i];
    if (event->kind == EV_TOLD) continue;
    if (happened->end) return false;
    if (is_end(event)) {
      if (i > 0 && event->at < event[-1].at) return false;
      happened->end = event;
      continue;
    }
    char letter = letter_of(event);
    if (!letter || count == MAX_PRELUDE) return false;
    if (count == 0) happened->asked = event;
    happened->prelude[count++] = letter;
  }
  return true;
}

/* As the operation `orders` has it: the exit code, or SIGNAL_EXIT and the signal; -1: the command lives. */
static int how_of(const struct event *end) {
  if (!end) return -1;
  return end->kind == EV_KILLED ? SIGNAL_EXIT + end->value : end->value;
}

/*
 * A change in the directory usually means that a main has ended. Its notice arrives within NOTICE_MS. If the platform
 * stops the pod, its stop request for this container arrives within REQUEST_MS: `core/pod/hold.ts`.
 */
enum { NOTICE_MS = 20, REQUEST_MS = 500 };

/* The rows are those of the child that runs now. */
static bool has_rows(const struct init *init) {
  return init->orders.end_count > 0 && init->orders.child == init->children.child.id;
}

/* The row that the queue is the prelude of, or the beginning of it; NULL: there is none. */
static const struct end_order *find_row_to_come(const struct init *init) {
  const struct queue *queue = &init->queue;
  struct happened happened;
  if (queue->count == 0 || !has_rows(init) || !holds_at(init, queue->events[0].at)) return NULL;
  return read_queue(queue, &happened) ? find_end(&init->orders, happened.prelude, how_of(happened.end)) : NULL;
}

bool is_prelude(const struct init *init) { return find_row_to_come(init) != NULL; }

int64_t prepared_until(const struct init *init) {
  const struct mains *mains = &init->mains;
  if (!init->sleep.is_asleep || init->sleep.makes_room || !has_rows(init)) return NEVER;
  const struct end_order *row = find_row_to_come(init);
  if (init->queue.count > 0) return row ? init->queue.events[0].at + row->patience_ms : NEVER;
  if (!init->sleep.has_fired || mains->order.count == 0) return NEVER;
  return init->sleep.fired_at + (mains->order.holds && have_all_ended(mains) ? REQUEST_MS : NOTICE_MS);
}

void end_by_row(struct init *init) {
  struct texts *texts = &init->texts;
  struct queue *queue = &init->queue;
  struct happened happened;
  const struct child *child = find_child(&init->children, init->orders.child);
  char tombstone[TOMBSTONE_BYTES];
  if (!child || !child->exited || !has_rows(init) || init->supervisor.abandoned > 0) return;
  /* The end and its prelude must be all that has happened, and no supervisor may have begun to act on them. */
  if (queue->count == 0 || (queue->sent > 0 && has_decided(init))) return;
  if (!read_queue(queue, &happened) || !happened.end || happened.end->id != child->id) return;
  struct event *event = happened.end, died = *event;
  if (!holds_at(init, queue->events[0].at) || !holds_at(init, event->at)) return;
  /* After a prelude init leaves nothing to a supervisor, which would place the stop after the end. */
  if (happened.asked && has_decided(init)) return;
  /* Without a prelude, a supervisor that knows of the end waits for `roots-gone`, and init must send that. */
  if (!happened.asked && queue->sent > 0) return;
  const struct end_order *end = find_end(&init->orders, happened.prelude, how_of(event));
  if (!end || !are_texts_closable(texts)) return;
  init->orders.end_count = 0;
  init->mains.is_ordered = false;
  died.wall = wall_at(event->at);
  if (happened.asked) {
    /* The last process that the command left behind has just ended. */
    died.at = now_ms();
    died.wall = wall_ns();
  }
  bool is_killed = event->kind == EV_KILLED;
  int status = is_killed ? 128 + event->value : event->value;
  bool leaves = end->leaves_with != STAYS && !has_decided(init);
  struct ending ending = {.end = end, .asked = happened.asked, .died = &died, .status = status};
  ending.code = end->leaves_with == CODE_OF_COMMAND ? status : (int)end->leaves_with;
  ending.grace_ms = grace_ms(&init->orders);
  close_tombstone(tombstone, texts, &ending);
  /* Peers hear first: the end is a fact, whatever becomes of the tombstone. */
  int how = end->final ? ENDS_FOR_GOOD : happened.asked ? ENDS_AS_ASKED : ENDS;
  announce_end(&init->liveness, init->self.host_id, how);
  if (!replace_tombstone(texts->words, init->self.host_id, tombstone)) return;
  if (leaves && leave_evidence(texts, &ending) && write_log(texts, &ending))
    leave(init, ending.code);
  if (happened.asked || is_killed) return;
  event->kind = EV_END_WRITTEN;
  event->wall = died.wall;
  init->children.child.id = 0;
}
