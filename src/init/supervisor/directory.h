/*
 * The directory that the members share: which of its files have changed, for the supervisor. The kernel tells that
 * something has, by SIGCHLD; what it is a look at the directory shows.
 *
 * Of dnotify (fcntl(2), F_NOTIFY), which tells by signal, each process may have as much as it likes. Of inotify
 * instances a user has 128 on the whole node, so they are left to others where the kernel has dnotify. SIGCHLD is the
 * one signal that init passes on to nobody: no other is lost behind it, none is told apart by what it carries, and
 * however many changes there are one is pending. It makes init reap, and each end of a child makes it look: both find
 * nothing then, which costs some microseconds.
 */
#ifndef SEXTON_DIRECTORY_H
#define SEXTON_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_KNOWN = 512, MAX_NEWS_BYTES = 4096 };

/* A file as the last look has found it. */
struct known {
  uint64_t name, stamp; /* hashes: of the name; of what changes when the file does; never 0 */
  uint32_t look;
  bool is_quiet;
};

struct directory {
  int fd;               /* -1: none is watched */
  int inotify;          /* where there is no dnotify; else -1. To be polled unless `has_changed` */
  bool has_changed;     /* perhaps, since the last look */
  int64_t paid_until;   /* CLOCK_MONOTONIC in milliseconds: the time that the looks until now may take */
  uint32_t look;
  size_t count;         /* of what is known */
  struct known *known;
  char *names;          /* the own name, the quiet ones, and an empty one */
  uint64_t answers;     /* the number of a `watch` that is not answered; 0: all are */
  int error;            /* the errno with which it has failed, or 0 */
  bool has_all;         /* more has changed than `news` can hold */
  size_t news_length;
  char *news;           /* names that the supervisor has not been told, each with its NUL */
};

/* Gets the name of a file that has changed, has come or, where it is empty, of more than can be named. */
typedef void tell_change(void *with, const char *name, bool is_quiet);

/* Watches this directory in place of the one before, as it is now. Returns 0 or an errno. */
int watch_directory(struct directory *directory, const char *path);
void forget_directory(struct directory *directory);
/* When it is to be looked at, at the earliest: a neighbour who changes files without end must not use up the CPU. */
int64_t next_look(const struct directory *directory);
void look_at_directory(struct directory *directory, tell_change *tell, void *with);
/* The next frame of what the supervisor has not been told; 0: it has been told all. */
size_t encode_news(struct directory *directory, char *out);

#endif
