/* Processes as the kernel shows them below /proc, and signals to them. */
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "system.h"

#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open 434
#endif

enum { MAX_SCANNED = 65536, MAX_PATH = 48 };

/* Writes /proc/PID and the rest of the path. */
static const char *path_of(char path[MAX_PATH], pid_t pid, const char *rest) {
  strcpy(put_digits(stpcpy(path, "/proc/"), (uint64_t)pid, 1), rest);
  return path;
}

static bool read_of(pid_t pid, const char *file, char *text, size_t size) {
  char path[MAX_PATH];
  return read_text(path_of(path, pid, file), text, size);
}

static uint64_t number_at(const char **at) {
  uint64_t number = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) number = number * 10 + (uint64_t)(**at - '0');
  return number;
}

static const char *skip_fields(const char *at, int count) {
  for (; count > 0 && at; count--) at = *at ? strchr(at + 1, ' ') : NULL;
  return at ? at + 1 : "";
}

bool read_process(pid_t pid, struct process *process) {
  char stat[512];
  if (!read_of(pid, "/stat", stat, sizeof stat)) return false;
  /*
   * PID (COMMAND) STATE PARENT GROUP. Field 20 is the number of threads, field 22 the start. The command may hold
   * anything, at most 16 bytes: proc_pid_stat(5).
   */
  const char *name = strchr(stat, '('), *end = strrchr(stat, ')');
  if (!name || !end || strlen(end) < 4) return false;
  size_t length = (size_t)(end - name - 1);
  if (length >= sizeof process->name) length = sizeof process->name - 1;
  memcpy(process->name, name + 1, length);
  process->name[length] = 0;
  process->pid = pid;
  process->state = end[2];
  const char *at = end + 4;
  process->parent = (pid_t)number_at(&at);
  if (*at == ' ') at++;
  process->group = (pid_t)number_at(&at);
  at = skip_fields(at, 15);
  process->threads = *at ? (pid_t)number_at(&at) : 1;
  at = skip_fields(at, 2);
  process->start = (uint32_t)number_at(&at);
  return true;
}

bool has_ended(const struct process *process) {
  return (process->state == 'Z' || process->state == 'X') && process->threads <= 1;
}

struct scan {
  bool (*visit)(void *, const struct process *);
  void *with;
  size_t count;
};

static bool scan_entry(void *with, const char *name) {
  struct scan *scan = with;
  struct process process;
  const char *at = name;
  pid_t pid = (pid_t)number_at(&at);
  if (at == name || *at) return true;
  if (++scan->count > MAX_SCANNED) return false;
  return !read_process(pid, &process) || scan->visit(scan->with, &process);
}

bool visit_processes(bool (*visit)(void *, const struct process *), void *with) {
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
  pid_t parent;
};

/* Waitid(2) knows the children of init only, and finds a zombie more quickly than /proc. */
static bool lives(pid_t pid, pid_t parent) {
  siginfo_t info;
  struct process process;
  memset(&info, 0, sizeof info);
  if (parent == getpid())
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  return read_process(pid, &process) && !has_ended(&process);
}

static bool scan_child(void *with, const struct process *process) {
  struct search *search = with;
  return process->parent != search->parent || !lives(process->pid, search->parent) ||
         search->visit(search->with, process->pid);
}

/* Reads the list of one thread; false: it cannot be read, or the visitor has had enough. */
static bool read_children(struct search *search, const char *list) {
  char bytes[2048];
  int fd = open(list, O_RDONLY | O_CLOEXEC);
  if (fd == -1) return false;
  pid_t pid = 0;
  bool goes_on = true;
  for (ssize_t length; goes_on && (length = read(fd, bytes, sizeof bytes)) > 0;)
    for (ssize_t i = 0; i < length && goes_on; i++) {
      if (bytes[i] >= '0' && bytes[i] <= '9') {
        pid = pid * 10 + (bytes[i] - '0');
        continue;
      }
      goes_on = pid <= 1 || !lives(pid, search->parent) || search->visit(search->with, pid);
      pid = 0;
    }
  close(fd);
  return goes_on;
}

