/* The memory cgroup. The supervisor reads the same files: `src/runtime/oom.ts`. */
#include "oom.h"

#include "system.h"

/* The first number behind this key; -1: there is no such file or number. */
static int64_t number_in(const char *mount, const char *path, size_t length, const char *file, const char *key) {
  char name[4096], text[4096];
  if (length > sizeof name / 2) return -1;
  strcpy(mempcpy(stpcpy(name, mount), path, length), file);
  const char *at = read_text(name, text, sizeof text) ? find_text(text, key) : NULL;
  if (!at || at[strlen(key)] < '0' || at[strlen(key)] > '9') return -1;
  uint64_t number = 0;
  for (at += strlen(key); *at >= '0' && *at <= '9'; at++) number = 10 * number + (uint64_t)(*at - '0');
  return (int64_t)number;
}

/*
 * A number from the memory cgroup, by the file's names in version 1 and 2. A container mostly sees its own cgroup as
 * the root of the mount, whatever path /proc/self/cgroup has.
 */
static int64_t number_of(const char *file_v1, const char *file_v2, const char *key) {
  char cgroups[2048];
  if (!read_text("/proc/self/cgroup", cgroups, sizeof cgroups)) return -1;
  const char *v1 = find_text(cgroups, ":memory:"), *v2 = find_text(cgroups, "0::");
  const char *mount = v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup", *file = v1 ? file_v1 : file_v2;
  const char *path = v1 ? v1 + strlen(":memory:") : v2 ? v2 + strlen("0::") : "";
  int64_t number = number_in(mount, path, strcspn(path, "\n"), file, key);
  return number >= 0 ? number : number_in(mount, "", 0, file, key);
}

int64_t count_oom_kills(void) { return number_of("/memory.oom_control", "/memory.events", "\noom_kill "); }

bool has_free_memory(int64_t bytes) {
  int64_t limit = number_of("/memory.limit_in_bytes", "/memory.max", "");
  /* cgroup v1 has a limit close to 2^63 where there is none. Its sum with the files could overflow. */
  if (limit < 0 || limit > INT64_MAX / 4) return true;
  int64_t used = number_of("/memory.usage_in_bytes", "/memory.current", "");
  if (used < 0) return true;
  /* The kernel reclaims the pages of files before it kills: cgroup-v2, "memory.stat". */
  int64_t idle = number_of("/memory.stat", "/memory.stat", "\ninactive_file ");
  int64_t files = number_of("/memory.stat", "/memory.stat", "\nactive_file ");
  uint64_t reclaimed = (uint64_t)(idle > 0 ? idle : 0) + (uint64_t)(files > 0 ? files : 0);
  return (int64_t)((uint64_t)(limit - used) + reclaimed) >= bytes;
}
