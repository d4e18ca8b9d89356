/*
 * Strays: processes that left their group and lost their parent, so that the kernel has made them our children: daemons of the
 * application, what an ended shell left behind. The kernel has no event for such an adoption, so whoever looks for them looks again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

enum { SCANNED_MAX = 4096 };

/* Our child and no zombie. A pid that waitid does not know is not ours. */
static bool lives(pid_t pid) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

static pid_t parent_of(const char *name) {
  char path[32] = "/proc/";
  char stat[256];
  strcpy(stpcpy(path + 6, name), "/stat");
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd == -1) return 0;
  ssize_t length = read(fd, stat, sizeof stat - 1);
  close(fd);
  if (length <= 0) return 0;
  stat[length] = 0;
  /* PID (COMMAND) STATE PARENT; the command may hold anything, at most 16 bytes: proc_pid_stat(5). */
  const char *at = strrchr(stat, ')');
  if (!at || strlen(at) < 4) return 0;
  pid_t parent = 0;
  for (at += 4; *at >= '0' && *at <= '9'; at++) parent = parent * 10 + (*at - '0');
  return parent;
}

/* For a kernel without CONFIG_PROC_CHILDREN. Bounded, because this looks at every process there is. */
static size_t scan_processes(struct init *init, bool (*visit)(struct init *, pid_t)) {
  struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
  };
  _Alignas(uint64_t) char bytes[4096];
  size_t found = 0, scanned = 0;
  int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd == -1) return 0;
  for (long length; scanned < SCANNED_MAX && (length = syscall(SYS_getdents64, fd, bytes, sizeof bytes)) > 0;)
    for (long at = 0; at < length;) {
      const struct entry *entry = (const struct entry *)(void *)(bytes + at);
      at += entry->length;
      size_t digits = strspn(entry->name, "0123456789");
      if (digits == 0 || digits > 10 || entry->name[digits] != 0 || ++scanned > SCANNED_MAX) continue;
      if (parent_of(entry->name) != init->pid) continue;
      pid_t pid = 0;
      for (const char *digit = entry->name; *digit; digit++) pid = pid * 10 + (*digit - '0');
      found += lives(pid) && visit(init, pid);
    }
  close(fd);
  return found;
}

size_t each_living_child(struct init *init, bool (*visit)(struct init *, pid_t)) {
  char bytes[2048];
  size_t found = 0;
  int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd == -1) return scan_processes(init, visit);
  pid_t pid = 0;
  for (ssize_t length; (length = read(fd, bytes, sizeof bytes)) > 0;)
    for (ssize_t i = 0; i < length; i++) {
      if (bytes[i] >= '0' && bytes[i] <= '9') {
        pid = pid * 10 + (bytes[i] - '0');
        continue;
      }
      found += pid > 1 && lives(pid) && visit(init, pid);
      pid = 0;
    }
  close(fd);
  return found;
}

/* Whoever is in the group of a child or helper is reached, and waited for, with that group. */
static bool is_stray(struct init *init, pid_t pid) {
  pid_t group = getpgid(pid);
  pid_t supervisor = init->supervisor.pid;
  if (supervisor > 0 && (pid == supervisor || group == supervisor)) return false;
  if (pid == init->forgotten) return false;
  for (size_t i = 0; i < init->child_count; i++)
    if (init->children[i].pid == group || (init->children[i].pid == pid && !init->children[i].exited)) return false;
  return !is_helpers_group(init, group);
}

size_t count_strays(struct init *init) { return each_living_child(init, is_stray); }

/* Whether this target, a pid or a negative group, may be signalled now; remembered, so that each sweep does it once. */
static bool is_new(struct init *init, pid_t target) {
  if (init->sweep == SIGKILL) return true; /* again does no harm */
  for (size_t i = 0; i < init->swept_count; i++)
    if (init->swept[i] == target) return false;
  if (init->swept_count == SWEPT_MAX) return false; /* until some of these have ended */
  init->swept[init->swept_count++] = target;
  return true;
}

static bool sweep_stray(struct init *init, pid_t pid) {
  if (!is_stray(init, pid)) return false;
  pid_t group = getpgid(pid);
  pid_t target = group > 1 && group != getpgrp() ? -group : pid;
  if (is_new(init, target)) signal_target(target, init->sweep);
  return true;
}

void look_for_strays(struct init *init) {
  init->sweep_at = NEVER;
  if (init->sweep == 0) return;
  size_t kept = 0;
  for (size_t i = 0; i < init->swept_count; i++)
    if (kill(init->swept[i], 0) == 0 || errno != ESRCH) init->swept[kept++] = init->swept[i];
  init->swept_count = kept;
  if (each_living_child(init, sweep_stray) > 0) {
    init->sweep_at = now_ms() + GROUP_CHECK_MS;
    return;
  }
  init->sweep = 0;
  push(init, (struct event){.kind = EV_STRAYS_GONE});
}

void sweep(struct init *init, int number) {
  init->sweep = number;
  init->swept_count = 0;
  look_for_strays(init);
}
