/* Sleep: see sleep.h. */
#define _GNU_SOURCE
#include "sleep.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "init.h"

enum {
  MAX_READS = 16,
  MAX_INOTIFY_BYTES = 4096,
  DIRECTORY_CHANGES = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF |
                      IN_MOVE_SELF | IN_ONLYDIR,
};

/* The first is what is told. */
static void fire(struct sleep *sleep, const char *what, const char *name) {
  if (sleep->has_fired) return;
  sleep->has_fired = true;
  size_t used = strlen(strcpy(sleep->why, what));
  for (; *name && used < MAX_WHY_BYTES; name++) sleep->why[used++] = *name;
  sleep->why[used] = 0;
}

static void forget_watched(struct sleep *sleep) {
  if (sleep->inotify != -1) close(sleep->inotify);
  for (size_t i = 0; i < sleep->count; i++) close(sleep->peers[i]);
  sleep->inotify = -1;
  sleep->count = 0;
  sleep->has_fired = false;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/*
 * Tombstones of all but the quiet ones, and the files of the own name: its handle, and requests to it. Each new life
 * of a quiet one makes its handle anew, and that is told.
 */
static bool is_of_interest(const char *names, const char *file) {
  size_t own = strlen(names);
  if (ends_with(file, ".tmp")) return false;
  if (file[0] == '.')
    return ends_with(file, ".sock") || (strncmp(file + 1, names, own) == 0 && file[1 + own] == '.');
  if (file[strspn(file, "-abcdefghijklmnopqrstuvwxyz0123456789")] != 0) return false;
  for (const char *quiet = names + own + 1; *quiet; quiet += strlen(quiet) + 1)
    if (strcmp(file, quiet) == 0) return false;
  return true;
}

/* Whether there may be more to read. */
static bool read_changes(struct sleep *sleep) {
  alignas(struct inotify_event) char bytes[MAX_INOTIFY_BYTES];
  ssize_t length = read(sleep->inotify, bytes, sizeof bytes);
  if (length <= 0) return false;
  for (ssize_t at = 0; at < length;) {
    const struct inotify_event *event = (const struct inotify_event *)(const void *)(bytes + at);
    at += (ssize_t)(sizeof *event + event->len);
    /* Without a name it is of the directory itself, or more than the kernel keeps. */
    if (event->len == 0) fire(sleep, "the directory", "");
    else if (is_of_interest(sleep->names, event->name)) fire(sleep, "file ", event->name);
  }
  return true;
}

int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct stat st;
  strcpy(address.sun_path, path);
  if (lstat(path, &st) == -1 || !S_ISSOCK(st.st_mode)) return -1;
  int fd = move_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd == -1 || connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

void watch(struct sleep *sleep, const struct operation *op) {
  const char *directory = op->text, *names = directory + strlen(directory) + 1, *socket = names;
  forget_watched(sleep);
  sleep->why[0] = 0;
  for (uint32_t i = 0; i <= op->count; i++) socket += strlen(socket) + 1;
  memcpy(sleep->names, names, (size_t)(socket - names));
  sleep->names[socket - names] = 0;
  sleep->inotify = move_high(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (inotify_add_watch(sleep->inotify, directory, DIRECTORY_CHANGES) == -1) fire(sleep, "no watch", "");
  for (uint32_t i = 0; i < op->index; i++, socket += strlen(socket) + 1) {
    int fd = connect_to(socket);
    if (fd == -1) fire(sleep, "no connection to ", socket);
    else sleep->peers[sleep->count++] = fd;
  }
}

size_t poll_watched(const struct sleep *sleep, struct pollfd *polled, size_t at) {
  if (sleep->has_fired) return at;
  polled[at++] = (struct pollfd){.fd = sleep->inotify, .events = POLLIN};
  /* What a peer says is as good a reason to look at it as its end. */
  for (size_t i = 0; i < sleep->count; i++) polled[at++] = (struct pollfd){.fd = sleep->peers[i], .events = POLLIN};
  return at;
}

void take_polled_watched(struct sleep *sleep, const struct pollfd *polled, size_t at, size_t end) {
  if (at < end && polled[at].revents) read_changes(sleep);
  for (size_t i = at + 1; i < end; i++)
    if (polled[i].revents) fire(sleep, "a handle", "");
}

/* What has happened by now and no turn has taken yet. */
static void look_again(struct init *init) {
  struct sleep *sleep = &init->sleep;
  int reads = 0;
  read_signals(init);
  while (sleep->inotify != -1 && reads < MAX_READS && read_changes(sleep)) reads++;
  if (reads == MAX_READS) fire(sleep, "the directory", "");
  for (size_t i = 0; i < sleep->count; i++) {
    struct pollfd polled = {.fd = sleep->peers[i], .events = POLLIN};
    if (poll(&polled, 1, 0) != 0) fire(sleep, "a handle", "");
  }
}

void go_to_sleep(struct init *init) {
  struct sleep *sleep = &init->sleep;
  if (sleep->is_parting) return;
  look_again(init);
  bool is_quiet = init->queue.count == 0 && !init->has_to_reap && !sleep->has_fired &&
                  init->children.check_at == NEVER && init->strays.sweep_at == NEVER &&
                  count_free_helpers(&init->helpers) == MAX_HELPERS && init->supervisor.watch.due > now_ms();
  sleep->why[0] = 0;
  if (!is_quiet) forget_watched(sleep);
  else kill_supervisor(&init->supervisor);
  sleep->is_asleep = sleep->is_parting = is_quiet;
}

void wake(struct init *init, const char *why) {
  struct sleep *sleep = &init->sleep;
  fire(sleep, why, "");
  forget_watched(sleep);
  sleep->is_asleep = false;
  if (!sleep->is_parting) init->supervisor.start_at = now_ms();
}

void wake_when_needed(struct init *init) {
  struct sleep *sleep = &init->sleep;
  if (!sleep->is_asleep) return;
  if (init->queue.count > 0) wake(init, "event");
  else if (sleep->has_fired) wake(init, "");
  else if (init->supervisor.watch.due <= now_ms()) wake(init, "due");
}

bool has_gone_to_sleep(struct init *init) {
  struct sleep *sleep = &init->sleep;
  struct storage *storage = &init->storage;
  if (!sleep->is_parting) {
    forget_watched(sleep);
    sleep->why[0] = 0;
    return false;
  }
  sleep->is_parting = false;
  init->supervisor.start_at = sleep->is_asleep ? NEVER : now_ms();
  release_pages(storage->in, sizeof storage->in);
  release_pages(storage->out, sizeof storage->out);
  release_pages((char *)storage->outputs, sizeof storage->outputs);
  return true;
}
