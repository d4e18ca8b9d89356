/* The OOM killer: see oom.h. The supervisor reads the same file, `src/runtime/oom.ts`. */
#define _GNU_SOURCE
#include "oom.h"

#include <string.h>

#include "start.h"
#include "system.h"

static int64_t count_in(const char *mount, const char *path, size_t length, const char *file) {
  static const char key[] = "\noom_kill ";
  char name[MAX_PATH_BYTES], text[1024];
  if (length > sizeof name / 2) return -1;
  strcpy(mempcpy(stpcpy(name, mount), path, length), file);
  const char *at = read_text(name, text, sizeof text) ? find_text(text, key) : NULL;
  if (!at) return -1;
  int64_t count = 0;
  for (at += strlen(key); *at >= '0' && *at <= '9'; at++) count = 10 * count + (*at - '0');
  return count;
}

/* A container mostly sees its own cgroup as the root of the mount, whatever path /proc/self/cgroup says. */
int64_t count_oom_kills(void) {
  char cgroups[2048];
  if (!read_text("/proc/self/cgroup", cgroups, sizeof cgroups)) return -1;
  const char *v1 = find_text(cgroups, ":memory:"), *v2 = find_text(cgroups, "0::");
  const char *mount = v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
  const char *file = v1 ? "/memory.oom_control" : "/memory.events";
  const char *path = v1 ? v1 + strlen(":memory:") : v2 ? v2 + strlen("0::") : "";
  int64_t count = count_in(mount, path, strcspn(path, "\n"), file);
  return count >= 0 ? count : count_in(mount, "", 0, file);
}
