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

/* As much of a file below /proc/PID as `text` has room for; false when there is none. */
static bool read_of(const char *pid, const char *file, char *text, size_t size) {
  char path[32] = "/proc/";
  strcpy(stpcpy(path + 6, pid), file);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd == -1) return false;
  ssize_t length = read(fd, text, size - 1);
  close(fd);
  text[length > 0 ? length : 0] = 0;
  return length > 0;
}

static pid_t number_at(const char **at) {
  pid_t number = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) number = number * 10 + (**at - '0');
  return number;
}

struct process {
  const char *name; /* its pid in digits */
  pid_t parent, group;
  char state;
};

static bool read_process(const char *name, struct process *process) {
  char stat[256];
  if (!read_of(name, "/stat", stat, sizeof stat)) return false;
  /* PID (COMMAND) STATE PARENT GROUP; the command may hold anything, at most 16 bytes: proc_pid_stat(5). */
  const char *at = strrchr(stat, ')');
  if (!at || strlen(at) < 4) return false;
  process->name = name;
  process->state = at[2];
  at += 4;
  process->parent = number_at(&at);
  if (*at == ' ') at++;
  process->group = number_at(&at);
  return true;
}

/* False when these were not all: there is no /proc, or there are too many. */
static bool each_process(void (*visit)(void *, const struct process *), void *with) {
  struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
  };
  _Alignas(uint64_t) char bytes[4096];
  size_t scanned = 0;
  int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd == -1) return false;
  for (long length; scanned <= SCANNED_MAX && (length = syscall(SYS_getdents64, fd, bytes, sizeof bytes)) > 0;)
    for (long at = 0; at < length;) {
      const struct entry *entry = (const struct entry *)(void *)(bytes + at);
      struct process process;
      at += entry->length;
      size_t digits = strspn(entry->name, "0123456789");
      if (digits == 0 || digits > 10 || entry->name[digits] != 0 || ++scanned > SCANNED_MAX) continue;
      if (read_process(entry->name, &process)) visit(with, &process);
    }
  close(fd);
  return scanned > 0 && scanned <= SCANNED_MAX;
}

struct search {
  struct init *init;
  bool (*visit)(struct init *, pid_t);
  size_t found;
};

static void visit_child(void *with, const struct process *process) {
  struct search *search = with;
  const char *digits = process->name;
  if (process->parent != search->init->pid) return;
  pid_t pid = number_at(&digits);
  search->found += lives(pid) && search->visit(search->init, pid);
}

/* For a kernel without CONFIG_PROC_CHILDREN. Bounded, because this looks at every process there is. */
static size_t scan_processes(struct init *init, bool (*visit)(struct init *, pid_t)) {
  struct search search = {.init = init, .visit = visit};
  each_process(visit_child, &search);
  return search.found;
}

/* Or about to be, by a signal that is pending. */
static bool is_stopped(const struct process *process) {
  char status[2048];
  if (process->state == 'T') return true;
  if (!read_of(process->name, "/status", status, sizeof status)) return false;
  const char *pending = strstr(status, "\nShdPnd:\t");
  uint32_t mask = 0; /* of signals 1 to 32 */
  for (const char *at = pending ? pending + 9 : ""; *at > ' '; at++) mask = mask << 4 | (uint32_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
  return mask & (1U << (SIGSTOP - 1) | 1U << (SIGTSTP - 1) | 1U << (SIGTTIN - 1) | 1U << (SIGTTOU - 1));
}

struct members {
  pid_t group;
  size_t seen;
};

static void continue_member(void *with, const struct process *process) {
  struct members *members = with;
  const char *digits = process->name;
  if (process->group != members->group) return;
  members->seen++;
  if (is_stopped(process)) kill(number_at(&digits), SIGCONT);
}

void continue_stopped(pid_t target) {
  struct members members = {.group = -target};
  struct process process;
  char name[12], *at = name + sizeof name;
  *--at = 0;
  for (pid_t pid = target; pid > 0; pid /= 10) *--at = (char)('0' + pid % 10);
  bool is_seen = target > 0 ? read_process(at, &process) : each_process(continue_member, &members) && members.seen > 0;
  if (!is_seen || (target > 0 && is_stopped(&process))) kill(target, SIGCONT); /* what cannot be seen may be stopped */
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
