/* What the kernel's OOM killer has done in init's memory cgroup, which is the container's. */
#ifndef SEXTON_OOM_H
#define SEXTON_OOM_H

#include <stdint.h>

/* How many processes it has killed so far; -1: that cannot be told here. */
int64_t count_oom_kills(void);

#endif
