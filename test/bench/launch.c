/*
 * Starts one program as PID 1 of a PID namespace of its own and measures it. No figure contains Node or a shell.
 *   launch PROGRAM [ARGUMENT...]
 * The start is stamped by the process that is to become PID 1, right before its execve. Answers on stdout, times in
 * nanoseconds:
 *   first NS PID            the application's first instruction after that execve; PID is PID 1, seen from here.
 * Then it answers each line on stdin:
 *   signal NUMBER COUNT     signal NS...    from kill(2) to the handler, one signal after the other
 *   exit                    exit NS STATUS  from the application's end to that of PID 1
 *   killed                  the same, of an application that is ended by KILL
 *   whole                   whole NS STATUS from the execve to the end of PID 1
 *   kill, or the end of stdin: ends the namespace with all that is in it
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "record.h"

static const int LIMIT_MS = 30000;

static int64_t *started_at;
static pid_t pid1;
static int reports, orders;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "launch: cannot %s: %s\n", what, strerror(errno));
  if (pid1 > 1) kill(pid1, SIGKILL);
  exit(1);
}

static void write_map(const char *path, unsigned id) {
  char map[64];
  int length = snprintf(map, sizeof map, "0 %u 1", id);
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd == -1 || write(fd, map, (size_t)length) != length) fail(path);
  close(fd);
}

static void map_root(uid_t uid, gid_t gid) {
  int fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
  if (fd == -1 || write(fd, "deny", 4) != 4) fail("deny setgroups");
  close(fd);
  write_map("/proc/self/uid_map", uid);
  write_map("/proc/self/gid_map", gid);
}

static _Noreturn void become(char **argv, uid_t uid, gid_t gid, int report_end, int order_end) {
  /* With us goes the namespace, whatever ends the launcher. */
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (uid != 0) map_root(uid, gid);
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == -1) fail("make the mounts private");
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == -1) fail("mount /proc");
  int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(report_end, REPORTS);
  dup2(order_end, ORDERS);
  for (int fd = ORDERS + 1; fd < 64; fd++) close(fd);
  *started_at = now_ns();
  execvp(argv[0], argv);
  fail("execute the program");
}

static void start(char **argv) {
  int report_pipe[2], order_pipe[2];
  /* High, so that 3 and 4 are free in the child. */
  if (pipe2(report_pipe, O_CLOEXEC) == -1 || pipe2(order_pipe, O_CLOEXEC) == -1) fail("make a pipe");
  int report_end = fcntl(report_pipe[1], F_DUPFD_CLOEXEC, 20);
  int order_end = fcntl(order_pipe[0], F_DUPFD_CLOEXEC, 20);
  reports = fcntl(report_pipe[0], F_DUPFD_CLOEXEC, 20);
  orders = fcntl(order_pipe[1], F_DUPFD_CLOEXEC, 20);
  for (int i = 0; i < 2; i++) {
    close(report_pipe[i]);
    close(order_pipe[i]);
  }
  started_at = mmap(NULL, sizeof *started_at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (started_at == MAP_FAILED) fail("share memory");
  uid_t uid = geteuid();
  gid_t gid = getegid();
  unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | (uid == 0 ? 0UL : CLONE_NEWUSER) | SIGCHLD;
  pid1 = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
  if (pid1 == 0) become(argv, uid, gid, report_end, order_end);
  if (pid1 == -1) fail("make a PID namespace (as another user than root, user namespaces must be allowed)");
  close(report_end);
  close(order_end);
}

static struct record next_record(int64_t kind) {
  struct record record = {0};
  struct pollfd ready = {.fd = reports, .events = POLLIN};
  if (poll(&ready, 1, LIMIT_MS) != 1) fail("go on: the application did not report in 30 s");
  if (read(reports, &record, sizeof record) != sizeof record) fail("go on: the application has ended unexpectedly");
  if (record.kind != kind) fail("go on: the application reported something else");
  return record;
}

static void measure_signals(int number, int count) {
  printf("signal");
  for (int i = 0; i < count; i++) {
    int64_t sent_at = now_ns();
    if (kill(pid1, number) == -1) fail("signal PID 1");
    printf(" %lld", (long long)(next_record('s').at - sent_at));
  }
  printf("\n");
}

static int wait_for_end(int64_t *at) {
  int status = 0;
  /* Unless PID 1 ends in time we are ended, and it with us. */
  alarm((unsigned)LIMIT_MS / 1000);
  while (waitpid(pid1, &status, 0) == -1 && errno == EINTR) {
  }
  *at = now_ns();
  alarm(0);
  pid1 = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void give_order(char order) {
  if (write(orders, &order, 1) != 1) fail("tell the application what to do");
}

/* False when there is nothing left to measure. */
static int obey(const char *line) {
  int number, count;
  int64_t ended_at;
  if (sscanf(line, "signal %d %d", &number, &count) == 2) {
    measure_signals(number, count);
    return 1;
  }
  if (strcmp(line, "exit\n") == 0 || strcmp(line, "killed\n") == 0) {
    give_order(line[0] == 'k' ? 'k' : 'x');
    int status = wait_for_end(&ended_at);
    printf("exit %lld %d\n", (long long)(ended_at - next_record('x').at), status);
  } else if (strcmp(line, "whole\n") == 0) {
    int status = wait_for_end(&ended_at);
    printf("whole %lld %d\n", (long long)(ended_at - *started_at), status);
  }
  return 0;
}

int main(int argc, char **argv) {
  char line[128];
  if (argc < 2) return 2;
  /* KubeletContainer from a busy stdout: every answer is one write. */
  static char out[1 << 16];
  setvbuf(stdout, out, _IOFBF, sizeof out);
  signal(SIGPIPE, SIG_IGN);
  start(argv + 1);
  struct record first = next_record('f');
  printf("first %lld %d\n", (long long)(first.at - *started_at), (int)pid1);
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) && obey(line)) fflush(stdout);
  fflush(stdout);
  if (pid1 > 1) {
    int64_t ended_at;
    kill(pid1, SIGKILL);
    wait_for_end(&ended_at);
  }
  return 0;
}