static bool read_threads_children(void *with, const char *thread) {
  struct search *search = with;
  char list[MAX_PATH + 32], *end = put_digits(stpcpy(list, "/proc/"), (uint64_t)search->parent, 1);
  if (*thread == '.' || strlen(thread) > 10) return true;
  strcpy(stpcpy(stpcpy(end, "/task/"), thread), "/children");
  return read_children(search, list);
}

void visit_children(pid_t parent, bool (*visit)(void *with, pid_t pid), void *with) {
  struct search search = {.visit = visit, .with = with, .parent = parent};
  char path[MAX_PATH], *end = put_digits(stpcpy(path, "/proc/"), (uint64_t)parent, 1);
  strcpy(put_digits(stpcpy(end, "/task/"), (uint64_t)parent, 1), "/children");
  if (access(path, R_OK) != 0) {
    /* a kernel without CONFIG_PROC_CHILDREN, or another that stands in for Linux */
    visit_processes(scan_child, &search);
    return;
  }
  int tasks = open(path_of(path, parent, "/task"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks == -1) return;
  visit_entries(tasks, read_threads_children, &search);
  close(tasks);
}

/* The mask after this word in /proc/PID/status; bit n-1 stands for signal n. */
static uint64_t mask_after(const char *status, const char *word) {
  const char *at = find_text(status, word);
  uint64_t mask = 0;
  if (!at) return 0;
  for (at += strlen(word); *at > ' '; at++) mask = mask << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
  return mask;
}

bool read_dispositions(pid_t pid, struct dispositions *dispositions) {
  char status[4096];
  if (!read_of(pid, "/status", status, sizeof status)) return false;
  dispositions->blocked = mask_after(status, "\nSigBlk:\t");
  dispositions->ignored = mask_after(status, "\nSigIgn:\t");
  dispositions->caught = mask_after(status, "\nSigCgt:\t");
  return true;
}

static void keep_base_name(char name[MAX_PROGRAM_BYTES], const char *path) {
  const char *slash = strrchr(path, '/');
  size_t length = strcspn(slash ? slash + 1 : path, " "); /* " (deleted)" */
  if (length >= MAX_PROGRAM_BYTES) length = MAX_PROGRAM_BYTES - 1;
  memmove(name, slash ? slash + 1 : path, length);
  name[length] = 0;
}

size_t read_words(pid_t pid, char *words, size_t size) {
  char path[MAX_PATH];
  int fd = open(path_of(path, pid, "/cmdline"), O_RDONLY | O_CLOEXEC);
  ssize_t length = fd == -1 ? 0 : read(fd, words, size - 1);
  if (fd != -1) close(fd);
  words[length > 0 ? length : 0] = 0;
  return length > 0 ? (size_t)length : 0;
}

void read_program(pid_t pid, char name[MAX_PROGRAM_BYTES]) {
  char path[MAX_PATH], text[256];
  struct process process;
  ssize_t length = readlink(path_of(path, pid, "/exe"), text, sizeof text - 1);
  name[0] = 0;
  if (length > 0) {
    text[length] = 0;
    keep_base_name(name, text);
  } else if (read_process(pid, &process)) { /* readlink(2) needs the right to trace it: another user */
    strcpy(name, process.name);
  }
  if (!is_among(name, "busybox toybox coreutils")) return;
  /* Programs of many names: the first word says which one this is, or that the second does. */
  size_t used = read_words(pid, text, sizeof text - 1);
  if (used == 0) return;
  text[used + 1] = 0; /* there may be no second word */
  const char *word = text + (text[0] == '-');
  char called[MAX_PROGRAM_BYTES];
  keep_base_name(called, word);
  if (strcmp(called, name) == 0) keep_base_name(called, word + strlen(word) + 1);
  if (called[0]) strcpy(name, called);
}

bool shares_mounts(pid_t pid) {
  char path[MAX_PATH];
  struct stat own, its;
  return stat("/proc/self/ns/mnt", &own) == 0 && stat(path_of(path, pid, "/ns/mnt"), &its) == 0 &&
         own.st_ino == its.st_ino;
}

bool has_pipe_as_input(pid_t pid, bool *has_writer) {
  char path[MAX_PATH];
  struct stat own, input;
  if (stat(path_of(path, pid, "/fd/0"), &input) == -1 || !S_ISFIFO(input.st_mode)) return false;
  /* This pipe comes from outside of the container, as with `docker run -i`. */
  if (fstat(STDIN_FILENO, &own) == 0 && own.st_dev == input.st_dev && own.st_ino == input.st_ino) return false;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct pollfd polled = {.fd = fd, .events = POLLIN};
  *has_writer = fd == -1 || poll(&polled, 1, 0) != 1 || !(polled.revents & POLLHUP);
  if (fd != -1) close(fd);
  return true;
}

/* Whether it is stopped, or a pending signal is about to stop it. */
static bool is_stopped(const struct process *process) {
  char status[4096];
  if (process->state == 'T') return true;
  if (!read_of(process->pid, "/status", status, sizeof status)) return false;
  uint64_t stops = 1U << (SIGSTOP - 1) | 1U << (SIGTSTP - 1) | 1U << (SIGTTIN - 1) | 1U << (SIGTTOU - 1);
  return mask_after(status, "\nShdPnd:\t") & stops;
}

struct members {
  pid_t group;
  size_t seen, living;
};

static bool continue_member(void *with, const struct process *process) {
  struct members *members = with;
  if (process->group != members->group) return true;
  members->seen++;
  if (is_stopped(process)) kill(process->pid, SIGCONT);
  return true;
}

static bool continues(int number) {
  return number == SIGTERM || number == SIGHUP || number == SIGINT || number == SIGQUIT;
}

int signal_process(pid_t pid, uint32_t start, int number) {
  struct process process;
  int error = 0, fd = start ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
  /* With the descriptor at hand the pid cannot be used again between this look and the signal. */
  if (start && (!read_process(pid, &process) || process.start != start)) error = ESRCH;
  else if (fd != -1) error = syscall(SYS_pidfd_send_signal, fd, number, NULL, 0) == 0 ? 0 : errno;
  else error = kill(pid, number) == 0 ? 0 : errno; /* before Linux 5.3, or a child of init, whose pid is not free */
  if (fd != -1) close(fd);
  if (error || !continues(number)) return error;
  sched_yield(); /* lets the handler run before the look on a shared CPU */
  if (read_process(pid, &process) ? is_stopped(&process) : start == 0) kill(pid, SIGCONT);
  return 0;
}

void signal_group(pid_t group, int number) {
  struct members members = {.group = group};
  if (group <= 1) return; /* every process, or init's own group: kill(2) */
  kill(-group, number);
  if (!continues(number)) return;
  sched_yield();
  /* an unseen process may be stopped */
  if (!visit_processes(continue_member, &members) || members.seen == 0) kill(-group, SIGCONT);
}

static bool see_member(void *with, const struct process *process) {
  struct members *members = with;
  if (process->group != members->group) return true;
  members->seen++;
  members->living += !has_ended(process);
  return true;
}

bool is_group_gone(pid_t group) {
  struct members members = {.group = group};
  if (kill(-group, 0) == -1) return errno == ESRCH;
  /* A parent that lives elsewhere may never reap a zombie, and kill(2) finds that. */
  return visit_processes(see_member, &members) && members.seen > 0 && members.living == 0;
}

pid_t parent_of(pid_t pid) {
  struct process process;
  return read_process(pid, &process) ? process.parent : -1;
}
