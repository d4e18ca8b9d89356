/* Prepared ends: the ends of the command that need no decision, and how init carries them out. */
#include <stdio.h>
#include <sys/stat.h>

#include "init.h"

/* The container exits with the command's code, or not at all. An end by signal n counts as SIGNAL_EXIT + n. */
enum { CODE_OF_COMMAND = 256, STAYS = 257, SIGNAL_EXIT = 256 };

bool holds_at(const struct init *init, int64_t at) {
  return at > init->reflexes.committed_at && at < init->reflexes.until && at < init->supervisor.watch.due;
}

/* A supervisor that has not committed yet has decided nothing. */
bool has_decided(const struct init *init) {
  const struct supervisor *supervisor = &init->supervisor;
  bool is_leaving = init->sleep.is_asleep || init->sleep.is_parting;
  return supervisor->pid > 0 && supervisor->committed && !is_leaving;
}

bool have_all_ended(const struct reflexes *reflexes) { return reflexes->final + reflexes->ended == reflexes->count; }

void make_notice(char notice[NOTICE_BYTES], const char *host_id, int how) {
  char *end = mempcpy(stpcpy(notice, "dead "), host_id, HOST_ID_BYTES);
  memcpy(end, (char[]){' ', (char)how, '\n'}, 3);
}

static bool next_word(struct fields *fields, char *word, size_t size) {
  const char *text;
  size_t length;
  if (!next_field(fields, &text, &length) || length >= size) return false;
  memcpy(word, text, length + 1);
  return true;
}

static bool next_end(struct fields *fields, struct prepared_end *end) {
  uint64_t first, last, final, code;
  if (!next_word(fields, end->prelude, sizeof end->prelude)) return false;
  if (!next_number(fields, 0, SIGNAL_EXIT + MAX_SIGNAL, &first)) return false;
  if (!next_number(fields, first, SIGNAL_EXIT + MAX_SIGNAL, &last)) return false;
  if (!next_number(fields, 0, 1, &final) || !next_number(fields, 0, STAYS, &code)) return false;
  end->first = (int)first;
  end->last = (int)last;
  end->final = final;
  end->leaves_with = (int)code;
  return next_word(fields, end->signal, sizeof end->signal) && next_word(fields, end->reason, sizeof end->reason) &&
         next_word(fields, end->stop_reason, sizeof end->stop_reason);
}

void set_prepared_ends(struct reflexes *reflexes, const struct operation *op) {
  struct fields fields = {op->text, op->text + op->length};
  reflexes->until = NEVER;
  reflexes->stop = op->signal;
  reflexes->patience_ms = op->wait_ms;
  reflexes->end_count = 0;
  while (reflexes->end_count < MAX_ENDS && next_end(&fields, &reflexes->ends[reflexes->end_count]))
    reflexes->end_count++;
  reflexes->end_child = reflexes->end_count > 0 ? op->id : 0;
}

/* The prepared end with this prelude and `how`. -1 stands for any end, and for any that the prelude begins. */
static const struct prepared_end *find_end(const struct reflexes *reflexes, const char *prelude, int how) {
  for (size_t i = 0; i < reflexes->end_count; i++) {
    const struct prepared_end *end = &reflexes->ends[i];
    if (how < 0 && starts_with(end->prelude, prelude)) return end;
    if (strcmp(end->prelude, prelude) == 0 && how >= end->first && how <= end->last) return end;
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

/* Writes a letter for each of these events; false: one of them belongs to no prelude. */
static bool read_prelude(const struct reflexes *reflexes, const struct queue *queue, size_t count, char *prelude) {
  if (count > MAX_PRELUDE) return false;
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

/* The prepared ends are those of the child that runs now. */
static bool has_prepared_ends(const struct init *init) {
  uint64_t id = init->reflexes.end_child;
  return id != 0 && id == init->children.child.id;
}

bool is_prelude(const struct init *init) {
  const struct reflexes *reflexes = &init->reflexes;
  const struct queue *queue = &init->queue;
  char prelude[MAX_PRELUDE + 1];
  if (queue->count == 0 || !has_prepared_ends(init)) return false;
  return holds_at(init, queue->events[0].at) && read_prelude(reflexes, queue, queue->count, prelude) &&
         find_end(reflexes, prelude, -1);
}

int64_t prepared_until(const struct init *init) {
  const struct reflexes *reflexes = &init->reflexes;
  if (!init->sleep.is_asleep || !has_prepared_ends(init)) return NEVER;
  if (init->queue.count > 0) return is_prelude(init) ? init->queue.events[0].at + reflexes->patience_ms : NEVER;
  if (!init->sleep.has_fired || reflexes->count == 0) return NEVER;
  return init->sleep.fired_at + (reflexes->holds && have_all_ended(reflexes) ? REQUEST_MS : NOTICE_MS);
}

void end_as_prepared(struct init *init) {
  struct reflexes *reflexes = &init->reflexes;
  struct queue *queue = &init->queue;
  const struct child *child = find_child(&init->children, reflexes->end_child);
  char tombstone[TOMBSTONE_BYTES], notice[NOTICE_BYTES], prelude[MAX_PRELUDE + 1];
  if (!child || !child->exited || init->supervisor.abandoned > 0) return;
  /* The end and its prelude must be all that has happened, and no supervisor may have begun to act on them. */
  if (queue->count == 0 || (queue->sent > 0 && has_decided(init))) return;
  if (!read_prelude(reflexes, queue, queue->count - 1, prelude)) return;
  struct event *event = &queue->events[queue->count - 1];
  bool is_killed = event->kind == EV_KILLED && !event->flag;
  if ((event->kind != EV_EXITED && !is_killed) || event->id != child->id) return;
  if (!holds_at(init, queue->events[0].at) || !holds_at(init, event->at)) return;
  if (*prelude && event->at < event[-1].at) return;
  /* After a prelude init leaves nothing to a supervisor, which would place the stop after the end. */
  if (*prelude && has_decided(init)) return;
  const struct prepared_end *end = find_end(reflexes, prelude, is_killed ? SIGNAL_EXIT + event->value : event->value);
  if (!end || !are_texts_closable(&reflexes->texts) || !are_roots_gone(init)) return;
  reflexes->end_child = reflexes->mains_child = 0;
  event->wall = wall_at(event->at);
  int status = is_killed ? 128 + event->value : event->value;
  bool leaves = end->leaves_with != STAYS && !has_decided(init);
  struct ending ending = {.end = end, .asked = *prelude ? queue->events : NULL, .died = event, .status = status};
  ending.code = end->leaves_with == CODE_OF_COMMAND ? status : end->leaves_with;
  ending.grace_ms = grace_ms(&init->orders);
  close_tombstone(tombstone, &reflexes->texts, &ending);
  /* Peers hear first: the end is a fact, whatever becomes of the tombstone. */
  make_notice(notice, init->self.host_id, end->final ? ENDS_FOR_GOOD : *prelude ? ENDS_AS_ASKED : ENDS);
  notify_peers(&init->liveness, notice, NOTICE_BYTES);
  if (!replace_tombstone(reflexes->texts.words, init->self.host_id, tombstone)) return;
  if (leaves && leave_evidence(&reflexes->texts, &ending) && write_log(&reflexes->texts, &ending))
    leave(init, ending.code);
  if (*prelude || is_killed) return;
  event->kind = EV_END_WRITTEN;
  init->children.child.id = 0;
}
