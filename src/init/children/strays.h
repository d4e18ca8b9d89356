/*
 * Strays: processes that left their group and lost their parent, so that the kernel has made them init's children:
 * daemons of the application, what an ended shell left behind. The kernel has no event for such an adoption, so init
 * looks for them again and again.
 */
#ifndef SEXTON_STRAYS_H
#define SEXTON_STRAYS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct init;

enum { MAX_SWEPT = 256 };

struct strays {
  int sweep_signal; /* what strays get; 0: there is no sweep */
  int64_t sweep_at;
  size_t swept_count;
  pid_t *swept; /* the pids and negative groups that have had the signal of the sweep */
};

size_t count_strays(struct init *init);
void sweep_strays(struct init *init, int number);
/* Goes on with a sweep: to be called after anything was reaped, and at `sweep_at`. */
void continue_sweep(struct init *init);

#endif
