/*
 * What every file of sexton-init may use: the standard headers, the clock, the signal mask, descriptors, pages of
 * memory, /proc, and one line on stderr.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define NEVER INT64_MAX
enum { SECOND_NS = 1000000000 };

/* The kernel has no event for a group that becomes empty, nor for an adopted process, so init polls for both. */
enum { CHECK_MS = 50 };

/* CLOCK_MONOTONIC in milliseconds, and CLOCK_REALTIME in nanoseconds. */
int64_t now_ms(void);
int64_t wall_ns(void);
/* The wall clock, in nanoseconds since 1970, at a moment of CLOCK_MONOTONIC in milliseconds. */
int64_t wall_at(int64_t at);
/* Whether this moment of CLOCK_MONOTONIC is still to come. NEVER does not come. */
bool is_ahead(int64_t at);

/* The mask that init was started with. Its first instructions save it (entry.c) for application and supervisor. */
extern uint64_t inherited_mask;
void set_mask(uint64_t mask, uint64_t *old);

/* As fork(2). vfork(2) would wait for an exec that may hang. */
pid_t start_process(void);

/* Writes 32 random hex digits and a NUL, and returns the place of the NUL. */
char *make_random_id(char id[33]);

/* Moves a descriptor away from 0 to 2, where it would fill a gap that the application was given. */
int move_high(int fd);
/* Closes these descriptors now or at exec. It makes system calls only, so it may stand between fork and exec. */
void close_from(int first, bool at_exec);

/* As fchdir(2). musl's own goes through /proc for descriptors that kernels before Linux 3.5 refused. */
bool go_to(int directory);

/* Returns the pages that lie wholly within these bytes to the kernel. Their content is lost. */
void release_pages(char *bytes, size_t length);
/* Does so for a buffer with `used` bytes written, if those are many. */
void release_if_large(char *buffer, size_t used);

/* Reads as much of a file as `text` has room for, and ends it with NUL; false when nothing was read. */
bool read_text(const char *path, char *text, size_t size);
/* Calls `visit` for each name from the descriptor's position on, until it returns false; true after the last name. */
bool visit_entries(int directory, bool (*visit)(void *with, const char *name), void *with);
/* Writes a number of at least this width and a NUL, and returns the place of the NUL. */
char *put_digits(char *out, uint64_t number, int width);
enum { SIGNAL_NAME_BYTES = 16 };
/* Writes `SIGTERM` or `SIGRTMIN+3`: the names of `src/core/signals.ts`. */
void name_signal(char name[SIGNAL_NAME_BYTES], int number);
bool starts_with(const char *text, const char *prefix);
/* Whether `text` is one of `words`, which are separated by spaces. */
bool is_among(const char *text, const char *words);
/* As strstr(3), whose implementation for long texts takes more than a kilobyte. */
const char *find_text(const char *text, const char *part);
/* Writes one line of three parts to stderr. A stalled stderr drops it, because init never blocks. */
void say(const char *first, const char *second, const char *third);

/* closer.c */
/* The process that closes for init; 0: none runs. It is to be reaped. */
extern pid_t closer;
/* As recv(2), but bytes that come with descriptors stay unread. It does not wait. */
ssize_t read_safely(int socket, char *bytes, size_t size);
/* Closes a socket, at once or by `close_unread`; -1 has no effect. */
void let_go(int fd);
/* Whether no other child waits to be reaped. The closer is reaped. */
bool is_only_closer_dead(void);
/* Starts the closer for what `let_go` has left, unless one runs. */
void close_unread(void);
/* Has the closer take the next message with its descriptors. False: not now, and the message stays. */
bool take_message(int socket);

/* processes.c */
enum { MAX_PROGRAM_BYTES = 16 };

struct process {
  pid_t pid, parent, group, threads;
  uint32_t start; /* the low bits of when it started, in clock ticks: with the pid it names one process */
  char state;
  char name[MAX_PROGRAM_BYTES];
};

/* False: there is no such process, or no /proc. */
bool read_process(pid_t pid, struct process *process);
/* Whether it no longer runs. One whose first thread has ended looks like a zombie while others live. */
bool has_ended(const struct process *process);
/* -1: there is no such process, or no /proc. */
pid_t parent_of(pid_t pid);
/* Visits every process until `visit` returns false; false: some were not visited, also because there is no /proc. */
bool visit_processes(bool (*visit)(void *with, const struct process *process), void *with);
/* Visits each child of this process that is no zombie until `visit` returns false. It finds none without /proc. */
void visit_children(pid_t parent, bool (*visit)(void *with, pid_t pid), void *with);

/* Bit n-1 stands for signal n. A program may take the blocked ones by sigwait(3) or a signalfd. */
struct dispositions {
  uint64_t ignored, caught, blocked;
};

bool read_dispositions(pid_t pid, struct dispositions *dispositions);
/* Its command line, with a NUL behind each word; 0: it cannot be read. It may be cut. */
size_t read_words(pid_t pid, char *words, size_t size);
/* The file name of the program that it runs, not of a script; empty: unknown. */
void read_program(pid_t pid, char name[MAX_PROGRAM_BYTES]);
/* Whether it is in init's mount namespace; false, too, where that cannot be seen. */
bool shares_mounts(pid_t pid);
/* Whether its descriptor 0 is a pipe that is not init's own. It cannot be seen of a process of another user. */
bool has_pipe_as_input(pid_t pid, bool *has_writer);

/*
 * Signals one process and returns an errno, or 0. A signal that asks for an end also continues one that is stopped.
 * `start` 0: it is a child of init.
 */
int signal_process(pid_t pid, uint32_t start, int number);
/* The same for a process group. */
void signal_group(pid_t group, int number);
/* Whether no process of this group is left but zombies. Without /proc a zombie counts. */
bool is_group_gone(pid_t group);
