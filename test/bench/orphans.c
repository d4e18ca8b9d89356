/*
 * orphans N: hands N ended processes to PID 1 at one moment, and tells how long it takes to reap them.
 *
 * A helper starts N processes that end at once, and never waits for them; when it ends itself, all N become PID 1's.
 * Whether one is reaped is asked with kill(2) of signal 0, which costs far less than reading /proc; at the end /proc is
 * counted once, and what it says is reported too: it must be 0.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "record.h"

/* A PID 1 that does not reap must not hang the bench. */
static const int64_t LIMIT_NS = INT64_C(20) * 1000000000;

struct shared {
  int64_t handed_over_at;
  pid_t pids[];
};

static _Noreturn void helper(struct shared *shared, long count) {
  for (long i = 0; i < count; i++) {
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    if (pid == -1) _exit(1);
    shared->pids[i] = pid;
  }
  /* The last of them must have ended, or we would measure that. WNOWAIT leaves it a zombie. */
  for (long i = 0; i < count; i++) {
    siginfo_t info;
    waitid(P_PID, (id_t)shared->pids[i], &info, WEXITED | WNOWAIT);
  }
  shared->handed_over_at = now_ns();
  _exit(0);
}

static int64_t count_zombies(void) {
  int64_t zombies = 0;
  DIR *proc = opendir("/proc");
  if (!proc) return -1;
  for (struct dirent *entry; (entry = readdir(proc));) {
    char path[300], stat[512];
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
    FILE *file = fopen(path, "r");
    if (!file) continue;
    if (fgets(stat, sizeof stat, file)) {
      char *end = strrchr(stat, ')');
      if (end && end[1] == ' ' && end[2] == 'Z') zombies++;
    }
    fclose(file);
  }
  closedir(proc);
  return zombies;
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 0;
  size_t size = sizeof(struct shared) + (size_t)count * sizeof(pid_t);
  struct shared *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (count <= 0 || shared == MAP_FAILED) return 2;
  report('f', now_ns(), 0);
  char order;
  if (read(ORDERS, &order, 1) < 0) return 2;

  pid_t pid = fork();
  if (pid == 0) helper(shared, count);
  int status = 0;
  if (pid == -1 || waitpid(pid, &status, 0) != pid || status != 0) return 3;
  for (long i = 0; i < count; i++)
    while (kill(shared->pids[i], 0) == 0 && now_ns() - shared->handed_over_at < LIMIT_NS) usleep(20);
  int64_t took = now_ns() - shared->handed_over_at;
  report('o', took, count_zombies());
  pause();
}
