/*
 * What the measured programs report to the launcher: records through descriptor 3, stamped with CLOCK_MONOTONIC. They
 * receive their orders as single bytes on descriptor 4.
 */
#ifndef SEXTON_BENCH_RECORD_H
#define SEXTON_BENCH_RECORD_H

#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { REPORTS = 3, ORDERS = 4 };

/* kind: 'f' the first instruction, 's' a signal's handler, 'x' just before the exit. */
struct record {
  int64_t kind, at, more;
};

static inline int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Shorter than PIPE_BUF, so it is written whole: pipe(7). */
static inline void report(int64_t kind, int64_t at, int64_t more) {
  struct record record = {kind, at, more};
  if (write(REPORTS, &record, sizeof record) != sizeof record) _exit(99);
}

#endif
