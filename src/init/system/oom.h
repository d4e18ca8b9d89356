/* The memory cgroup of init, which is the container's: its OOM kills, and the room that its limit leaves. */
#ifndef SEXTON_OOM_H
#define SEXTON_OOM_H

#include <stdbool.h>
#include <stdint.h>

/* How many processes it has killed so far; -1: that cannot be told here. */
int64_t count_oom_kills(void);
/* Whether the limit of this container's memory leaves room for a supervisor; also where that cannot be read. */
bool has_memory_for_supervisor(void);

#endif
