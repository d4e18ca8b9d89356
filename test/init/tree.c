/*
 * A tree of processes that grows at random: tree SEED LOG. Some leave their group or session, some are left by a parent
 * that ends at once, some end by themselves, some pass TERM on. Each writes what becomes of it into LOG, in lines of
 * `PID PARENT WORD`: `starts`, `ends` by itself, and for each TERM `told` by PID 1, or `passed` by another process.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DEPTH = 4, MAX_CHILDREN = 3 };

static uint64_t state;
static int out;

static unsigned draw(unsigned limit) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 33) % limit;
}

static void note(const char *word) {
  char line[64];
  int length = snprintf(line, sizeof line, "%d %d %s\n", (int)getpid(), (int)getppid(), word);
  if (write(out, line, (size_t)length) != length) _exit(9);
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static sigset_t awaited;

/* The next TERM until then; false: there was none. */
static bool await_term(int64_t until) {
  for (;;) {
    siginfo_t info;
    int64_t left = until - now_ms();
    if (left < 0) return false;
    struct timespec rest = {.tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000};
    int number = sigtimedwait(&awaited, &info, &rest);
    if (number == SIGCHLD) while (waitpid(-1, NULL, WNOHANG) > 0) {}
    if (number != SIGTERM) continue;
    note(info.si_pid == 1 ? "told" : "passed");
    return true;
  }
}

/* Returns in each process that it starts, with the depth of that one. */
static int live(int depth) {
  pid_t children[MAX_CHILDREN];
  int count = 0, wanted = depth < MAX_DEPTH ? (int)draw(MAX_CHILDREN + 1) : 0;
  bool is_mortal = depth > 0 && draw(4) == 0, passes_on = draw(4) == 0, is_told = false;
  int64_t ends_at = is_mortal ? now_ms() + draw(60) : now_ms() + 60000;
  note("starts");
  while (wanted-- > 0 && !(is_told = await_term(now_ms() + draw(10)))) {
    uint64_t seed = (uint64_t)draw(1000000) << 20 | draw(1000000) | 1;
    unsigned kind = draw(6);
    pid_t pid = fork();
    if (pid == -1) _exit(9);
    if (pid > 0) {
      children[count++] = pid;
      continue;
    }
    state = seed;
    if (kind == 0) setsid();
    if (kind == 1) setpgid(0, 0);
    if (kind == 2 && fork() > 0) _exit(0);
    return depth + 1;
  }
  if (!is_told) is_told = await_term(ends_at);
  if (!is_told) note("ends");
  if (!is_told) _exit(0);
  for (int i = 0; passes_on && i < count; i++) kill(children[i], SIGTERM);
  /* A second TERM would show in the log. */
  int64_t last_at = now_ms() + draw(30);
  while (await_term(last_at)) {}
  for (int i = 0; passes_on && i < count; i++) waitpid(children[i], NULL, 0);
  _exit(0);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  state = strtoull(argv[1], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15) | 1;
  out = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644);
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGTERM);
  sigaddset(&awaited, SIGCHLD);
  sigprocmask(SIG_BLOCK, &awaited, NULL);
  for (int depth = 0;;) depth = live(depth);
}
