/*
 * Helpers: the commands of probes and hooks, started beside the application and never taken for it. What a helper writes comes
 * through one pipe that is read while it runs, so that it never stalls; the first bytes stay, in a buffer whose page is
 * untouched until it is used, until the supervisor has acknowledged the helper's end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
enum { CLOSE_ON_EXEC = 4 }; /* CLOSE_RANGE_CLOEXEC */

/* The helper's side of its start, after vfork. The errno, or 0. */
static int take_helpers_place(int output) {
  int input = open("/dev/null", O_RDONLY);
  int empty[2];
  if (input == -1 && pipe2(empty, 0) == 0) {
    input = empty[0];
    close(empty[1]);
  }
  if (setsid() == -1 || input == -1) return errno;
  if (input != STDIN_FILENO && dup2(input, STDIN_FILENO) == -1) return errno;
  if (dup2(output, STDOUT_FILENO) == -1 || dup2(output, STDERR_FILENO) == -1) return errno;
  /* At exec and not now: the pipe that reports an error is among them. */
  if (syscall(SYS_close_range, 3U, ~0U, (unsigned)CLOSE_ON_EXEC) == -1) /* before Linux 5.11 */
    for (int other = 3; other < 4096; other++) fcntl(other, F_SETFD, FD_CLOEXEC);
  return 0;
}

static struct helper *find_helper(struct init *init, uint64_t id) {
  for (size_t i = 0; i < HELPERS_MAX; i++)
    if (init->helpers[i].id == id) return &init->helpers[i];
  return NULL;
}

size_t free_helpers(const struct init *init) {
  size_t count = 0;
  for (size_t i = 0; i < HELPERS_MAX; i++) count += init->helpers[i].id == 0;
  return count;
}

static char *bytes_of(struct init *init, const struct helper *helper) { return init->outputs[helper - init->helpers]; }

const char *output_of(struct init *init, const struct event *event, size_t *length) {
  const struct helper *helper = event->kind >= EV_HELPER_EXITED ? find_helper(init, event->id) : NULL;
  *length = helper ? helper->used : 0;
  return helper ? bytes_of(init, helper) : "";
}

void release_helper(struct init *init, uint64_t id) {
  struct helper *helper = find_helper(init, id);
  if (!helper) return;
  if (helper->used > 0) give_back(bytes_of(init, helper), OUTPUT_MAX);
  *helper = (struct helper){.id = 0};
}

/* Starts it and returns 0, or the errno. Both descriptors away from 0 to 2, where the helper puts its own. */
static int start_helper(const struct init *init, struct helper *helper, char *const argv[]) {
  int pair[2];
  if (!argv) return ENOMEM;
  if (pipe2(pair, O_CLOEXEC) == -1) return errno;
  pair[0] = move_high(pair[0]);
  pair[1] = move_high(pair[1]);
  fcntl(pair[0], F_SETFL, O_NONBLOCK); /* of our end only: to the helper a pipe is a pipe */
  int error = start_program(init, argv, take_helpers_place, pair[1], &helper->pid);
  close(pair[1]);
  helper->output = pair[0];
  if (error == 0) return 0;
  close(pair[0]);
  helper->pid = 0;
  helper->output = -1;
  return error;
}

void exec_helper(struct init *init, uint64_t id, size_t limit, char *const argv[]) {
  struct helper *helper = find_helper(init, 0);
  int error = EAGAIN;
  init->last_helper = id;
  if (helper) {
    *helper = (struct helper){.id = id, .limit = limit, .output = -1, .stage = HELPER_RUNS};
    error = start_helper(init, helper, argv);
    /* It keeps its place until then, so that no more events wait than there are places. */
    if (error) helper->stage = HELPER_IS_TOLD;
  }
  if (error) push(init, (struct event){.kind = EV_HELPER_FAILED, .id = id, .value = error});
}

void end_helper(struct init *init, uint64_t id) {
  struct helper *helper = find_helper(init, id);
  if (helper && helper->stage == HELPER_RUNS) kill(-helper->pid, SIGKILL);
}

