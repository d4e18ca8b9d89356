/*
 * What every file of sexton-init may use, and what depends on none of them: the clock, the signal mask, descriptors,
 * pages of memory, and one line on stderr.
 */
#ifndef SEXTON_SYSTEM_H
#define SEXTON_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define NEVER INT64_MAX
enum { SECOND_NS = 1000000000 };

/*
 * The kernel has no event for a group that becomes empty, nor for an adopted process, so init looks again after so
 * long.
 */
enum { GROUP_CHECK_MS = 50 };

/* CLOCK_MONOTONIC in milliseconds, and CLOCK_REALTIME in nanoseconds. */
int64_t now_ms(void);
int64_t wall_ns(void);

/*
 * The mask that init was started with, saved by its first instructions (entry.c): application and supervisor get it
 * back.
 */
extern uint64_t inherited_mask;
void set_mask(uint64_t mask, uint64_t *old);

/* As fork(2). vfork(2) is not used, because it waits for an exec that may hang. */
pid_t start_process(void);

/* Moves a descriptor away from 0, 1 and 2: one of init's must not fill a gap there that the application was given. */
int move_high(int fd);
/* Both make system calls only, so they may be called between fork and exec. */
void close_from(int first);
void close_at_exec_from(int first);

/* As fchdir(2). musl's own goes by /proc where the kernel refuses the descriptor, which it has not since Linux 3.5. */
bool go_to(int directory);

/* Gives back to the kernel the pages that lie within these bytes. Their content is lost, and that of no others. */
void release_pages(char *bytes, size_t length);
/* The same for a buffer of which so much was used, if that is much. */
void release_if_large(char *buffer, size_t used);

/* Reads as much of a file as `text` has room for, and ends it with NUL; false when there is nothing. */
bool read_text(const char *path, char *text, size_t size);
/*
 * Calls `visit` with the name of each file in a directory, from where its descriptor stands on, until it returns false.
 * False: these were not all.
 */
bool visit_entries(int directory, bool (*visit)(void *with, const char *name), void *with);
/* Writes a number of at least this width and a NUL, and returns the place of the NUL. */
char *put_digits(char *out, uint64_t number, int width);
bool starts_with(const char *text, const char *prefix);
/* The first place of `part`, or NULL. As strstr(3), which is made for long texts and takes more than a kilobyte. */
const char *find_text(const char *text, const char *part);
/* Writes one line of up to three parts to stderr. It is dropped when stderr is stalled, because init never blocks. */
void say(const char *first, const char *second, const char *third);

#endif
