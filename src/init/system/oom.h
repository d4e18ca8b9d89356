/* The memory cgroup of the container: its OOM kills, and the room that its limit leaves. */
#pragma once

#include "system.h"

/* How many processes the OOM killer has killed so far; -1: the count cannot be read here. */
int64_t count_oom_kills(void);
/* Whether the memory limit leaves room for so much more. True where the limit cannot be read. */
bool has_free_memory(int64_t bytes);
