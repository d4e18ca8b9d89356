/*
 * The directory that the members share. The kernel signals a change by SIGCHLD, and a look at the directory shows which
 * files have changed. See "What changes in the directory" in protocol.md.
 */
#include <stdalign.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "supervisor.h"

enum {
  CHANGES = DN_CREATE | DN_MODIFY | DN_RENAME | DN_DELETE,
  INOTIFY_CHANGES = IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR,
  MAX_INOTIFY_BYTES = 4096,
  MAX_READS = 16,
  MAX_SEEN = 4096,    /* files in one look */
  LOOK_MS = 5,        /* the cost of a look without its files */
  SEEN_IN_A_MS = 4,   /* a look at this many files costs a millisecond */
  MAX_AHEAD_MS = 200, /* looks that cost so much may follow on each other at once */
};

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

static uint64_t hash_of(const char *name) {
  uint64_t hash = 1;
  for (; *name; name++) hash = mix(hash, (unsigned char)*name);
  return hash;
}

static uint64_t stamp_of(const struct stat *st) {
  uint64_t changed = (uint64_t)st->st_ctim.tv_sec * 1000000000 + (uint64_t)st->st_ctim.tv_nsec;
  return mix(mix(mix(1, st->st_ino), (uint64_t)st->st_size), changed) | 1;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Tombstones, sockets, and files that begin with the own name, such as stop requests. */
static bool is_of_interest(const char *own, const char *file) {
  size_t length = strlen(own);
  if (ends_with(file, ".tmp")) return false;
  if (file[0] != '.') return file[strspn(file, "-abcdefghijklmnopqrstuvwxyz0123456789")] == 0;
  return ends_with(file, ".sock") || (strncmp(file + 1, own, length) == 0 && file[1 + length] == '.');
}

/* Only tombstones can be quiet: a new life of a quiet member replaces its socket, and that is reported. */
static bool is_quiet(const char *names, const char *file) {
  for (const char *quiet = names + strlen(names) + 1; *quiet; quiet += strlen(quiet) + 1)
    if (strcmp(file, quiet) == 0) return true;
  return false;
}

struct look {
  struct directory *directory;
  change_visitor *report; /* NULL: this look finds no news */
  void *with;
  size_t seen;
};

static void note(struct look *look, const char *name, bool quiet) {
  struct directory *directory = look->directory;
  size_t size = strlen(name) + 1;
  if (!look->report) return;
  look->report(look->with, name, quiet);
  directory->has_all = directory->has_all || *name == 0 || directory->news_length + size > MAX_NEWS_BYTES;
  if (directory->has_all) return;
  memcpy(directory->news + directory->news_length, name, size);
  directory->news_length += size;
}

/* False: there are too many files. */
static bool look_at_file(void *with, const char *file) {
  struct look *look = with;
  struct directory *directory = look->directory;
  struct stat st;
  if (++look->seen > MAX_SEEN) return false;
  if (!is_of_interest(directory->names, file)) return true;
  if (fstatat(directory->fd, file, &st, AT_SYMLINK_NOFOLLOW) == -1) return true;
  uint64_t name = hash_of(file), stamp = stamp_of(&st);
  size_t at = 0;
  while (at < directory->count && directory->known[at].name != name) at++;
  if (at == MAX_KNOWN) return false;
  struct known *known = &directory->known[at];
  if (at == directory->count) *known = (struct known){.name = name, .is_quiet = is_quiet(directory->names, file)};
  directory->count += at == directory->count;
  if (known->stamp != stamp) note(look, file, known->is_quiet);
  known->stamp = stamp;
  known->look = directory->look;
  return true;
}

/* Asks the kernel to signal the next change. Without DN_MULTISHOT later changes cost nothing until the next call. */
static bool ask_for_next(const struct directory *directory) {
  alignas(struct inotify_event) char bytes[MAX_INOTIFY_BYTES];
  if (directory->inotify == -1) return fcntl(directory->fd, F_NOTIFY, CHANGES) == 0;
  for (int reads = 0; reads < MAX_READS && read(directory->inotify, bytes, sizeof bytes) > 0; reads++) continue;
  return true;
}

void look_at_directory(struct directory *directory, change_visitor *report, void *with) {
  struct look look = {.directory = directory, .report = report, .with = with};
  /* This comes before the look, so that a change during it causes another one. */
  directory->has_changed = !ask_for_next(directory);
  directory->look++;
  lseek(directory->fd, 0, SEEK_SET);
  bool is_more = !visit_entries(directory->fd, look_at_file, &look);
  for (size_t i = directory->count; i-- > 0;) {
    struct known *known = &directory->known[i];
    if (known->look == directory->look) continue;
    is_more = is_more || !known->is_quiet;
    *known = directory->known[--directory->count];
  }
  if (is_more) note(&look, "", false);
  if (directory->paid_until < now_ms()) directory->paid_until = now_ms();
  directory->paid_until += LOOK_MS + (int64_t)look.seen / SEEN_IN_A_MS;
}

int64_t next_look(const struct directory *directory) {
  return directory->has_changed && directory->fd != -1 ? directory->paid_until - MAX_AHEAD_MS : NEVER;
}

void forget_directory(struct directory *directory) {
  if (directory->fd != -1) close(directory->fd);
  if (directory->inotify != -1) close(directory->inotify);
  directory->fd = directory->inotify = -1;
  directory->has_changed = directory->has_all = false;
  directory->count = directory->news_length = directory->answers = 0;
}

int watch_directory(struct directory *directory, const char *path) {
  forget_directory(directory);
  directory->fd = move_high(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory->fd == -1) return errno;
  if (fcntl(directory->fd, F_SETSIG, SIGCHLD) == -1 || !ask_for_next(directory)) {
    directory->inotify = move_high(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    bool fails = directory->inotify == -1 || inotify_add_watch(directory->inotify, path, INOTIFY_CHANGES) == -1;
    int error = errno;
    if (fails) forget_directory(directory);
    if (fails) return error;
  }
  look_at_directory(directory, NULL, NULL);
  return 0;
}

size_t encode_news(struct directory *directory, char *out) {
  size_t length = directory->has_all ? 0 : directory->news_length;
  if (directory->answers) {
    char number[24];
    put_digits(number, directory->answers, 1);
    size_t answer = encode_answer(out, "watching", number, directory->error);
    directory->answers = 0;
    return answer;
  }
  if (length == 0 && !directory->has_all) return 0;
  directory->has_all = false;
  directory->news_length = 0;
  return encode_changed(out, directory->news, length);
}
