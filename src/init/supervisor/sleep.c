/*
 * Sleep: a supervisor for which nothing is due ends, and init starts another when something happens. Until then init
 * watches the directory that the members share, and its connections to them.
 */
#include <sys/wait.h>

#include "init.h"
#include "oom.h"

/*
 * A command may need SPARE_BYTES of memory to stop. A supervisor that makes room gets LINES_MS to write its last log lines.
 * Init then waits for at most PART_MS until its memory is free, which mostly takes a few milliseconds. The next supervisor
 * mostly starts within START_MS, also with little CPU.
 */
enum { SPARE_BYTES = 64 << 20, LINES_MS = 10, PART_MS = 100, START_MS = 2000 };

/* Only the first cause is kept, and only of a wake: a supervisor that follows one that has died was not woken. */
static void fire(struct sleep *sleep, const char *what, const char *name) {
  if (sleep->has_fired) return;
  sleep->has_fired = true;
  sleep->fired_at = now_ms();
  if (!sleep->is_asleep) return;
  size_t used = strlen(strcpy(sleep->why, what));
  for (; *name && used < MAX_WHY_BYTES; name++) sleep->why[used++] = *name;
  sleep->why[used] = 0;
}

static void forget_changes(struct sleep *sleep) { sleep->has_fired = sleep->is_asked = false; }

static void fire_on_change(void *with, const char *name, bool is_quiet) {
  struct sleep *sleep = with;
  if (*name == '.') sleep->is_asked = true;
  if (*name == 0) fire(sleep, "the directory", "");
  else if (!is_quiet) fire(sleep, "file ", name);
}

void look_when_changed(struct init *init) {
  if (next_look(&init->directory) <= now_ms()) look_at_directory(&init->directory, fire_on_change, &init->sleep);
}

void take_contacts(struct init *init, const struct pollfd *polled) {
  if (take_polled_contacts(&init->contacts, polled)) fire(&init->sleep, "a handle", "");
}

void watch(struct init *init, const struct operation *op) {
  struct sleep *sleep = &init->sleep;
  struct directory *directory = &init->directory;
  const char *path = op->text, *names = path + strlen(path) + 1;
  size_t length = op->length - (size_t)(names - path);
  forget_changes(sleep);
  memcpy(directory->names, names, length);
  directory->names[length] = 0;
  directory->error = watch_directory(directory, path);
  directory->answers = op->id;
  if (directory->error) fire(sleep, "no watch", "");
  for (size_t i = 0; i < init->contacts.count; i++) renew_contact(&init->contacts.places[i]);
}

static void hide_asleep(struct sleep *sleep) {
  if (sleep->shown != -1) close(sleep->shown);
  sleep->shown = -1;
}

void show_asleep(struct sleep *sleep, const char *path) {
  struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
  hide_asleep(sleep);
  sleep->shown = move_high(open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fcntl(sleep->shown, F_OFD_SETLK, &whole) == -1) hide_asleep(sleep);
}

void go_to_sleep(struct init *init) {
  struct sleep *sleep = &init->sleep;
  struct directory *directory = &init->directory;
  if (sleep->is_parting) return;
  /* These looks take what has happened since this turn of the loop began. */
  bool may_have_changed = directory->has_changed || directory->inotify != -1;
  if (may_have_changed && directory->fd != -1) look_at_directory(directory, fire_on_change, sleep);
  if (!are_contacts_calm(&init->contacts)) fire(sleep, "a handle", "");
  bool may_sleep = init->queue.count == 0 && is_only_closer_dead() && !sleep->has_fired &&
                   init->children.check_at == NEVER && init->rung.walk_at == NEVER &&
                   count_free_helpers(&init->helpers) == MAX_HELPERS && init->supervisor.watch.due > now_ms();
  sleep->why[0] = 0;
  sleep->is_asleep = sleep->is_parting = may_sleep;
  if (may_sleep) {
    forget_left_contacts(&init->contacts);
    return kill_supervisor(&init->supervisor);
  }
  forget_changes(sleep);
  hide_asleep(sleep);
}

static bool is_command_alive(const struct init *init) {
  return init->children.child.id > 0 && !init->children.child.exited;
}

static void await_death(pid_t pid) {
  siginfo_t info = {.si_pid = 0};
  for (int ms = 0; ms < PART_MS; ms++) {
    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == -1 || info.si_pid != 0) return;
    poll(NULL, 0, 1);
  }
}

static void end_for_its_memory(struct init *init) {
  struct sleep *sleep = &init->sleep;
  struct supervisor *supervisor = &init->supervisor;
  if (!is_command_alive(init) || supervisor->pid == 0 || !supervisor->committed || sleep->is_parting) return;
  if (has_free_memory(SPARE_BYTES)) return;
  forget_changes(sleep);
  sleep->why[0] = 0;
  sleep->is_asleep = sleep->is_parting = sleep->makes_room = true;
  poll(NULL, 0, LINES_MS);
  kill_supervisor(supervisor);
  await_death(supervisor->pid);
}

void make_room(struct init *init, int64_t back_at) {
  int64_t *due = &init->supervisor.watch.due;
  end_for_its_memory(init);
  if (init->sleep.makes_room && back_at != NEVER && back_at + START_MS < *due) *due = back_at + START_MS;
}

void wake(struct init *init, const char *why) {
  struct sleep *sleep = &init->sleep;
  sleep->makes_room = false;
  fire(sleep, why, "");
  forget_changes(sleep);
  forget_directory(&init->directory);
  hide_asleep(sleep);
  sleep->is_asleep = false;
  init->supervisor.heard_at = init->supervisor.gone_at = now_ms();
  if (!sleep->is_parting) init->supervisor.start_at = now_ms();
}

/*
 * In a stop that a row `end` covers, a change usually means that a main has ended, and init reads its notice by itself.
 * Only a request for this member, and a main that ends without a notice, are urgent.
 */
static bool is_urgent(const struct init *init) { return init->sleep.is_asked || init->mains.lost > 0; }

int64_t wakes_at(const struct init *init) {
  int64_t due = init->supervisor.watch.due;
  if (!init->sleep.is_asleep || due == NEVER) return NEVER;
  return init->sleep.makes_room ? due - START_MS : due;
}

void wake_when_needed(struct init *init, int64_t until) {
  struct sleep *sleep = &init->sleep;
  if (!sleep->is_asleep) return;
  bool is_due = wakes_at(init) <= now_ms();
  if (sleep->makes_room && is_command_alive(init) && !is_due) return;
  bool is_prepared = is_ahead(until) && !is_urgent(init);
  if (init->queue.count > 0 && !is_prepared) wake(init, "event");
  else if (sleep->has_fired && !is_prepared) wake(init, "");
  else if (is_due) wake(init, "due");
}

bool has_gone_to_sleep(struct init *init) {
  struct sleep *sleep = &init->sleep;
  struct storage *storage = &init->storage;
  if (!sleep->is_parting) {
    forget_changes(sleep);
    forget_directory(&init->directory);
    sleep->why[0] = 0;
    return false;
  }
  sleep->is_parting = false;
  init->supervisor.ended[0] = 0;
  init->supervisor.killed = 0;
  forgive_failures(&init->supervisor);
  init->supervisor.start_at = sleep->is_asleep ? NEVER : now_ms();
  release_pages(storage->in, sizeof storage->in);
  release_pages(storage->out, sizeof storage->out);
  return true;
}