void end_helpers(struct init *init) {
  for (size_t i = 0; i < HELPERS_MAX; i++)
    if (init->helpers[i].id) end_helper(init, init->helpers[i].id);
}

static void stop_reading(struct helper *helper) {
  if (helper->output != -1) close(helper->output);
  helper->output = -1;
}

/* One read, so that a helper that never stops talking cannot keep us from our signals. False when there is nothing more now. */
static bool read_output(struct init *init, struct helper *helper) {
  char dropped[OUTPUT_MAX];
  size_t room = helper->limit - helper->used;
  char *to = room > 0 ? bytes_of(init, helper) + helper->used : dropped;
  ssize_t n = read(helper->output, to, room > 0 ? room : sizeof dropped);
  if (n == 0 || (n == -1 && errno != EAGAIN && errno != EINTR)) stop_reading(helper);
  if (n <= 0) return false;
  for (ssize_t i = 0; i < n; i++)
    if (to[i] == 0) to[i] = '?'; /* NUL ends a field */
  if (room > 0) helper->used += (size_t)n;
  return true;
}

void read_helpers(struct init *init) {
  for (size_t i = 0; i < HELPERS_MAX; i++) {
    struct helper *helper = &init->helpers[i];
    if (helper->polled && helper->output != -1 && init->polled[helper->polled].revents) read_output(init, helper);
  }
}

size_t poll_helpers(struct init *init, size_t at) {
  for (size_t i = 0; i < HELPERS_MAX; i++) {
    struct helper *helper = &init->helpers[i];
    bool open = helper->id && helper->output != -1;
    helper->polled = open ? at : 0;
    if (open) init->polled[at++] = (struct pollfd){.fd = helper->output, .events = POLLIN};
  }
  return at;
}

/* What is in the pipe now belongs to its output; a process that escaped may hold the pipe for ever. */
static void tell_end(struct init *init, struct helper *helper) {
  while (helper->output != -1 && helper->used < helper->limit && read_output(init, helper)) continue;
  stop_reading(helper);
  helper->stage = HELPER_IS_TOLD;
  bool by_signal = WIFSIGNALED(helper->status);
  push(init, (struct event){.kind = by_signal ? EV_HELPER_KILLED : EV_HELPER_EXITED,
                            .id = helper->id,
                            .value = by_signal ? WTERMSIG(helper->status) : WEXITSTATUS(helper->status)});
}

void check_helpers(struct init *init) {
  init->check_helpers_at = NEVER;
  for (size_t i = 0; i < HELPERS_MAX; i++) {
    struct helper *helper = &init->helpers[i];
    if (helper->stage != HELPER_DIES) continue;
    /* Who changed user is out of our reach, and who is stuck in the kernel holds up nobody. */
    if (kill(-helper->pid, 0) == -1 || now_ms() >= helper->tell_at) tell_end(init, helper);
    else init->check_helpers_at = now_ms() + GROUP_CHECK_MS;
  }
}

bool helper_changed(struct init *init, pid_t pid, int status) {
  for (size_t i = 0; i < HELPERS_MAX; i++) {
    struct helper *helper = &init->helpers[i];
    if (helper->stage != HELPER_RUNS || helper->pid != pid) continue;
    if (WIFSTOPPED(status)) return true; /* whoever waits for it has a time limit */
    kill(-pid, SIGKILL);
    helper->stage = HELPER_DIES;
    helper->status = status;
    helper->tell_at = now_ms() + HELPER_DIES_MS;
    return true;
  }
  return false;
}

bool is_helpers_group(const struct init *init, pid_t group) {
  for (size_t i = 0; i < HELPERS_MAX; i++) {
    enum helper_stage stage = init->helpers[i].stage;
    if ((stage == HELPER_RUNS || stage == HELPER_DIES) && init->helpers[i].pid == group) return true;
  }
  return false;
}
