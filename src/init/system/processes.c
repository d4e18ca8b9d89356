/* Processes as the kernel shows them: signals to them, and which of them are init's children. */
#include <sched.h>
#include <sys/wait.h>

#include "system.h"

enum { MAX_SCANNED = 4096 };

/* Whether this is a child of init and no zombie. A pid that waitid(2) does not know is not init's. */
static bool lives(pid_t pid) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

/* Reads as much of a file below /proc/PID as `text` has room for; false when there is none. */
static bool read_of(const char *pid, const char *file, char *text, size_t size) {
  char path[32] = "/proc/";
  strcpy(stpcpy(path + 6, pid), file);
  return read_text(path, text, size);
}

static pid_t number_at(const char **at) {
  uint32_t number = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) number = number * 10 + (uint32_t)(**at - '0');
  return (pid_t)number;
}

struct process {
  const char *name; /* its pid in digits */
  pid_t parent, group, threads;
  char state;
};

static bool read_process(const char *name, struct process *process) {
  char stat[256];
  if (!read_of(name, "/stat", stat, sizeof stat)) return false;
  /*
   * PID (COMMAND) STATE PARENT GROUP, and as field 20 the number of threads; the command may hold anything, at most 16
   * bytes: proc_pid_stat(5).
   */
  const char *at = strrchr(stat, ')');
  if (!at || strlen(at) < 4) return false;
  process->name = name;
  process->state = at[2];
  at += 4;
  process->parent = number_at(&at);
  if (*at == ' ') at++;
  process->group = number_at(&at);
  for (int field = 6; at && field < 20; field++) at = *at ? strchr(at + 1, ' ') : NULL;
  if (at) at++;
  process->threads = at ? number_at(&at) : 1;
  return true;
}

struct scan {
  void (*visit)(void *, const struct process *);
  void *with;
  size_t count;
};

static bool scan_entry(void *with, const char *name) {
  struct scan *scan = with;
  struct process process;
  size_t digits = strspn(name, "0123456789");
  if (digits == 0 || digits > 10 || name[digits] != 0) return true;
  if (++scan->count > MAX_SCANNED) return false;
  if (read_process(name, &process)) scan->visit(scan->with, &process);
  return true;
}

/* Returns false when some were not visited, because there are too many or there is no /proc. */
static bool visit_processes(void (*visit)(void *, const struct process *), void *with) {
  struct scan scan = {.visit = visit, .with = with};
  int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd == -1) return false;
  bool are_all = visit_entries(fd, scan_entry, &scan);
  close(fd);
  return are_all && scan.count > 0;
}

struct search {
  bool (*visit)(void *, pid_t);
  void *with;
  size_t found;
};

static void visit_child(void *with, const struct process *process) {
  struct search *search = with;
  const char *digits = process->name;
  if (process->parent != getpid()) return;
  pid_t pid = number_at(&digits);
  search->found += lives(pid) && search->visit(search->with, pid);
}

/* For a kernel without CONFIG_PROC_CHILDREN. The scan is bounded, because it looks at every process there is. */
static size_t scan_processes(bool (*visit)(void *, pid_t), void *with) {
  struct search search = {.visit = visit, .with = with};
  visit_processes(visit_child, &search);
  return search.found;
}

/* Whether it is stopped, or a pending signal is about to stop it. */
static bool is_stopped(const struct process *process) {
  char status[2048];
  if (process->state == 'T') return true;
  if (!read_of(process->name, "/status", status, sizeof status)) return false;
  const char *pending = find_text(status, "\nShdPnd:\t");
  uint32_t mask = 0; /* signals 1 to 32 */
  for (const char *at = pending ? pending + 9 : ""; *at > ' '; at++)
    mask = mask << 4 | (uint32_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
  return mask & (1U << (SIGSTOP - 1) | 1U << (SIGTSTP - 1) | 1U << (SIGTTIN - 1) | 1U << (SIGTTOU - 1));
}

struct members {
  pid_t group;
  size_t seen, living;
};

static void continue_member(void *with, const struct process *process) {
  struct members *members = with;
  const char *digits = process->name;
  if (process->group != members->group) return;
  members->seen++;
  if (is_stopped(process)) kill(number_at(&digits), SIGCONT);
}

/* Sends CONT to each stopped process of this target: a pid, or the group of a negative one. */
static void continue_stopped(pid_t target) {
  struct members members = {.group = -target};
  struct process process;
  char name[12];
  put_digits(name, target > 0 ? (uint64_t)target : 0, 1);
  bool is_seen =
      target > 0 ? read_process(name, &process) : visit_processes(continue_member, &members) && members.seen > 0;
  if (!is_seen || (target > 0 && is_stopped(&process))) kill(target, SIGCONT); /* an unseen process may be stopped */
}

void signal_target(pid_t target, int number) {
  if (target >= -1 && target <= 1) return; /* every process, init's own group, or PID 1: kill(2) */
  kill(target, number);
  if (number != SIGTERM && number != SIGHUP && number != SIGINT && number != SIGQUIT) return;
  sched_yield(); /* lets the handler run before the search on a shared CPU */
  continue_stopped(target);
}

static void see_member(void *with, const struct process *process) {
  struct members *members = with;
  if (process->group != members->group) return;
  members->seen++;
  /* One whose first thread has ended looks like a zombie while others live. */
  members->living += (process->state != 'Z' && process->state != 'X') || process->threads > 1;
}

bool is_group_gone(pid_t group) {
  struct members members = {.group = group};
  if (kill(-group, 0) == -1) return errno == ESRCH;
  /* A parent that lives elsewhere may never reap a zombie, and kill(2) finds that. */
  return visit_processes(see_member, &members) && members.seen > 0 && members.living == 0;
}

pid_t parent_of(pid_t pid) {
  struct process process;
  char name[12];
  put_digits(name, (uint64_t)pid, 1);
  return read_process(name, &process) ? process.parent : -1;
}

size_t visit_living_children(bool (*visit)(void *with, pid_t pid), void *with) {
  char bytes[2048];
  size_t found = 0;
  int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (fd == -1) return scan_processes(visit, with);
  pid_t pid = 0;
  for (ssize_t length; (length = read(fd, bytes, sizeof bytes)) > 0;)
    for (ssize_t i = 0; i < length; i++) {
      if (bytes[i] >= '0' && bytes[i] <= '9') {
        pid = pid * 10 + (bytes[i] - '0');
        continue;
      }
      found += pid > 1 && lives(pid) && visit(with, pid);
      pid = 0;
    }
  close(fd);
  return found;
}
